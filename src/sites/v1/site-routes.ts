import { notFound, refused } from '../../model/errors.ts';
import { createReport, describeBlocking } from '../../model/problem.ts';
import {
  deploymentsOf,
  siteCoordinate,
  formatSite,
  type Deployment,
  type DocumentationSite,
  type SiteConnection,
} from '../model/documentation-site.ts';
import { listReadableSites } from '../../registry/readable.ts';
import { publishAgain, publishSite, sentFiles, type SitePublished } from '../registry/publish-site.ts';
import { previewSite } from '../registry/site-preview.ts';
import { deleteRecord, isRestorable } from '../../registry/lives.ts';
import { changeSite, createSiteRecord, type SiteChange } from '../registry/site-record.ts';
import { orAbsent } from '../../server/error-answers.ts';
import {
  answerRecord,
  bodyOf,
  etagOf,
  guardOf,
  matchesQuery,
  sendPage,
  type Answer,
  type SiteCall,
  operationsAbout,
  sendSorted,
} from '../../server/v1/call.ts';
import { requireScope, requireScopeToMake } from '../../server/v1/require-scope.ts';
import { repositoryName, type Run } from '../../model/connection.ts';
import {
  type FoundDraft,
  deleteDraft,
  findDraft,
  listDrafts,
  putDraft,
  putDraftPage,
  readDraftPage,
  type PageParts,
} from '../registry/drafts.ts';
import type { Generation } from '../../store/records.ts';
import { own, pick } from '../../model/json.ts';
import { repositoryOfSite } from '../sync/sync-sites.ts';
import { connectRecord } from '../../sync/connect.ts';
import { assertMaySetSecret, describeFollowed, createSyncRoutes } from '../../server/v1/repository-routes.ts';
import { isPagePath } from '../model/page-path.ts';
import { readPlace } from '../registry/bundles.ts';

export const siteOperations = {
  ...operationsAbout('itself', {
    async listSites(call) {
      const { registry, principal, org, context } = call;
      const isDeleted = call.query['deleted'] === true;
      const all = await listReadableSites(registry, principal, org, isDeleted);
      return sendSorted(call, all, {
        isShown: ({ value }) =>
          (!isDeleted || isRestorable(value, registry.now())) && matchesQuery(call, value.title, value.slug),
        describe: (found) => siteRecord(context.url, found),
        keyOf: ({ value }) => value.slug,
      });
    },

    async createSite(call) {
      const { registry, org, author, context } = call;
      const { slug, name = slug, title = name, ...given } = bodyOf<SiteChange & { name?: string; slug: string }>(call);
      const site = siteCoordinate({ org, slug });
      requireScopeToMake(call, 'publish', site);
      const made = await createSiteRecord(registry, site, { ...given, title }, author);
      const headers = { Location: `${context.url}/v1/sites/${slug}`, ETag: etagOf(made.generation) };
      return { status: 201, headers, body: siteRecord(context.url, made) };
    },
  }),
  ...operationsAbout('site', {
    getSite: async ({ found, context }) => answerRecord(siteRecord(context.url, found), found.generation),

    async updateSite(call) {
      const change = bodyOf<SiteChange>(call);
      if (change.visibility !== undefined) requireScope(call, 'admin');
      const changed = await changeSite(call.registry, call.coordinate, change, call.author, guardOf(call));
      return answerRecord(siteRecord(call.context.url, changed), changed.generation);
    },

    async deleteSite(call) {
      await deleteRecord(call.registry, call.coordinate, call.author, guardOf(call));
      return { status: 204 };
    },

    async deploySite(call) {
      const { registry, coordinate: site, author } = call;
      const asked: { deployment?: string; dryRun: boolean } = call.body === null ? { dryRun: false } : bodyOf(call);
      const { deployment: earlier, dryRun } = asked;
      const result: SitePublished =
        earlier === undefined
          ? await publishSent(call, dryRun)
          : { ...(await publishAgain(registry, site, earlier, author)), rendered: 0, report: createReport([]) };
      const { report } = result;
      if (result.outcome === 'rejected') {
        const { problems, counts, truncated } = report;
        throw refused(describeBlocking(report, 'site'), { problems, extra: { counts, truncated } });
      }
      if (result.outcome === 'checked')
        return { status: 200, body: { outcome: 'checked', deployment: null, rendered: 0, report } };
      const { outcome, rendered, deployment } = result;
      const body = { outcome, deployment: deploymentRecord(result.site, deployment), rendered, report };
      return { status: outcome === 'published' ? 201 : 200, body };
    },

    async previewSite(call) {
      const { registry, coordinate: site, principal, author, context } = call;
      const sent = await sentFiles(registry, site);
      const preview = await previewSite(registry, { site, ...sent, reader: principal, by: author.actor });
      const { token, expiresAt, rendered, report } = preview;
      return { status: 201, body: { url: `${context.url}/previews/${token}/`, expiresAt, rendered, report } };
    },

    async getDeployment({ found, path }) {
      const deployment = orAbsent(deploymentsOf(found.value).find(({ label }) => label === path['deployment']));
      return { status: 200, body: deploymentRecord(found.value, deployment) };
    },

    async listDeployments(call) {
      const all = deploymentsOf(call.found.value).reverse();
      const isBefore = ({ label }: Deployment, last: string | null) => last === null || Number(label) < Number(last);
      return sendPage(call, (last) => all.filter((each) => isBefore(each, last)), {
        describe: (deployment) => deploymentRecord(call.found.value, deployment),
        keyOf: ({ label }) => label,
      });
    },

    getSiteConnection: (call) => describeConnection(call, call.found),

    async connectSite(call) {
      const { repository, branch = null, folder, credential = null, webhookSecret } = bodyOf<NewSiteConnection>(call);
      assertMaySetSecret(call, webhookSecret);
      const given = { repository, branch, folder, byHand: true, credential } as const;
      const { registry, coordinate, author } = call;
      return describeConnection(
        call,
        await connectRecord(registry, coordinate, given, author, guardOf(call), webhookSecret),
      );
    },
  }),
};

/** Publishes the files that were sent, or says what would come of it. */
async function publishSent(call: SiteCall, dryRun: boolean): Promise<SitePublished> {
  const { registry, coordinate: site, author, principal: reader } = call;
  return publishSite(registry, { site, ...(await sentFiles(registry, site)), reader, author, dryRun });
}

/** A documentation site as described in the API. */
export function siteRecord(url: string, { value: site, at }: Generation<DocumentationSite>): object {
  const { org, slug, connection, deletedAt } = site;
  return {
    id: slug,
    organization: org,
    ...pick(site, 'slug', 'title', 'description', 'visibility'),
    ...pick(site, 'blockOn', 'theme', 'navigation', 'redirects', 'versions'),
    connection:
      deletedAt === null && connection !== null
        ? { repository: repositoryName(connection.repository), ...pick(connection, 'branch', 'folder') }
        : null,
    ...pick(site, 'current', 'createdAt'),
    updatedAt: at,
    coordinate: formatSite(site),
    url: `${url}/sites/${org}/${slug}/`,
    ...(deletedAt !== null && { deletedAt }),
  };
}

/** A file that the next deployment will have, as described in the API. */
function fileRecord({ path, file, generation }: FoundDraft): object {
  const { mediaType, size, digest } = file;
  return { path, mediaType, size, digest, updatedAt: generation.at };
}

/** A deployment as described in the API. */
export function deploymentRecord({ current }: DocumentationSite, deployment: Deployment): object {
  const { label, manifest, origin, again = null, followed = null } = deployment;
  return {
    id: label,
    digest: manifest,
    ...pick(deployment, 'publishedAt', 'by'),
    origin: origin && { ...origin, repository: repositoryName(origin.repository) },
    again,
    followed,
    current: current === label,
  };
}

type NewSiteConnection = Omit<SiteConnection, 'branch'> & { branch?: string | null; webhookSecret?: string | null };

/** Its sync runs. */
export const siteSyncs = createSyncRoutes('site', ({ coordinate: site, found }) => {
  const name = formatSite(site);
  const { connection, createdAt } = found.value;
  // Runs before are those of a deleted site that had the name.
  const isOwn = (document: { site?: string }, { finishedAt }: Run) =>
    document.site === name && (finishedAt === null || finishedAt >= createdAt);
  return { org: site.org, name, runs: `sites/${site.slug}/syncs`, connection, isOwn };
});

async function describeConnection(
  { registry, context, org }: SiteCall,
  { value: site, generation }: Generation<DocumentationSite>,
): Promise<Answer> {
  const { connection } = site;
  if (connection === null) throw notFound('The site has no connection.');
  const { repository, branch, folder, byHand = false, credential = null } = connection;
  const followed = await repositoryOfSite(registry, org, connection);
  const state = own(followed?.value.sites ?? {}, site.slug) ?? null;
  const body = {
    repository: repositoryName(repository),
    branch,
    folder,
    credential,
    settings: byHand ? 'site' : 'stele.yaml',
    ...describeFollowed({ registry, context }, org, connection, followed?.value ?? null, state),
    outcome: state?.outcome ?? null,
    deployment: site.current,
  };
  return answerRecord(body, generation, followed?.generation ?? 0);
}

/** Throws `forbidden` unless the asker may read what is private: nobody else sees what is not published yet, also of a public site. */
const requireMember = (call: SiteCall): void => requireScopeToMake(call, 'read', call.coordinate);

async function listOf(call: SiteCall, isShown: (path: string) => boolean): Promise<Answer> {
  requireMember(call);
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
    const bytes = call.body!.document!;
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
  requireMember(call);
  return orAbsent(await findDraft(call.registry, call.coordinate, pathOf(call, name)));
}

async function answerPage(call: SiteCall, draft: FoundDraft): Promise<Answer> {
  const body = { ...fileRecord(draft), ...(await readDraftPage(call.registry, draft)) };
  return answerRecord(body, draft.generation.generation);
}
