import { isObject, type JsonObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { objectOf } from '../../render/json-value.ts';
import { problemAt } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { createFreeName, followPointer, fragmentOf, joinPointer, outwards, parsePointer } from '../../model/pointer.ts';
import { isAbsolute } from '../reference.ts';
import { idOf, type Scope } from './schema-index.ts';
import type { Dialect } from './schema-dialect.ts';
import type { Link, Linked, Target } from './schema-link.ts';
import { hasAncestor } from './schema-check.ts';
import { isUrlPath, parseDocumentUrl } from '../../model/address.ts';

/**
 * Bundles the entry and the files that it references into one equivalent schema. Returns
 * `entry.exact` itself when it references no other file.
 *
 * By default, references become pointers into the entry's definitions, which every tool
 * understands, and the ids and anchors of embedded schemas are dropped. Where that could change the
 * meaning (`$dynamicRef`, `$recursiveRef`, ids below the root), whole files are embedded as schema
 * resources and referenced by URI (JSON Schema 2020-12 §9.3.1).
 */
export function bundleSchema(
  entry: ParsedFile,
  dialect: Dialect,
  linked: Linked,
): { bundle: unknown; problems: Problem[] } {
  const foreign = linked.links.filter(({ target }) => target !== null && target.file !== entry);
  if (!isObject(entry.value)) return { bundle: entry.value, problems: [] };
  if (foreign.length === 0) return { bundle: rewriteOwn(entry, linked), problems: [] };
  return needsResources(entry, dialect, linked)
    ? bundleResources(entry, dialect, linked, foreign)
    : { bundle: bundlePointers(entry, dialect, linked, foreign), problems: [] };
}

function rewriteOwn(entry: ParsedFile, { links }: Linked): unknown {
  const edits = new Map<string, string>();
  for (const { pointer, keyword, text, scope, target } of links) {
    if (target !== null && isOwnName(text, scope, target))
      edits.set(joinPointer(pointer, keyword), fragmentOf(target.pointer));
  }
  return edits.size === 0 ? entry.exact : edit(entry.exact, '', edits);
}

/** Whether a file references itself by its name, which does not resolve once it is published. */
function isOwnName(text: string, scope: Scope, target: Target): boolean {
  const { resource } = scope;
  return !text.startsWith('#') && target.resource === resource && !resource.stated && resource.pointer === '';
}

const dynamicKeywords = ['$recursiveRef', '$recursiveAnchor', '$dynamicRef', '$dynamicAnchor'];

function needsResources(entry: ParsedFile, dialect: Dialect, { links, reached, index }: Linked): boolean {
  for (const [file, schemas] of reached) {
    for (const [pointer, schema] of schemas) {
      if (!isObject(schema)) continue;
      if (dynamicKeywords.some((keyword) => Object.hasOwn(schema, keyword))) return true;
      const id = idOf(dialect, schema);
      if (file !== entry && pointer !== '' && id !== null && !(dialect.anchorsInId && id.startsWith('#'))) return true;
      if (file !== entry && index.scopeAt(file, pointer).resource.pointer !== '') return true;
    }
  }
  return links.some(({ target, file, scope }) => target?.file !== file && scope.resource.pointer !== '');
}

function bundlePointers(entry: ParsedFile, dialect: Dialect, { links, reached }: Linked, foreign: Link[]): unknown {
  const names = chooseEmbedded(entry, dialect, foreign);
  const edits = new Map<ParsedFile, Map<string, string | null>>();
  const editsOf = (file: ParsedFile) => edits.getOrInsertComputed(file, () => new Map<string, string | null>());
  const place = (file: ParsedFile, pointer: string): string => {
    if (file === entry) return pointer;
    const name = names.get(file)!;
    const root = outwards(pointer).find((one) => name.has(one))!;
    return joinPointer('', dialect.definitionsKeyword, name.get(root)!) + pointer.slice(root.length);
  };
  for (const { target, file, pointer, keyword, text, scope } of links) {
    if (target === null) continue;
    if (file === entry && target.file === entry && !isOwnName(text, scope, target)) continue;
    editsOf(file).set(joinPointer(pointer, keyword), fragmentOf(place(target.file, target.pointer)));
  }
  for (const file of names.keys()) {
    for (const [pointer, schema] of reached.get(file)!) {
      // Its names leave: an embedded schema is found by its pointer instead.
      for (const key of ['$schema', '$anchor', dialect.idKeyword])
        if (typeof objectOf(schema)[key] === 'string') editsOf(file).set(joinPointer(pointer, key), null);
    }
  }
  const schemas = [...names].flatMap(([file, own]) =>
    [...own].map(([pointer, name]) => {
      const target = followPointer(file.exact, pointer);
      return [name, edit(target === undefined ? true : target, pointer, editsOf(file))] as const;
    }),
  );
  return withDefinitions(edit(entry.exact, '', editsOf(entry)), dialect, schemas);
}

/** The outermost referenced parts of other files, by file and pointer, each with an unused name. */
function chooseEmbedded(
  entry: ParsedFile,
  dialect: Dialect,
  foreign: readonly Link[],
): Map<ParsedFile, Map<string, string>> {
  const pointers = new Map<ParsedFile, Set<string>>();
  for (const { target } of foreign) {
    const { file, pointer } = target!;
    pointers.getOrInsert(file, new Set()).add(pointer);
  }
  const freeName = createFreeName(takenNames(entry, dialect), 'schema');
  return new Map(
    [...pointers].map(([file, all]) => {
      const largest = [...all].filter((pointer) => !hasAncestor(pointer, all));
      const nameOf = (pointer: string) => freeName(parsePointer(pointer).at(-1) ?? stem(file.path));
      return [file, new Map(largest.map((pointer) => [pointer, nameOf(pointer)]))];
    }),
  );
}

function bundleResources(
  entry: ParsedFile,
  dialect: Dialect,
  { links, index }: Linked,
  foreign: Link[],
): { bundle: unknown; problems: Problem[] } {
  const problems = index.duplicates.map(({ file, pointer, uri }) =>
    problemAt(
      file,
      pointer,
      'schema-id-duplicate',
      `Another schema in this bundle has the same id, ${uri}. Give each schema its own id.`,
    ),
  );
  const others = [...new Set(foreign.map(({ target }) => target!.file))];
  const freeName = createFreeName(takenNames(entry, dialect), 'schema');
  const mustBeNamed = links.some(
    ({ file, target }) => file !== entry && target?.file === entry && !index.add(entry).stated,
  );
  const rewritten = (file: ParsedFile) => {
    const edits = new Map<string, string>();
    for (const { file: from, target, text, pointer, keyword, scope } of links) {
      if (from !== file || target === null || text.startsWith('#')) continue;
      if (scope.resource.stated && isAbsolute(text)) continue;
      const fragment = target.pointer.slice(target.resource.pointer.length);
      const dynamic = keyword === '$dynamicRef' ? text.slice(text.indexOf('#')) : null;
      const local = target.resource === scope.resource;
      const tail = dynamic ?? (fragment === '' && !local ? '' : fragmentOf(fragment));
      edits.set(joinPointer(pointer, keyword), (local ? '' : target.resource.uri) + tail);
    }
    return edit(file.exact, '', edits);
  };
  const schemas = others.map((file) => {
    const name = freeName(stem(file.path));
    return [name, asResource(rewritten(file), index.add(file).uri, dialect)] as const;
  });
  const root = rewritten(entry);
  const named =
    mustBeNamed && isObject(root)
      ? { [dialect.idKeyword]: index.add(entry).uri, ...without(root, dialect.idKeyword) }
      : root;
  return { bundle: withDefinitions(named, dialect, schemas), problems };
}

/**
 * The schema with its URI as id. In drafts that ignore keywords beside `$ref`, `$ref` moves to
 * `allOf`.
 */
function asResource(schema: unknown, uri: string, dialect: Dialect): unknown {
  const id = { [dialect.idKeyword]: uri };
  if (!isObject(schema)) return { ...id, allOf: [schema] };
  const rest = without(without(schema, '$schema'), dialect.idKeyword);
  if (!dialect.refStandsAlone || typeof rest['$ref'] !== 'string') return { ...id, ...rest };
  const definitions = isObject(rest['definitions']) ? { definitions: rest['definitions'] } : {};
  return { ...id, allOf: [{ $ref: rest['$ref'] }], ...definitions };
}

function withDefinitions(root: unknown, dialect: Dialect, schemas: readonly (readonly [string, unknown])[]): unknown {
  const { definitionsKeyword } = dialect;
  const value = root as JsonObject;
  const definitions = Object.fromEntries([...Object.entries(objectOf(value[definitionsKeyword])), ...schemas]);
  return Object.fromEntries([...Object.entries(without(value, definitionsKeyword)), [definitionsKeyword, definitions]]);
}

function takenNames(entry: ParsedFile, { definitionsKeyword }: Dialect): Set<string> {
  return new Set(Object.keys(objectOf(objectOf(entry.value)[definitionsKeyword])));
}

/** Copies plain data. `edits`, by pointer, replaces a string, or with null removes a member. */
function edit(value: unknown, pointer: string, edits: ReadonlyMap<string, string | null>): unknown {
  if (Array.isArray(value)) return value.map((item, at) => edit(item, joinPointer(pointer, at), edits));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, child]) => [key, child, joinPointer(pointer, key)] as const)
        .filter(([, , at]) => edits.get(at) !== null)
        .map(([key, child, at]) => [key, edit(child, at, edits)]),
    );
  return typeof value === 'string' ? (edits.get(pointer) ?? value) : value;
}

function without(value: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

/** The name of a file without folders and extension, or of a registry's document. */
function stem(path: string): string {
  if (isUrlPath(path)) return parseDocumentUrl(path)?.coordinate.slug ?? '';
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.schema)?\.(?:json|ya?ml)$/i, '');
}
