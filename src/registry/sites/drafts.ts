import { digestOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import {
  draftRef,
  siteRef,
  type DocumentationSite,
  type Draft,
  type DraftFile,
  type SiteName,
} from '../../model/sites/documentation-site.ts';
import { isFilePath, isPagePath } from '../../model/sites/page-path.ts';
import type { Generation } from '../../store/generations.ts';
import type { Guard } from '../change-resource.ts';
import type { Author, Registry } from '../registry.ts';
import { watchPurges } from '../purge.ts';
import { bundle, readPlace } from './bundles.ts';
import { kindOfFile } from './file-kind.ts';
import { assertSettings, createSiteRecord, findSite, type SiteChange } from './site-record.ts';

/** A page as its parts. `api`: the coordinate of a resource that it shows after its text. */
export interface PageParts {
  title: string;
  markdown: string;
  api: string | null;
}

/** A file of a site that is published with the next deployment. */
export interface FoundDraft {
  path: string;
  file: DraftFile;
  generation: Generation<Draft>;
}

/**
 * Stores a file of a site, to be published with the next deployment. `guard` sees the generation
 * that it replaces, so that the second of two editors gets an error. Throws
 * `unsupported_media_type` if a site cannot have such a file, and `conflict` if its files come from
 * a repository.
 */
export async function putDraft(
  registry: Registry,
  site: SiteName,
  path: string,
  bytes: Uint8Array,
  author: Author,
  { guard = () => undefined, page = null }: { guard?: Guard; page?: DraftFile['page'] } = {},
): Promise<FoundDraft> {
  const kind = kindOfFile(path, bytes);
  if ('fault' in kind) throw new RegistryError('unsupported_media_type', kind.fault);
  if (bytes.byteLength > registry.config.limits.fileBytes)
    throw new RegistryError(
      'too_large',
      `The file has ${bytes.byteLength} bytes; the limit is ${registry.config.limits.fileBytes}.`,
    );
  await assertEditable(registry, site);
  const { places, objects } = bundle([bytes]);
  const store = async () => void (await Promise.all(objects.map(registry.objects.put)));
  const mendPurged = await watchPurges(registry);
  await store();
  const file: DraftFile = { ...places[0]!, digest: digestOf(bytes), mediaType: kind.mediaType, page };
  const made = await registry.refs.update<Draft>(draftRef(site, path), (current) => {
    // A deleted file is as absent as one that never was.
    guard(current?.value.file ? current : { generation: 0 });
    const isSame =
      current?.value.file?.digest === file.digest && JSON.stringify(current.value.file.page) === JSON.stringify(page);
    return isSame ? null : { value: { file }, change: { ...author, action: `save ${path}` } };
  });
  await mendPurged(store);
  return { path, file: made!.value.file!, generation: made! };
}

/** As `putDraft`, for a page that is sent as its parts. They become its front matter. */
export function putDraftPage(
  registry: Registry,
  site: SiteName,
  path: string,
  { title, markdown, api }: PageParts,
  author: Author,
  guard?: Guard,
): Promise<FoundDraft> {
  const bytes = Buffer.from(headOf({ title, api }) + markdown);
  return putDraft(registry, site, path, bytes, author, { ...(guard && { guard }), page: { title, api } });
}

/** The front matter of a page that was sent as its parts. JSON texts are YAML, too. */
export function headOf({ title, api }: NonNullable<DraftFile['page']>): string {
  const member = api === null ? '' : `api: ${JSON.stringify(api)}\n`;
  return `---\ntitle: ${JSON.stringify(title)}\n${member}---\n`;
}

/** The parts of a page. One that was sent as a file has no title of its own here. */
export async function readDraftPage(
  registry: Registry,
  { file }: FoundDraft,
): Promise<{ title: string | null; markdown: string; api: string | null }> {
  const text = Buffer.from(await readPlace(registry, file)).toString();
  if (file.page === null) return { title: null, markdown: text, api: null };
  return { ...file.page, markdown: text.slice(headOf(file.page).length) };
}

/** A file of a site that was sent, or null. */
export async function findDraft(registry: Registry, site: SiteName, path: string): Promise<FoundDraft | null> {
  const generation = isFilePath(path) ? await registry.refs.read<Draft>(draftRef(site, path)) : null;
  return generation?.value.file ? { path, file: generation.value.file, generation } : null;
}

/** The files of a site that were sent, by path. */
export async function listDrafts(registry: Registry, site: SiteName): Promise<FoundDraft[]> {
  const prefix = draftRef(site, '');
  const found: FoundDraft[] = [];
  for await (const name of registry.refs.list(prefix)) {
    const generation = await registry.refs.read<Draft>(name);
    if (generation?.value.file)
      found.push({ path: name.slice(prefix.length), file: generation.value.file, generation });
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Takes a file out of the next deployment. Throws `not_found` if it is not there. */
export async function deleteDraft(
  registry: Registry,
  site: SiteName,
  path: string,
  author: Author,
  guard: Guard = () => undefined,
): Promise<void> {
  await assertEditable(registry, site);
  await registry.refs.update<Draft>(draftRef(site, path), (current) => {
    if (!current?.value.file)
      throw new RegistryError('not_found', `The site has no ${isPagePath(path) ? 'page' : 'file'} ${path}.`);
    guard(current);
    return { value: { file: null }, change: { ...author, action: `delete ${path}` } };
  });
}

/** `createSiteRecord`, without the files that a deleted site of this name left. */
export async function createSite(
  registry: Registry,
  site: SiteName,
  given: SiteChange & { title: string },
  author: Author,
): Promise<Generation<DocumentationSite>> {
  // Before anything is forgotten: the deleted site may still come back.
  assertSettings(given);
  const found = await registry.refs.readFresh<DocumentationSite>(siteRef(site));
  if (found !== null && found.value.deletedAt !== null)
    for (const { path } of await listDrafts(registry, site))
      await registry.refs.update<Draft>(draftRef(site, path), () => ({
        value: { file: null },
        change: { ...author, action: `delete ${path}` },
      }));
  return createSiteRecord(registry, site, given, author);
}

/** Throws `conflict` if the files of a site come from a repository. */
export async function assertEditable(registry: Registry, site: SiteName): Promise<void> {
  const connection = (await findSite(registry, site))?.value.connection;
  if (!connection) return;
  throw new RegistryError('conflict', `The files of this site come from ${connection.repository}. Change them there.`);
}
