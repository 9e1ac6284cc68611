import { isDigest, type Digest } from './digest.ts';
import { isImageFile } from './image.ts';
import { isLabel, isRange } from './label.ts';
import { isNameOfJavaScript } from './json.ts';

export const resourceTypes = ['apis', 'schemas', 'rulesets'] as const;
export type ResourceType = (typeof resourceTypes)[number];

export type Format = 'json' | 'yaml';

/** The format of a file, by its name: what is not JSON is YAML, which includes JSON. */
export function formatOfFile(path: string): Format {
  return /\.json$/i.test(path) ? 'json' : 'yaml';
}

/** Names a resource: `@org/type/slug`. */
export interface Coordinate {
  org: string;
  type: ResourceType;
  slug: string;
}

/** Selects a version. `version` is a label or a range: only the resource can tell which, and an exact label wins. */
export type Selector = { kind: 'latest' } | { kind: 'version'; version: string } | { kind: 'digest'; digest: Digest };

/** The last segment of a path, by what it shows; null: it has none. Of a part and an image, how it begins. */
const tails = {
  document: null,
  page: 'index.html',
  markdown: 'index.md',
  part: 'part-',
  image: 'image-',
  try: 'try',
  embed: 'embed',
  report: 'report',
  provenance: 'provenance',
  manifest: 'manifest',
  attestation: 'attestation',
  versions: 'versions',
  dependants: 'dependants',
  diff: 'diff',
  'diff-json': 'diff.json',
  'diff-markdown': 'diff.md',
} as const;

/**
 * What to show of a resource: the document; its page as HTML (`page`) or plain text (`markdown`)
 * whatever `Accept` says; a `part` of the page of a long document; an
 * `image` that it shows; the form that tries an API out; its reference for frames
 * of other sites (`embed`); or its report, provenance, manifest, attestation, versions, dependants or diff (`diff-json` and `diff-markdown` whatever `Accept` says).
 */
export type AddressView = keyof typeof tails;

/** Everything that the path of a registry URL can name (design §8). */
export type Address =
  | { kind: 'organization'; org: string }
  | { kind: 'type'; org: string; type: ResourceType }
  /** Who uses what in an organization. */
  | { kind: 'graph'; org: string }
  | {
      kind: 'resource';
      coordinate: Coordinate;
      selector: Selector;
      view: AddressView;
      format: Format | null;
      /** The name of a part or an image, for these views. */
      part?: string;
    }
  /** Something of a documentation site. `path`: below the site, `guide/intro`; null without the slash after its name. */
  | { kind: 'site'; org: string; slug: string; path: string | null };

const slugGrammar = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether the text is a valid slug or organization name: 1 to 63 of `[a-z0-9-]`, first and last
 * alphanumeric, no `--`, and not `constructor`.
 */
export function isSlug(text: string): boolean {
  return slugGrammar.test(text) && !text.includes('--') && !isNameOfJavaScript(text);
}

/** Makes a slug from any text: `Swagger Petstore (v2)` → `swagger-petstore-v2`. Null: no character can be kept. */
export function slugFrom(text: string): string | null {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replace(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  if (isNameOfJavaScript(slug)) return `x-${slug}`;
  return isSlug(slug) ? slug : null;
}

export function isResourceType(text: string): text is ResourceType {
  return (resourceTypes as readonly string[]).includes(text);
}

/**
 * Parses the path of a URL; the only parser of addresses. Returns null for anything that is not
 * exactly an address. Segments are not decoded, trimmed or case-folded, but clients may
 * percent-encode `@`, `^`, `~`, `+` and `:` (RFC 3986 §2.3).
 */
export function parseAddress(path: string): Address | null {
  if (path.length > 1024) return null;
  if (path.startsWith('/sites/')) return parseSite(path);
  if (!(path.startsWith('/@') || path.startsWith('/%40'))) return null;
  const text = path.replace(/%(?:40|5[Ee]|7[Ee]|2[Bb]|3[Aa])/g, (escape) =>
    String.fromCharCode(parseInt(escape.slice(1), 16)),
  );
  const segments = text.slice(2).split('/');
  const [org, type, resource, tail, ...rest] = segments;
  if (org === undefined || !isSlug(org) || rest.length > 0) return null;
  if (type === undefined) return { kind: 'organization', org };
  if (type === 'graph' && resource === undefined) return { kind: 'graph', org };
  if (!isResourceType(type)) return null;
  if (resource === undefined) return { kind: 'type', org, type };
  return parseResource(org, type, resource, tail);
}

/** `/sites/{org}/{slug}` and what is below. The names in it are those of files (`sites/page-path.ts`), so nothing is encoded. */
function parseSite(path: string): Address | null {
  const [, org, slug, rest] =
    /^\/sites\/([^/]*)\/([^/]*)(?:\/((?:[A-Za-z0-9_][A-Za-z0-9._-]*\/)*(?:[A-Za-z0-9_][A-Za-z0-9._-]*)?))?$/.exec(
      path,
    ) ?? [];
  if (org === undefined || slug === undefined || !isSlug(org) || !isSlug(slug)) return null;
  return { kind: 'site', org, slug, path: rest ?? null };
}

function parseResource(org: string, type: ResourceType, text: string, tail: string | undefined): Address | null {
  const at = text.indexOf('@');
  const bare = at < 0 ? splitFormat(text) : { stem: text.slice(0, at), format: null };
  const pinned = at < 0 ? null : splitFormat(text.slice(at + 1));
  if (!isSlug(bare.stem)) return null;
  const selector = pinned === null ? ({ kind: 'latest' } as const) : parseSelector(pinned.stem);
  if (selector === null) return null;
  const format = pinned?.format ?? bare.format;
  const { view, part } = parseTail(tail, pinned !== null);
  if (view === null || (view !== 'document' && format !== null)) return null;
  const coordinate = { org, type, slug: bare.stem };
  return { kind: 'resource', coordinate, selector, view, format, ...(part !== null && { part }) };
}

function parseTail(tail: string | undefined, pinned: boolean): { view: AddressView | null; part: string | null } {
  for (const view of ['part', 'image'] as const) {
    if (!tail?.startsWith(tails[view])) continue;
    const part = tail.slice(tails[view].length);
    return { view: (view === 'part' ? isSlug(part) : isImageFile(part)) ? view : null, part };
  }
  const view = (Object.keys(tails) as AddressView[]).find((each) => tails[each] === (tail ?? null)) ?? null;
  const isOfVersion = view !== 'versions' && view !== 'dependants';
  return { view: isOfVersion || !pinned ? view : null, part: null };
}

function splitFormat(text: string): { stem: string; format: Format | null } {
  if (text.endsWith('.json')) return { stem: text.slice(0, -5), format: 'json' };
  if (text.endsWith('.yaml')) return { stem: text.slice(0, -5), format: 'yaml' };
  return { stem: text, format: null };
}

/** Parses the text after the `@`: a label, a range, a digest, or `latest`. Null for anything else. */
export function parseSelector(text: string): Selector | null {
  if (text === 'latest') return { kind: 'latest' };
  if (isDigest(text)) return { kind: 'digest', digest: text };
  return isLabel(text) || isRange(text) ? { kind: 'version', version: text } : null;
}

/** A document that a URL names, and the URL of the registry that has it. */
export interface DocumentUrl {
  registry: string;
  coordinate: Coordinate;
  selector: Selector;
}

/** Parses a URL without a fragment as that of a document in some registry. Null for anything else. */
export function parseDocumentUrl(url: string): DocumentUrl | null {
  if (url.length > 2048) return null;
  const [registry] = /^https?:\/\/[^/?#]+(?:\/[^?#]*?)?(?=\/(?:@|%40))/i.exec(url) ?? [];
  const address = registry === undefined ? null : parseAddress(url.slice(registry.length));
  if (address?.kind !== 'resource' || address.view !== 'document') return null;
  return { registry: registry!, coordinate: address.coordinate, selector: address.selector };
}

/** Whether the path of a collected file is the URL of a registry's document. No path in a tree is like it. */
export function isUrlPath(path: string): boolean {
  return /^https?:\/\//i.test(path);
}

/** The path of the address. `parseAddress` reads it back. */
export function formatAddress(address: Address): string {
  if (address.kind === 'organization') return `/@${address.org}`;
  if (address.kind === 'type') return `/@${address.org}/${address.type}`;
  if (address.kind === 'graph') return `/@${address.org}/graph`;
  if (address.kind === 'site') {
    const { org, slug, path } = address;
    return `/sites/${org}/${slug}${path === null ? '' : `/${path}`}`;
  }
  const base = `/${formatCoordinate(address.coordinate, address.selector)}`;
  if (address.view !== 'document') return `${base}/${tails[address.view]}${address.part ?? ''}`;
  return address.format === null ? base : `${base}.${address.format}`;
}

/** `@org/type/slug`, followed by `@version` unless the selector is `latest`. */
export function formatCoordinate(
  { org, type, slug }: Omit<Coordinate, 'type'> & { type: string },
  selector: Selector = { kind: 'latest' },
): string {
  const base = `@${org}/${type}/${slug}`;
  if (selector.kind === 'latest') return base;
  return `${base}@${selector.kind === 'digest' ? selector.digest : selector.version}`;
}

/** Parses `@org/type/slug[@version]` as people write it in commands and documents. Null for anything else. */
export function parseCoordinate(text: string): { coordinate: Coordinate; selector: Selector } | null {
  const address = parseAddress(`/${text}`);
  if (address?.kind !== 'resource' || address.view !== 'document' || address.format !== null) return null;
  return { coordinate: address.coordinate, selector: address.selector };
}

/** The resource that a coordinate as people write it names, without a version: `@org/type/slug`. Null for anything else. */
export function resourceIn(text: string): string | null {
  const parsed = parseCoordinate(text);
  return parsed && formatCoordinate(parsed.coordinate);
}
