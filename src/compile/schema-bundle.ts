import type { Problem } from '../model/problem.ts';
import { problemAt } from './kind.ts';
import type { ParsedFile } from './parse.ts';
import { followPointer, fragmentOf, joinPointer, parsePointer } from './pointer.ts';
import { idOf, isAbsolute, type Resource } from './schema-index.ts';
import { isObject, type Dialect } from './schema-dialect.ts';
import type { Link, Linked } from './schema-link.ts';

/** A schema of another file that is brought in: the whole file, or the part that is referred to. */
interface Embedded {
  file: ParsedFile;
  pointer: string;
  name: string;
}

/**
 * One schema that means what the entry and the files it refers to mean. `entry.value` itself when there is nothing to bring in.
 *
 * Where it can, references are rewritten to pointers into the entry's definitions, which every tool understands, and ids and anchors of what is
 * brought in are dropped. Where that could change the meaning (`$dynamicRef`, `$recursiveRef`, ids below the root), files are
 * brought in whole as schema resources with a URI each, and references are by URI (JSON Schema 2020-12 §9.3.1).
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

/** References to the entry by its own file name lead nowhere once it is published under a URL. */
function rewriteOwn(entry: ParsedFile, { links }: Linked): unknown {
  const edits = new Map<string, string>();
  for (const link of links) {
    const { target, text, scope } = link;
    if (target === null || text.startsWith('#') || scope.resource.stated) continue;
    if (target.resource === scope.resource && target.resource.pointer === '')
      edits.set(joinPointer(link.pointer, link.keyword), fragmentOf(target.pointer));
  }
  return edits.size === 0 ? entry.value : edit(entry.value, '', (pointer) => edits.get(pointer));
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

function bundlePointers(entry: ParsedFile, dialect: Dialect, { links }: Linked, foreign: Link[]): unknown {
  const embedded = chooseEmbedded(entry, dialect, foreign);
  const place = (file: ParsedFile, pointer: string): string => {
    if (file === entry) return pointer;
    const { name, pointer: root } = embedded.find((one) => one.file === file && isBelow(pointer, one.pointer))!;
    return joinPointer('', dialect.definitionsKeyword, name) + pointer.slice(root.length);
  };
  const edits = new Map<ParsedFile, Map<string, string>>();
  for (const { target, file, pointer, keyword, text } of links) {
    if (target === null || (file === entry && target.file === entry && text.startsWith('#'))) continue;
    if (file === entry && target.file === entry && target.resource.stated) continue;
    const own = edits.get(file) ?? new Map<string, string>();
    edits.set(file, own.set(joinPointer(pointer, keyword), fragmentOf(place(target.file, target.pointer))));
  }
  const schemas = embedded.map(({ file, pointer, name }) => {
    const { value } = followPointer(file.value, pointer) as { value: unknown };
    const rewritten = edit(value, pointer, (at) => edits.get(file)?.get(at));
    return [name, stripIdentity(rewritten, dialect)] as const;
  });
  return withDefinitions(
    edit(entry.value, '', (at) => edits.get(entry)?.get(at)),
    dialect,
    schemas,
  );
}

/** The largest parts of other files that are referred to, each with a name that is free in the entry's definitions. */
function chooseEmbedded(entry: ParsedFile, dialect: Dialect, foreign: readonly Link[]): Embedded[] {
  const targets = foreign.map(({ target }) => target!);
  const taken = takenNames(entry, dialect);
  const chosen: Embedded[] = [];
  for (const { file, pointer } of targets) {
    const inside = (outer: { file: ParsedFile; pointer: string }) =>
      outer.file === file && isBelow(pointer, outer.pointer);
    if (chosen.some(inside) || targets.some((other) => other.pointer !== pointer && inside(other))) continue;
    const wanted = parsePointer(pointer).at(-1) ?? stem(file.path);
    chosen.push({ file, pointer, name: freeName(wanted, taken) });
  }
  return chosen;
}

function bundleResources(
  entry: ParsedFile,
  dialect: Dialect,
  { links, index }: Linked,
  foreign: Link[],
): { bundle: unknown; problems: Problem[] } {
  const rootOf = (file: ParsedFile) => index.add(file);
  const problems = index.duplicates.map(({ file, pointer, uri }) =>
    problemAt(file, pointer, 'schema-id-duplicate', `The id ${uri} is stated by another schema of this bundle too.`),
  );
  const others = [...new Set(foreign.map(({ target }) => target!.file))];
  const taken = takenNames(entry, dialect);
  const uriOf = (resource: Resource) => resource.uri;
  const mustBeNamed = links.some(
    ({ file, target }) => file !== entry && target?.file === entry && !rootOf(entry).stated,
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
      edits.set(joinPointer(pointer, keyword), (local ? '' : uriOf(target.resource)) + tail);
    }
    return edit(file.value, '', (at) => edits.get(at));
  };
  const schemas = others.map((file) => {
    const name = freeName(stem(file.path), taken);
    return [name, asResource(rewritten(file), rootOf(file).uri, dialect)] as const;
  });
  const root = rewritten(entry);
  const named =
    mustBeNamed && isObject(root)
      ? { [dialect.idKeyword]: rootOf(entry).uri, ...without(root, dialect.idKeyword) }
      : root;
  return { bundle: withDefinitions(named, dialect, schemas), problems };
}

/** The schema with its URI stated. Where keywords beside `$ref` are ignored, an id beside it would be too: the reference moves into `allOf`. */
function asResource(schema: unknown, uri: string, dialect: Dialect): unknown {
  const id = { [dialect.idKeyword]: uri };
  if (!isObject(schema)) return { ...id, allOf: [schema] };
  const rest = without(without(schema, '$schema'), dialect.idKeyword);
  if (!dialect.refStandsAlone || typeof rest['$ref'] !== 'string') return { ...id, ...rest };
  const definitions = isObject(rest['definitions']) ? { definitions: rest['definitions'] } : {};
  return { ...id, allOf: [{ $ref: rest['$ref'] }], ...definitions };
}

function stripIdentity(schema: unknown, dialect: Dialect): unknown {
  if (!isObject(schema)) return schema;
  const names = new Set(['$schema', '$anchor']);
  const strip = (value: unknown): unknown => {
    if (!isObject(value)) return value;
    const id = value[dialect.idKeyword];
    return Object.fromEntries(
      Object.entries(value).filter(
        ([key]) => !names.has(key) && !(key === dialect.idKeyword && typeof id === 'string'),
      ),
    );
  };
  return strip(schema);
}

function withDefinitions(root: unknown, dialect: Dialect, schemas: readonly (readonly [string, unknown])[]): unknown {
  const { definitionsKeyword } = dialect;
  const value = root as Record<string, unknown>;
  const own = isObject(value[definitionsKeyword]) ? Object.entries(value[definitionsKeyword]) : [];
  const definitions = Object.fromEntries([...own, ...schemas]);
  return Object.fromEntries([...Object.entries(without(value, definitionsKeyword)), [definitionsKeyword, definitions]]);
}

function takenNames(entry: ParsedFile, { definitionsKeyword }: Dialect): Set<string> {
  const own = isObject(entry.value) ? entry.value[definitionsKeyword] : null;
  return new Set(isObject(own) ? Object.keys(own) : []);
}

/** A copy of plain data in which the strings at some pointers are others. Members keep their order. */
function edit(value: unknown, pointer: string, replacement: (pointer: string) => string | undefined): unknown {
  if (Array.isArray(value)) return value.map((item, at) => edit(item, joinPointer(pointer, at), replacement));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => [key, edit(child, joinPointer(pointer, key), replacement)]),
    );
  return typeof value === 'string' ? (replacement(pointer) ?? value) : value;
}

function without(value: Record<string, unknown>, key: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

function isBelow(pointer: string, root: string): boolean {
  return pointer === root || pointer.startsWith(`${root}/`);
}

function freeName(wanted: string, taken: Set<string>): string {
  const plain = wanted.replace(/[^A-Za-z0-9._-]+/g, '-') || 'schema';
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
  taken.add(name);
  return name;
}

function stem(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.schema)?\.(?:json|ya?ml)$/i, '');
}
