import { isUtf8 } from 'node:buffer';
import { isFilePath, mediaTypeOf, ownFiles, isPagePath } from '../model/page-path.ts';
import { digestOf } from '../../model/digest.ts';
import { readImage } from '../../model/image.ts';
import { own } from '../../model/json.ts';
import { RegistryError, tooLarge, notFound, conflict } from '../../model/errors.ts';
import {
  draftRef,
  formatSite,
  isMadeFor,
  type BundlePlace,
  type DocumentationSite,
  type Draft,
  type DraftFile,
  type SiteName,
} from '../model/documentation-site.ts';
import type { Generation } from '../../store/records.ts';
import { findSite, type Guard } from '../../registry/lives.ts';
import { withRoom } from '../../registry/maintenance/quotas.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import { storeMendable } from '../../registry/purge.ts';
import { bundlePieces, readPlace } from './bundles.ts';

/** How the files of a type begin. Of types without an entry, images are read, and the others are text. */
const beginnings: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/x-icon': (bytes) => startsWith(bytes, '\0\0\x01\0'),
  'image/svg+xml': (bytes) => isUtf8(bytes) && /<svg[\s>]/.test(bytes.toString('utf8', 0, 10_000)),
  'font/woff': (bytes) => startsWith(bytes, 'wOFF'),
  'font/woff2': (bytes) => startsWith(bytes, 'wOF2'),
  'font/ttf': (bytes) => startsWith(bytes, '\0\x01\0\0') || startsWith(bytes, 'true'),
  'font/otf': (bytes) => startsWith(bytes, 'OTTO'),
  'application/pdf': (bytes) => startsWith(bytes, '%PDF-'),
  'video/mp4': (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp',
  'video/webm': (bytes) => startsWith(bytes, '\x1a\x45\xdf\xa3'),
};

function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.toString('latin1', 0, text.length) === text;
}

/**
 * The media type of a site's file: that of its name, if the bytes are what the name says. Else why a
 * site cannot have it, in one sentence.
 */
export function kindOfFile(path: string, content: Uint8Array): { mediaType: string } | { fault: string } {
  const mediaType = mediaTypeOf(path);
  if (mediaType === null)
    return { fault: `Sites have no files such as ${path}. Use Markdown, images, fonts, PDF, video or data files.` };
  if (!isFilePath(path)) return { fault: ownFiles.includes(path) ? `Every site has its own ${path}.` : pathFault };
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const isImage = mediaType.startsWith('image/');
  const looksRight =
    own(beginnings, mediaType)?.(bytes) ?? (isImage ? readImage(bytes)?.type === mediaType : isUtf8(bytes));
  if (!looksRight) return { fault: `The content is not ${mediaType.split(';')[0]}, as its name says.` };
  return { mediaType };
}

const pathFault =
  'A path has names of A-Z a-z 0-9 . _ - between slashes; each begins with a letter or digit, and only the last ends with an extension.';

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
    throw tooLarge(`The file has ${bytes.byteLength} bytes; the limit is ${registry.config.limits.fileBytes}.`);
  const { value: record } = await findEditable(registry, site);
  return withRoom(registry, site.org, async (take) => {
    const stored = fileOf(record, await registry.refs.read<Draft>(draftRef(site, path)));
    take({ drafts: stored ? 0 : 1, bytes: Math.max(0, bytes.byteLength - (stored?.size ?? 0)) });
    let kept = null as Kept | null;
    const mend = await storeMendable(registry, async () => {
      if (kept === null) kept = await storeTogether(registry, site, bytes);
      else await registry.objects.put(kept.object);
    });
    const file: DraftFile = { ...kept!.place, digest: digestOf(bytes), mediaType: kind.mediaType, page };
    const updated = await registry.refs.update<Draft>(draftRef(site, path), (current) => {
      const draft = fileOf(record, current);
      // A deleted file looks as if it had never existed.
      guard(draft ? current! : { generation: 0 });
      const isSame = draft?.digest === file.digest && JSON.stringify(draft.page) === JSON.stringify(page);
      return isSame ? null : { value: draftOf(record, file), change: { ...author, action: `save ${path}` } };
    });
    await mend();
    return { path, file: updated!.value.file!, generation: updated! };
  });
}

/** Where a file is, and the object in which it is. */
interface Kept {
  place: BundlePlace;
  object: Uint8Array;
}

/** By site: the files that arrived in this turn of the event loop. */
const arriving = new WeakMap<
  Registry['objects'],
  Map<string, { bytes: Uint8Array; keep(kept: Promise<Kept>): void }[]>
>();

/** Stores a file in one object with those of the site that arrive at the same time: each object costs a write to disk. */
function storeTogether({ objects }: Registry, site: SiteName, bytes: Uint8Array): Promise<Kept> {
  const sites = arriving.getOrInsertComputed(objects, () => new Map());
  const together = sites.getOrInsert(formatSite(site), []);
  return new Promise((resolve) => {
    if (together.push({ bytes, keep: resolve }) > 1) return;
    setImmediate(() => {
      sites.delete(formatSite(site));
      const { places, objects: bundles } = bundlePieces(together.map((each) => each.bytes));
      const stored = new Map(bundles.map((object) => [digestOf(object), objects.put(object).then(() => object)]));
      for (const [at, { keep }] of together.entries()) {
        const place = places[at]!;
        keep(stored.get(place.bundle)!.then((object) => ({ place, object })));
      }
    });
  });
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
  const record = (await findSite(registry, site))?.value;
  const generation = isFilePath(path) ? await registry.refs.read<Draft>(draftRef(site, path)) : null;
  const file = record ? fileOf(record, generation) : null;
  return file && { path, file, generation: generation! };
}

/** The files of a site that were sent, by path. */
export async function listDrafts(registry: Registry, site: SiteName): Promise<FoundDraft[]> {
  const record = (await findSite(registry, site))?.value;
  if (!record) return [];
  const prefix = draftRef(site, '');
  const drafts: FoundDraft[] = [];
  for await (const name of registry.refs.list(prefix)) {
    const generation = await registry.refs.read<Draft>(name);
    const file = fileOf(record, generation);
    if (file !== null) drafts.push({ path: name.slice(prefix.length), file, generation: generation! });
  }
  return drafts.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Takes a file out of the next deployment. Throws `not_found` if it is not there. */
export async function deleteDraft(
  registry: Registry,
  site: SiteName,
  path: string,
  author: Author,
  guard: Guard = () => undefined,
): Promise<void> {
  const { value: record } = await findEditable(registry, site);
  await registry.refs.update<Draft>(draftRef(site, path), (current) => {
    if (current === null || fileOf(record, current) === null)
      throw notFound(`The site has no ${isPagePath(path) ? 'page' : 'file'} ${path}.`);
    guard(current);
    return { value: draftOf(record, null), change: { ...author, action: `delete ${path}` } };
  });
}

/** The file that a record holds for a site; null: none, or one of a deleted site that had its name. */
function fileOf(site: DocumentationSite, draft: Generation<Draft> | null): DraftFile | null {
  return draft !== null && isMadeFor(site, { ...draft.value, at: draft.at }) ? draft.value.file : null;
}

function draftOf({ id }: DocumentationSite, file: DraftFile | null): Draft {
  return { ...(id !== undefined && { site: id }), file };
}

/**
 * The site, if its files are those that are sent. Throws `not_found` if it does not exist, and
 * `conflict` if they come from a repository.
 */
export async function findEditable(registry: Registry, site: SiteName): Promise<Generation<DocumentationSite>> {
  const stored = await findSite(registry, site);
  if (stored === null) throw notFound(`${formatSite(site)} does not exist. Create it first.`);
  const { connection } = stored.value;
  if (connection === null) return stored;
  throw conflict(`The files of this site come from ${connection.repository}. Change them there.`);
}

/** A file with its bytes. */
export interface NewFile {
  path: string;
  bytes: Uint8Array;
}
