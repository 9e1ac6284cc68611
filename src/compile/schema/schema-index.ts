import { dataKeywords } from '../../model/openapi-shape.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { isUrlPath, parseDocumentUrl } from '../../model/address.ts';
import type { ParsedFile } from '../text/parse.ts';
import { isAbsolute, resolveReference } from '../reference.ts';
import { outwards } from '../../model/pointer.ts';
import { subschemas, type Dialect, dialectOf } from './schema-dialect.ts';
import { decodePercent } from '../../model/escape.ts';

/** A schema resource: a schema with its own URI and anchors (JSON Schema 2020-12 §8.2). */
export interface Resource {
  file: ParsedFile;
  pointer: string;
  /** Absolute, without fragment. */
  uri: string;
  /** Whether the document declares the URI. Otherwise it depends on the path of the file. */
  stated: boolean;
  /** Anchor → pointer into the file. */
  anchors: Map<string, string>;
}

/** The base for resolving the references of a schema. */
export interface Scope {
  resource: Resource;
  /** The base as a path in the tree, for neighbouring files that declare no URI. */
  treeBase: string;
}

export type SchemaIndex = ReturnType<typeof createSchemaIndex>;

/** The URI of a file that declares none. The host cannot exist (RFC 6761 §6.4). */
function retrievalUri(path: string): string {
  if (isUrlPath(path)) return path;
  return `https://stele.invalid/${path.split('/').map(encodeURIComponent).join('/')}`;
}

export function createSchemaIndex(dialect: Dialect) {
  const byUri = new Map<string, Resource>();
  const scopes = new Map<string, Map<string, Scope>>();
  /** Resources with the URI of an earlier one. */
  const duplicates: Resource[] = [];

  function enter(scope: Scope, file: ParsedFile, pointer: string, schema: JsonObject): Scope {
    const id = idOf(dialect, schema);
    let entered = scope;
    if (id !== null) {
      const uri = absolute(id, scope.resource.uri);
      const [base, anchor] = uri === null ? [scope.resource.uri, ''] : splitFragment(uri);
      if (base !== scope.resource.uri) {
        const stated = scope.resource.stated || isAbsolute(id);
        const resource: Resource = { file, pointer, uri: base, stated, anchors: new Map() };
        if (byUri.getOrInsert(base, resource) !== resource) duplicates.push(resource);
        entered = { resource, treeBase: pointer === '' ? scope.treeBase : treeBaseOf(scope.treeBase, id) };
      }
      if (dialect.anchorsInId && anchor !== '') entered.resource.anchors.set(anchor, pointer);
    }
    for (const keyword of dialect.anchorsInId ? [] : ['$anchor', '$dynamicAnchor']) {
      const anchor = schema[keyword];
      if (typeof anchor === 'string') entered.resource.anchors.set(anchor, pointer);
    }
    return entered;
  }

  function index(file: ParsedFile, pointer: string, schema: unknown, scope: Scope): void {
    const fileScope = scopes.get(file.path)!;
    if (fileScope.has(pointer)) return;
    const entered = isObject(schema) ? enter(scope, file, pointer, schema) : scope;
    fileScope.set(pointer, entered);
    if (!isObject(schema)) return;
    for (const child of subschemas(dialect, schema)) index(file, pointer + child.path, child.schema, entered);
  }

  /** The scope of the schema at the pointer, or of the nearest schema around it. */
  function scopeAt(file: ParsedFile, pointer: string): Scope {
    const fileScope = scopes.get(file.path)!;
    return fileScope.get(outwards(pointer).find((at) => fileScope.has(at))!)!;
  }

  return {
    duplicates,
    scopeAt,
    resource: (uri: string) => byUri.get(uri),

    /** Indexes the ids and anchors of a file. Repeated calls do nothing. */
    add(file: ParsedFile): Resource {
      const scope = scopes.get(file.path);
      if (scope) return scope.get('')!.resource;
      scopes.set(file.path, new Map());
      const uri = retrievalUri(file.path);
      const retrieved: Resource = { file, pointer: '', uri, stated: false, anchors: new Map() };
      byUri.set(uri, retrieved);
      index(file, '', file.value, { resource: retrieved, treeBase: file.path });
      const { resource } = scopes.get(file.path)!.get('')!;
      byUri.set(uri, resource);
      return resource;
    },

    /** Indexes a schema that is not under a schema keyword. */
    addAt(file: ParsedFile, pointer: string, schema: unknown): void {
      index(file, pointer, schema, scopeAt(file, pointer));
    },
  };
}

/** The id of a schema, or null. Ignored beside `$ref` in drafts where `$ref` stands alone. */
export function idOf(dialect: Dialect, schema: Readonly<JsonObject>): string | null {
  const id = schema[dialect.idKeyword];
  return typeof id !== 'string' || (dialect.refStandsAlone && typeof schema['$ref'] === 'string') ? null : id;
}

/** The base path after an id. A relative id changes it; an absolute one does not. */
function treeBaseOf(base: string, id: string): string {
  if (isAbsolute(id)) return base;
  const moved = resolveReference(base, id);
  return moved.ok && !id.startsWith('#') ? moved.path + (id.endsWith('/') ? '/' : '') : base;
}

/** Resolves a reference against a base (RFC 3986 §5). Null if the result is not a URI. */
export function absolute(reference: string, base: string): string | null {
  // Most references are plain pointers, which need no URL parser.
  if (/^#[\w/$.-]*$/.test(reference)) return splitFragment(base)[0] + reference;
  return URL.parse(reference, base)?.href ?? null;
}

/** Splits a URI into the part before `#` and the decoded fragment. */
export function splitFragment(uri: string): [base: string, fragment: string] {
  const at = uri.indexOf('#');
  if (at < 0) return [uri, ''];
  const encoded = uri.slice(at + 1);
  return [uri.slice(0, at), decodePercent(encoded) ?? encoded];
}

/** A reference that may be one, with its bases: the path in the tree, and the URI. Null: none is declared. */
type SeeReference = (text: string, treeBase: string, uri: string | null) => void;

/**
 * Shows every reference in a file, by the base rules of all drafts: which parts are schemas is known only
 * later. Returns what the file declares: ids as written, and their URIs.
 */
function eachReference(file: ParsedFile, see: SeeReference): { ids: Set<string>; uris: Set<string> } {
  const ids = new Set<string>();
  const uris = new Set<string>();

  function visit(value: unknown, treeBase: string, base: string | null, isRoot: boolean): void {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, treeBase, base, false));
    if (!isObject(value)) return;
    const id = value['$id'] ?? value['id'];
    const isNamed = typeof id === 'string';
    const moved = isNamed && !isRoot ? treeBaseOf(treeBase, id) : treeBase;
    const uri = isNamed ? absolute(id, base ?? 'https://stele.invalid/') : base;
    if (isNamed) ids.add(id);
    if (uri !== null) uris.add(splitFragment(uri)[0]);
    for (const text of [value['$ref'], value['$dynamicRef']]) if (typeof text === 'string') see(text, moved, uri);
    for (const key in value) if (!dataKeywords.has(key)) visit(value[key], moved, uri, false);
  }

  visit(file.value, file.path, isUrlPath(file.path) ? file.path : null, true);
  return { ids, uris };
}

/** Returns the paths in the tree that a JSON Schema may reference, without the file itself. May include extra paths. */
export function schemaReferencePaths(file: ParsedFile): string[] {
  const paths = new Set<string>();
  const rootId = isObject(file.value) ? (file.value['$id'] ?? file.value['id']) : null;
  const others = new Set<string>();
  const { ids } = eachReference(file, (text, treeBase) => {
    for (const path of candidatePaths(file.path, treeBase, typeof rootId === 'string' ? rootId : null, text))
      paths.add(path);
    if (!text.startsWith('#')) others.add(text);
  });
  for (const text of others)
    if (!ids.has(text.split('#')[0]!)) for (const path of siblingPaths(file.path, text)) paths.add(path);
  paths.delete(file.path);
  return [...paths];
}

/**
 * Returns the URLs of a registry's documents that a JSON Schema may reference, also relative to its own
 * URL, each with the neighbours that a relative reference means if they are there.
 */
export function schemaAddresses(file: ParsedFile): Map<string, readonly string[]> {
  const urls = new Map<string, readonly string[]>();
  const { uris } = eachReference(file, (text, _, uri) => {
    const url = documentUrl(text, uri);
    if (url !== null) urls.set(url, isAbsolute(text) ? [] : resolved(file.path, text));
  });
  for (const url of uris) urls.delete(url);
  const meta = isUrlPath(file.path) ? null : metaUrlOf(file.value);
  if (meta !== null) urls.set(meta, []);
  return urls;
}

/** The URL of a registry's document that a schema names as its `$schema`. Null: none. */
export function metaUrlOf(schema: unknown): string | null {
  const stated = isObject(schema) ? schema['$schema'] : undefined;
  return typeof stated === 'string' && dialectOf(stated) === null ? documentUrl(stated, null) : null;
}

/** The URL of a registry's document that a reference leads to from a base, without its fragment. Null: none. */
export function documentUrl(text: string, base: string | null): string | null {
  if (text.startsWith('#')) return null;
  const uri = isAbsolute(text) ? text : base && absolute(text, base);
  const [url] = splitFragment(uri ?? '');
  return parseDocumentUrl(url) === null ? null : url;
}

/**
 * Returns the paths in the tree that a reference may point to, likeliest first. A relative
 * reference points to a neighbour whatever URI the file declares, because a repository is laid out
 * like the URIs. An absolute reference below the file's own URI points to a neighbour for the same
 * reason.
 */
export function candidatePaths(path: string, treeBase: string, rootId: string | null, text: string): string[] {
  if (text.startsWith('#')) return [];
  if (isAbsolute(text)) {
    const folder = rootId !== null && isAbsolute(rootId) ? rootId.slice(0, rootId.lastIndexOf('/') + 1) : null;
    const below = folder !== null && folder.includes('://') && text.startsWith(folder);
    return below ? resolved(path, text.slice(folder.length)) : [];
  }
  return [...new Set([...resolved(treeBase, text), ...resolved(path, text)])];
}

/**
 * Returns the files beside this one that may declare the URI of a reference as their `$id`: those
 * named like its last segment. Files of other names are not found, because no folder is listed.
 */
export function siblingPaths(path: string, text: string): string[] {
  const [uri = ''] = text.split('#');
  if ((isAbsolute(uri) && !/^https?:/i.test(uri)) || dialectOf(uri) !== null) return [];
  const name = /(?:^|\/)([\w-][\w.-]*)$/.exec(uri)?.[1];
  if (name === undefined) return [];
  if (/\.(?:json|ya?ml)$/i.test(name)) return isAbsolute(uri) ? resolved(path, name) : [];
  return ['.json', '.schema.json', '.yaml', '.yml'].flatMap((ending) => resolved(path, name + ending));
}

function resolved(from: string, text: string): string[] {
  const target = resolveReference(from, text);
  return target.ok && !isUrlPath(target.path) ? [target.path] : [];
}
