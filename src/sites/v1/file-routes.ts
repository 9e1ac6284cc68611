import { RegistryError } from '../../model/errors.ts';
import { isPagePath } from '../model/page-path.ts';
import {
  deleteDraft,
  findDraft,
  listDrafts,
  putDraft,
  putDraftPage,
  readDraftPage,
  type FoundDraft,
  type PageParts,
} from '../registry/drafts.ts';
import { readPlace } from '../registry/bundles.ts';
import { orAbsent } from '../../server/error-answers.ts';
import {
  answerRecord,
  bodyOf,
  type Answer,
  type SiteCall,
  etagOf,
  guardOf,
  matchesQuery,
  operationsAbout,
  sendSorted,
} from '../../server/v1/call.ts';
import { fileRecord } from './site-routes.ts';

async function listOf(call: SiteCall, isShown: (path: string) => boolean): Promise<Answer> {
  const all = await listDrafts(call.registry, call.coordinate);
  return sendSorted(call, all, {
    isShown: ({ path }) => isShown(path) && matchesQuery(call, path),
    describe: fileRecord,
    keyOf: ({ path }) => path,
  });
}

export const fileOperations = operationsAbout('site', {
  listSitePages: (call) => listOf(call, isPagePath),

  listSiteFiles: (call) => listOf(call, () => true),

  getSitePage: async (call) => answerPage(call, await findOf(call, 'page')),

  async putSitePage(call) {
    const { title, markdown, api = null } = bodyOf<Partial<PageParts> & Pick<PageParts, 'title' | 'markdown'>>(call);
    const parts = { title, markdown, api };
    return answerPage(
      call,
      await putDraftPage(call.registry, call.coordinate, pathOf(call, 'page'), parts, call.author, guardOf(call)),
    );
  },

  deleteSitePage: (call) => removeOf(call, 'page'),

  async putSiteFile(call) {
    const bytes = call.body?.document;
    if (!bytes) throw new RegistryError('malformed', 'The request needs a body: the bytes of the file.');
    const saved = await putDraft(call.registry, call.coordinate, call.path['file']!, bytes, call.author, {
      guard: guardOf(call),
    });
    return answerRecord(fileRecord(saved), saved.generation.generation);
  },

  async getSiteFile(call) {
    const { file, generation } = await findOf(call, 'file');
    const headers = { ETag: etagOf(generation.generation) };
    return { status: 200, headers, file: await readPlace(call.registry, file) };
  },

  deleteSiteFile: (call) => removeOf(call, 'file'),
});

async function removeOf(call: SiteCall, name: 'page' | 'file'): Promise<Answer> {
  const { path } = await findOf(call, name);
  await deleteDraft(call.registry, call.coordinate, path, call.author, guardOf(call));
  return { status: 204 };
}

/** The path of the file that is asked for. That of a page may be without its ending. */
function pathOf({ path }: SiteCall, name: 'page' | 'file'): string {
  const written = path[name]!;
  return name === 'file' || isPagePath(written) ? written : `${written}.md`;
}

async function findOf(call: SiteCall, name: 'page' | 'file'): Promise<FoundDraft> {
  return orAbsent(await findDraft(call.registry, call.coordinate, pathOf(call, name)));
}

async function answerPage(call: SiteCall, draft: FoundDraft): Promise<Answer> {
  const body = { ...fileRecord(draft), ...(await readDraftPage(call.registry, draft)) };
  return answerRecord(body, draft.generation.generation);
}
