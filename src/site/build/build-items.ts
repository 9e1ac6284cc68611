import type { Coding } from '../../model/artifact.ts';
import type { Digest } from '../../model/digest.ts';
import { findVersion, nameOf, type Resource, type Version } from '../../model/resource.ts';
import { catalogPath } from '../discovery.ts';
import { docMarkdownPath, docPath } from '../docs/docs.ts';
import type { Checkpoint } from '../../model/transparency/checkpoint.ts';
import { formatNote } from '../../model/transparency/note.ts';
import { tilePath, tilesOf } from '../../model/transparency/tree.ts';
import type { Site } from '../site.ts';

/** The kind of a file, which decides its header fields. */
export type FileKind =
  | 'json'
  | 'yaml'
  | 'record' // metadata of a version: JSON only
  | 'versions'
  | 'record-page' // a page of metadata
  | 'versions-page'
  | 'diff' // what changed since the predecessor: JSON
  | 'diff-page'
  | 'diff-markdown'
  | 'listing'
  | 'page'
  | 'users' // a page that depends on its reader: of a ruleset, or without a latest version
  | 'markdown'
  | 'part' // a page of a long document
  | 'image'
  | 'drawing' // an image that could have more in it: SVG
  | 'try'
  | 'home'
  | 'front' // the page of an organization or a type, which depends on its reader
  | 'problem'
  | 'doc-markdown'
  | 'plain-page'
  | 'index'
  | 'catalog'
  | 'discovery'
  | 'asset'
  | 'log' // of the public log
  | 'log-tile'
  | 'site-page' // of a documentation site
  | 'site-markdown'
  | 'site-list' // what every site has: feed, sitemap, search index, …
  | 'site-file'
  | 'site-drawing'
  | 'absent'
  | 'gone';

/** A request to the registry, and the file for its response. */
export interface Item {
  /** Path from the registry's base. */
  ask: string;
  accept?: string;
  file: string;
  kind: FileKind;
  /** Whether to store every coding, each in its own file. */
  isCoded: boolean;
  /** Expected status. Default 200. */
  status?: number;
  /** Whether it is a list with further pages, requested by cursor. */
  isList?: boolean;
  /** Whether it links to the parts of a long document and shows images, which are files too. */
  isParted?: boolean;
  /**
   * Makes the plain bytes that the registry would send. For files of which there are thousands: once
   * the registry has said which header fields their kind has, it need not be asked for each.
   */
  make?: () => Promise<Uint8Array>;
  /** Whether it names the other files of the search index. */
  isIndex?: boolean;
}

/** Items that are built again together when their inputs change. */
export interface Unit {
  name: string;
  inputs: Digest;
  items: Item[];
  /** Files that are repeated under another base. Absent or null: none. */
  again?: { from: string; to: string } | null;
}

/** File extensions of the codings, besides the plain file. */
export const codingEndings: Readonly<Record<Exclude<Coding, 'identity'>, string>> = {
  gzip: '.gz',
  br: '.br',
  zstd: '.zst',
};

/** Which codings of each file a build has besides the plain file. */
export const precompressed = { none: [], gzip: ['gzip'], all: ['gzip', 'br', 'zstd'] } as const satisfies Record<
  string,
  readonly Exclude<Coding, 'identity'>[]
>;

export type Precompressed = keyof typeof precompressed;

const html = 'text/html';

/** All files of a resource under the URLs of its versions, and the list of versions. `isSigned`: they have attestations. */
export function resourceItems(resource: Resource, isSigned: boolean): Item[] {
  const base = `/${nameOf(resource)}`;
  const versions = resource.versions.flatMap((version) => {
    const pinned = `${base}@${version.label}`;
    return isServed(version) ? versionItems(resource, pinned, isSigned) : goneItems(pinned);
  });
  const history = [record(`${base}/versions`, 'versions'), pageItem(`${base}/versions`, 'versions-page')];
  // The pages of its versions lead to it.
  const users = resource.versions.some(isServed) ? listingItems(`${base}/dependants`) : [];
  return [...versions, ...history, ...users, ...(resource.latest === null ? [pageItem(base, 'users')] : [])];
}

/** Whether a version has files. A withdrawn version has only a page that says so. */
export function isServed({ status }: Version): boolean {
  return status.state !== 'withdrawn';
}

function versionItems({ type }: Resource, pinned: string, isSigned: boolean): Item[] {
  return [
    coded(`${pinned}.json`, 'json'),
    coded(`${pinned}.yaml`, 'yaml'),
    { ...coded(`${pinned}/index.html`, type === 'rulesets' ? 'users' : 'page'), isParted: true },
    coded(`${pinned}/index.md`, 'markdown'),
    record(`${pinned}/report`, 'record'),
    record(`${pinned}/provenance`, 'record'),
    record(`${pinned}/manifest`, 'record'),
    ...(isSigned ? [record(`${pinned}/attestation`, 'record')] : []),
    pageItem(`${pinned}/report`, 'record-page'),
    pageItem(`${pinned}/provenance`, 'record-page'),
    pageItem(`${pinned}/diff`, 'diff-page'),
    { ...coded(`${pinned}/diff.json`, 'diff'), isCoded: false },
    coded(`${pinned}/diff.md`, 'diff-markdown'),
    ...(type === 'apis' ? [coded(`${pinned}/try`, 'try', `${pinned}/try/index.html`)] : []),
  ];
}

/** A file that has every coding. */
export function coded(ask: string, kind: FileKind, file = ask): Item {
  return { ask, file: file.slice(1), kind, isCoded: true };
}

function record(ask: string, kind: FileKind): Item {
  return { ask, file: `${ask.slice(1)}.json`, kind, isCoded: false, isList: kind !== 'record' };
}

/** The parts of a long document to which its page, at this path, links. */
export function partItems(ask: string, page: string): Item[] {
  const folder = ask.slice(0, -'index.html'.length);
  const links = page.matchAll(/<a href="[^"#]*\/(part-[a-z0-9-]+)[#"]/g);
  return [...new Set([...links].map(([, name]) => name!))].map((name) =>
    coded(`${folder}${name}`, 'part', `${folder}${name}/index.html`),
  );
}

/** The images that a page of this version shows. `pinned`: the path of the version. */
export function imageItems(pinned: string, page: string): Item[] {
  const images = page.matchAll(/<img src="[^"]*\/(image-[0-9a-f]{16}\.([a-z]+))"/g);
  return [...new Map([...images].map(([, name, type]) => [name!, type!]))].map(([name, type]) => ({
    ...coded(`${pinned}/${name}`, type === 'svg' ? 'drawing' : 'image'),
    isCoded: false,
  }));
}

/** The page for a URL whose bytes were deleted on purpose. */
export function goneItems(base: string): Item[] {
  return [
    { ask: base, accept: html, file: `${base.slice(1)}/410.html`, kind: 'gone', isCoded: false, status: 410 },
    { ask: base, file: `${base.slice(1)}/410.json`, kind: 'gone', isCoded: false, status: 410 },
  ];
}

/** The base without a version, under which the files of the latest version are repeated. */
export function latestBases(resource: Resource): { from: string; to: string } | null {
  const latest = resource.latest === null ? null : findVersion(resource, resource.latest);
  if (latest === null || !isServed(latest)) return null;
  return { from: `${nameOf(resource)}@${latest.label}`, to: nameOf(resource) };
}

/** The page and the list of an organization, of a type in it, or of who uses something. */
export function listingItems(path: string): Item[] {
  return [pageItem(path, 'front'), record(path, 'listing')];
}

/** A page at a URL that programs may request too. */
function pageItem(path: string, kind: FileKind): Item {
  return { ...coded(path, kind, `${path === '/' ? '' : path}/index.html`), accept: html };
}

export function discoveryItem(path: string): Item {
  return coded(path, path === catalogPath ? 'catalog' : 'discovery');
}

/** The home page, the search page, and the search index for browsers. */
export function frontItems(): Item[] {
  const suggest = shardItem('suggest.json');
  return [pageItem('/', 'home'), pageItem('/search', 'home'), { ...shardItem('index.json'), isIndex: true }, suggest];
}

/** A file of the search index. */
export function shardItem(path: string): Item {
  return coded(`/search/${path}`, 'index');
}

/** The documentation, for people and in Markdown, and its search index. */
export function docItems({ docs }: Pick<Site, 'docs'>): Item[] {
  const pages = docs().flatMap(({ name }): Item[] => {
    const ask = docMarkdownPath(name);
    const page = { ...pageItem(docPath(name), 'plain-page'), file: ask.slice(1).replace(/md$/, 'html') };
    return [page, coded(ask, 'doc-markdown')];
  });
  return [...pages, shardItem('docs.json')];
}

/** The public log as it is at a checkpoint, whose bytes are given: it may go on while the build reads its tiles. */
export function logItems(checkpoint: Checkpoint): Item[] {
  const make = async () => Buffer.from(formatNote(checkpoint.note));
  const log = (path: string): Item => ({ ...coded(`/log/${path}`, 'log'), isCoded: false });
  return [
    ...['key', 'key.pem', 'key.proof'].map(log),
    { ...log('checkpoint'), make },
    ...tilesOf(checkpoint.size).map((tile) => coded(`/log/${tilePath(tile)}`, 'log-tile')),
  ];
}

/** Files that depend on no resource: problem pages, error pages, stylesheets and scripts. */
export function stillItems({ assets }: Site, problems: readonly string[]): Item[] {
  const explained = ['/problems', ...problems.map((code) => `/problems/${code}`)];
  const absent = { ask: '/absent', kind: 'absent' as const, isCoded: false, status: 404 };
  return [
    ...explained.flatMap((path) => [pageItem(path, 'plain-page'), { ...record(path, 'problem'), isList: false }]),
    { ...absent, accept: html, file: '404.html' },
    { ...absent, file: '404.json' },
    ...assets.names().map((name) => coded(assets.path(name), 'asset')),
  ];
}
