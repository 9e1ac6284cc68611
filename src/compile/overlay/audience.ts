import { isObject, type JsonObject } from '../../model/json.ts';
import { type Holds, holdsOf, isBesidePaths, methods } from '../../model/openapi-shape.ts';
import { listOf, objectOf, pointerKeys, resolveLocal, textOf } from '../../render/json-value.ts';
import { followPointer, joinPointer, parsePointer, pointerIn } from '../../model/pointer.ts';
import { discriminatedIn, targetOf } from './discriminated.ts';
import { type Forgotten, forgetNames, namesAny, placesOf, reaching, schemeName } from './forget-names.ts';

/** Maps whose members are named by the author. */
const namedMaps = new Set(
  'paths webhooks x-webhooks properties $defs definitions headers links parameters schemas requestBodies securitySchemes securityDefinitions pathItems callbacks mediaTypes'.split(' '), // prettier-ignore
);

/** Maps in which `x-…` is taken for an extension, more than may have one: what is not clear excludes. */
const extended = new Set(['paths', 'webhooks', 'x-webhooks', 'responses', 'callbacks']);

/** What an audience gets, beside the document that was changed. */
export interface Kept {
  /** The names of the operations that are gone. */
  removed: string[];
  /** How many marks are neither one thing nor the other. What they mark is gone. */
  unclear: number;
  /** Whether something would need a security scheme that is gone. */
  isOpened: boolean;
  /** The JSON Pointers of bodies that would say nothing of what they hold. */
  bodiless: string[];
  /** Those of operations whose path names a parameter that is gone. */
  unnamed: string[];
}

/** What describes no value, or what only says more about others. */
const labels = new Set(
  'title description type format nullable deprecated readOnly writeOnly default example examples externalDocs xml discriminator $comment'.split(' '), // prettier-ignore
);

/** Keywords of a schema that hold others, a list of them, or a map. */
const inner = new Set(
  'allOf not if then else contains additionalProperties additionalItems unevaluatedProperties unevaluatedItems propertyNames'.split(' '), // prettier-ignore
);
const innerMaps = new Set(['properties', 'patternProperties']);

const isOperation = (key: string) => methods.has(key) || key === 'additionalOperations';

/**
 * Leaves out of a bundled document what is not for an audience: every operation, parameter, property, tag and other node
 * with `x-internal` (unless it is false, or the audience is `internal`) or an `x-audience` that does not name it, what only
 * such nodes describe (`makingsOf`) and references to it, then what only these used (path items and webhooks without
 * operations, components, tags), and the names of all that in what is left. What would forbid more without it goes whole. A
 * mark that is not clear excludes. Changes the document in place.
 */
export function keepAudience(document: JsonObject, audience: string): Kept {
  const before = {
    operations: operationsIn(document),
    used: usedIn(document),
    names: allNames(document),
    inPaths: pathParametersIn(document),
    discriminated: discriminatedIn(document, placesOf(document).keys()),
    ...namesIn(document),
  };
  const unclear = new Set<object>();
  const isMarked = (node: JsonObject): boolean => {
    if (isUnclear(node)) unclear.add(node);
    return isExcluded(node, audience);
  };
  const isOut = createJudge(document, isMarked);
  // First what is marked, then what is marked through a reference: a component is gone only after both.
  const lost = prune(document, isOut, isMarked);
  for (const [section, items] of itemsOf(document)) dropEmptyItems(items, section === 'webhooks');
  const after = usedIn(document);
  for (const section of componentsOf(document))
    for (const name of Object.keys(section.map)) {
      const pointer = joinPointer(section.pointer, name);
      if (before.used.has(pointer) && !after.has(pointer)) delete section.map[name];
    }
  const isKept = (tag: unknown) => {
    const key = `tag ${textOf(objectOf(tag)['name'])}`;
    return !before.used.has(key) || after.has(key);
  };
  if (Array.isArray(document['tags'])) document['tags'] = document['tags'].filter(isKept);
  const left = namesIn(document);
  const names = before.names.difference(allNames(document));
  const forgotten = forgetNames(document, {
    properties: lost,
    names,
    operationIds: before.operationIds.difference(left.operationIds),
    securitySchemes: before.securitySchemes.difference(left.securitySchemes),
    tags: before.tags.difference(left.tags),
    discriminated: before.discriminated,
  });
  loosen(document, lost, forgotten);
  forgetExtensions(document, names);
  const operations = new Set(operationsIn(document));
  const inPaths = pathParametersIn(document);
  return {
    removed: before.operations.filter((name) => !operations.has(name)),
    unclear: unclear.size,
    isOpened: forgotten.isOpened,
    bodiless: bodilessIn(document, lost),
    unnamed: [...before.inPaths].flatMap(([pointer, named]) =>
      (inPaths.get(pointer)?.size ?? named.size) < named.size ? [pointer] : [],
    ),
  };
}

function pathParametersIn(document: JsonObject): Map<string, Set<unknown>> {
  const resolved = (node: unknown): JsonObject =>
    objectOf(isObject(node) && typeof node['$ref'] === 'string' ? resolveLocal(document, node['$ref']) : node);
  const found = new Map<string, Set<unknown>>();
  for (const [path, item] of Object.entries(objectOf(document['paths'])))
    for (const [method, operation] of Object.entries(resolved(item))) {
      if (!methods.has(method)) continue;
      const all = [resolved(item), operation].flatMap((one) => listOf(objectOf(one)['parameters'])).map(resolved);
      const named = all.filter(({ in: place, name }) => place === 'path' && path.includes(`{${textOf(name)}}`));
      found.set(joinPointer('/paths', path, method), new Set(named.map(({ name }) => name)));
    }
  return found;
}

/** Tells whether a node is out: by its mark, by its reference, or by all that it is made of, in circles too. */
function createJudge(document: JsonObject, isMarked: (node: JsonObject) => boolean): (node: unknown) => boolean {
  const targetsOf = createTargets(document);
  const [seen, out] = [new Set<unknown>(), new Set<unknown>()];
  /** The groups with a node, each with how many of its nodes are not out. */
  const groupsWith = new Map<unknown, { owner: JsonObject; left: number }[]>();
  return (asked) => {
    if (seen.has(asked)) return out.has(asked);
    const [open, found] = [new Set([asked]), new Set<unknown>()];
    for (const node of open) {
      if (!isObject(node) || seen.has(node)) continue;
      seen.add(node);
      if (isMarked(node)) found.add(node);
      for (const all of found.has(node) ? [] : [...targetsOf(node), ...makingsOf(node, 'swagger' in document)]) {
        if (all.length === 0 || !all.every(isObject)) continue;
        const parts = new Set(all).difference(out);
        if (parts.size === 0) found.add(node);
        const group = { owner: node, left: parts.size };
        for (const part of parts) groupsWith.getOrInsertComputed(part, () => []).push(group);
        for (const part of parts) open.add(part);
      }
    }
    for (const node of found) {
      out.add(node);
      for (const group of groupsWith.get(node) ?? []) if (--group.left === 0) found.add(group.owner);
    }
    return out.has(asked);
  };
}

/** What a node refers to, in groups: all that have an anchor, or the target of an address and each node around it. */
function createTargets(document: JsonObject): (node: JsonObject) => unknown[][] {
  let anchors: Map<unknown, JsonObject[]> | null = null;
  const anchorsIn = () =>
    Map.groupBy([...placesOf(document).keys()].filter(isObject), ({ $anchor, $dynamicAnchor }) => $anchor ?? $dynamicAnchor); // prettier-ignore
  return ({ $ref, $dynamicRef }) =>
    [$ref, $dynamicRef].map(textOf).flatMap((reference) => {
      if (/^#[^/]/.test(reference)) return [(anchors ??= anchorsIn()).get(reference.slice(1)) ?? []];
      if (!reference.startsWith('#/')) return [];
      const around: unknown[][] = [];
      let [at, map]: [unknown, string | null] = [document, null];
      for (const key of pointerKeys(reference)) {
        if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return [];
        const child: unknown = (at as JsonObject)[key];
        const holds: Holds = Array.isArray(at) ? 'node' : holdsOf(map, key, child, 'swagger' in document);
        map = holds === 'map' ? key : null;
        if (holds === 'node') around.push([child]);
        at = child;
      }
      return [...around, [at]];
    });
}

/**
 * What a node is made of, in groups: where all of one is out, so is the node. An array is made of its items, a parameter or
 * media type of its schema, and a schema of all that it says. In OpenAPI 2.0, only bodies have a `schema`.
 */
function makingsOf(node: JsonObject, isOld: boolean): unknown[][] {
  const { oneOf, anyOf, items, prefixItems, schema, itemSchema, properties } = node;
  const said = Object.keys(node).flatMap((key): unknown[] => {
    if (labels.has(key) || key.startsWith('x-') || (inner.has(key) && typeof node[key] === 'boolean')) return [];
    if (key === 'required') return listOf(node[key]).map((name) => objectOf(properties)[String(name)]);
    if (innerMaps.has(key)) return Object.values(objectOf(node[key]));
    return inner.has(key) ? [node[key]].flat() : [null];
  });
  const inUrl = Object.entries(objectOf(node['variables'])).filter(([name]) =>
    textOf(node['url']).includes(`{${name}}`),
  );
  const alone = [
    ...[items, prefixItems].flat(),
    ...(isOld ? [] : [schema, itemSchema]),
    ...inUrl.map(([, one]) => one),
  ];
  return [listOf(oneOf), listOf(anyOf), said, ...alone.map((one) => [one])];
}

/** The pointers of bodies whose schema, or every media type, is gone. */
function bodilessIn(document: JsonObject, lost: Lost): string[] {
  const bare: object[] = [];
  visit(document, ({ node, map }) => {
    const content = map === null && (node as JsonObject)['content'];
    const isEmptied = isObject(content) && lost.has(content) && Object.keys(content).length === 0;
    if (isEmptied || lost.get(node)?.has('schema')) bare.push(node);
  });
  const places = bare.length > 0 ? placesOf(document) : new Map<object, never>();
  const pointerOf = (node: object): string => {
    const at = places.get(node);
    return at === undefined ? '' : joinPointer(pointerOf(at.holder), at.key);
  };
  return bare.map(pointerOf);
}

/**
 * Takes out what would forbid more than before, since a part of it is gone: `not` and conditions whole, alternatives that
 * demand what is gone, and that no more than one of them may be true.
 */
function loosen(document: JsonObject, lost: Lost, { touched, loosened, needing }: Forgotten): void {
  const less = reaching(document, [...lost.keys(), ...touched]);
  const wider = new Set<object>(loosened);
  const eachSchema = (see: (node: JsonObject) => void) =>
    visit(document, ({ node, map }) => {
      if (map === null && isObject(node)) see(node);
    });
  eachSchema((node) => {
    const isLess = (key: string) => isObject(node[key]) && less.has(node[key]);
    const keys = isLess('not') ? ['not'] : [];
    if (isLess('if') || lost.get(node)?.has('if')) keys.push('if', 'then', 'else');
    for (const key of keys) delete node[key];
    // Without a property that is gone, or an alternative of `anyOf`, nothing more is allowed.
    const parts = Object.entries(node).filter(([key]) => key !== 'properties' && key !== 'anyOf');
    if (keys.length > 0 || lost.has(node) || parts.some(([, part]) => lost.has(part as object))) wider.add(node);
  });
  const widened = reaching(document, wider);
  const needs: ReadonlySet<unknown> = needing;
  const isNeeding = (one: unknown) => needs.has(one) || needs.has(targetOf(document, one));
  eachSchema((node) => {
    for (const key of ['anyOf', 'oneOf']) {
      const all = listOf(node[key]);
      if (!all.some((one) => widened.has(one))) continue;
      const left = all.filter((one) => !isNeeding(one));
      delete node[key];
      if (left.length === 0) continue;
      if (!left.some((one) => widened.has(one))) node[key] = left;
      else if (node['anyOf'] === undefined) node['anyOf'] = left;
      else node['allOf'] = [...listOf(node['allOf']), { anyOf: left }];
    }
  });
}

function namesIn(document: JsonObject): Record<'operationIds' | 'securitySchemes' | 'tags', Set<string>> {
  const { pathItems, securitySchemes } = objectOf(document['components']);
  const items = [...itemsOf(document).map(([, map]) => map), objectOf(pathItems)].flatMap(Object.values);
  const schemes = [securitySchemes, document['securityDefinitions']];
  const names = (values: unknown[], key: string) =>
    new Set(values.flatMap((value) => (isObject(value) && typeof value[key] === 'string' ? [value[key]] : [])));
  return {
    operationIds: names(items.map(objectOf).flatMap(Object.values), 'operationId'),
    securitySchemes: new Set(schemes.flatMap((map) => Object.keys(objectOf(map)))),
    tags: names(listOf(document['tags']), 'name'),
  };
}

function itemsOf(document: JsonObject): [section: string, map: JsonObject][] {
  return ['paths', 'webhooks', 'x-webhooks'].map((section) => [section, objectOf(document[section])]);
}

/** Whether it is not for the audience. A mark that nobody can read is taken for one that excludes. */
function isExcluded(node: JsonObject, audience: string): boolean {
  const { 'x-internal': internal = false, 'x-audience': named } = node;
  if (internal !== false && audience !== 'internal') return true;
  if (named === undefined) return false;
  return Array.isArray(named) ? !named.includes(audience) : named !== audience;
}

/** Whether a mark says neither yes nor no: `x-internal: yes`, `x-audience: null`. */
function isUnclear({ 'x-internal': internal = false, 'x-audience': named = '' }: JsonObject): boolean {
  const names: unknown[] = Array.isArray(named) ? named : [named];
  return typeof internal !== 'boolean' || !names.every((name) => typeof name === 'string');
}

/** What is gone from each object or list that lost members. */
type Lost = ReadonlyMap<object, ReadonlySet<string>>;

/** Removes all nodes that are out, wherever they stand, except the root and `info`. A map of names is so only by its mark. */
function prune(document: JsonObject, isOut: (node: unknown) => boolean, isMarked: (node: JsonObject) => boolean): Lost {
  // Judged before anything is gone, since references lead through what is removed.
  const doomed = new Map<object, Set<string>>();
  visit(document, ({ node, map, members }) => {
    const { discriminator } = node as { discriminator?: unknown };
    if (map === null && isObject(discriminator)) forgetMapped(document, discriminator, isOut);
    // An empty `allOf` is not valid.
    const isEmptied = ({ key, child }: Member) =>
      key === 'allOf' && Array.isArray(child) && child.every((part) => isOut(part));
    const isGone = ({ map: name, child }: Member) =>
      name === null ? isOut(child) : !isNamed(name, child) && isObject(child) && isMarked(child);
    const keys = new Set(members.filter((one) => isGone(one) || isEmptied(one)).map(({ key }) => key));
    if (keys.size > 0) doomed.set(node, keys);
    return ({ key }) => !keys.has(key);
  });
  for (const [from, keys] of doomed)
    if (Array.isArray(from)) from.splice(0, from.length, ...from.filter((_, index) => !keys.has(String(index))));
    else for (const key of keys) delete (from as JsonObject)[key];
  return doomed;
}

/** A part of a node that is no data of users. `map`: which map of names it is; null: it is none. */
interface Member {
  key: string;
  child: object;
  map: string | null;
}

/** Shows every node of a document with its parts. What is returned says which of these are visited; default: all. */
function visit(
  document: JsonObject,
  see: (at: { node: object; map: string | null; members: Member[] }) => ((member: Member) => boolean) | void,
): void {
  const open: { node: object; map: string | null }[] = [{ node: document, map: null }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, map } = next;
    const members = Object.entries(node).flatMap(([key, child]: [string, unknown]): Member[] => {
      if (typeof child !== 'object' || child === null) return [];
      const holds = Array.isArray(node) ? 'node' : holdsOf(map, key, child, 'swagger' in document);
      // In a map, a mark may also be a name: `isNamed` tells.
      const isPassedOver = holds === 'data' || (holds === 'extension' && map === null);
      if (isPassedOver || (node === document && key === 'info')) return [];
      return [{ key, child, map: holds === 'map' ? key : null }];
    });
    const isVisited = see({ node, map, members }) ?? (() => true);
    for (const member of members) if (isVisited(member)) open.push({ node: member.child, map: member.map });
  }
}

function allNames(document: JsonObject): Set<string> {
  const names = new Set<string>();
  visit(document, ({ node, map }) => {
    // Those of a link only name parameters of other operations.
    if (map !== null && namedMaps.has(map))
      for (const [name, value] of Object.entries(node)) if (isObject(value)) names.add(name);
    if (map !== null) return;
    for (const key of ['name', 'operationId']) {
      const name = (node as JsonObject)[key];
      if (typeof name === 'string') names.add(name);
    }
  });
  return names;
}

/**
 * Leaves out extensions that say a name of what is gone, since nobody knows what they mean, and the marks that were
 * read, which name other audiences.
 */
function forgetExtensions(document: JsonObject, names: ReadonlySet<string>): void {
  const isMark = (key: string, value: unknown) => key === 'x-audience' || (key === 'x-internal' && value !== true);
  const forget = (node: object) => {
    for (const [key, value] of Object.entries(node))
      if (
        isMark(key, value) ||
        (key.startsWith('x-') && !/^x-(?:webhooks|internal)$/.test(key) && namesAny(value, names))
      )
        delete (node as JsonObject)[key];
  };
  visit(document, ({ node, map }) => {
    if (!Array.isArray(node) && (map === null || extended.has(map))) forget(node);
  });
  if (isObject(document['info'])) forget(document['info']);
}

function forgetMapped(document: JsonObject, discriminator: JsonObject, isOut: (node: unknown) => boolean): void {
  const isGone = (target: unknown) =>
    typeof target === 'string' &&
    [resolveLocal(document, target), followPointer(document, joinPointer('/components/schemas', target))].some(isOut);
  const { mapping, defaultMapping } = discriminator;
  if (isGone(defaultMapping)) delete discriminator['defaultMapping'];
  if (!isObject(mapping)) return;
  for (const [value, target] of Object.entries(mapping)) if (isGone(target)) delete mapping[value];
}

/** Whether a mark in a map is one of its names: a property `x-internal`. */
function isNamed(key: string, map: object): boolean {
  const marks = [(map as JsonObject)['x-internal'], (map as JsonObject)['x-audience']];
  return !extended.has(key) || marks.some(isObject);
}

function dropEmptyItems(items: JsonObject, isWebhook: boolean): void {
  for (const [name, item] of Object.entries(items)) {
    if (!isObject(item) || isBesidePaths(name, isWebhook) || typeof item['$ref'] === 'string') continue;
    if (!Object.keys(item).some(isOperation)) delete items[name];
  }
}

/** The maps of components, by their pointers: those of OpenAPI 3, and those of 2.0. */
function componentsOf(document: JsonObject): { pointer: string; map: JsonObject }[] {
  const sections = Object.entries(objectOf(document['components'])).map(([key, map]) => [`/components/${key}`, map]);
  const old = ['definitions', 'parameters', 'responses'].map((key) => [`/${key}`, document[key]]);
  return [...sections, ...old].flatMap(([pointer, map]) => (isObject(map) ? [{ pointer: String(pointer), map }] : []));
}

/** The components and tags that the operations use, also through other components. */
function usedIn(document: JsonObject): Set<string> {
  const used = new Set<string>();
  const sections = new Set<unknown>(componentsOf(document).map(({ map }) => map));
  const open: unknown[] = [document];
  const use = (at: string) => {
    const pointer = componentOf(at);
    if (pointer === null || used.has(pointer)) return;
    used.add(pointer);
    open.push(followPointer(document, pointer));
  };
  while (open.length > 0) {
    // A reference may lead nowhere.
    const node = open.pop();
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      // A group of tags uses none of them.
      if (node === document && key === 'x-tagGroups') continue;
      if (typeof child === 'string' && child.startsWith('#/')) use(pointerIn(child));
      if (key === 'mapping')
        for (const name of Object.values(objectOf(child))) use(joinPointer('/components/schemas', textOf(name)));
      if (key === 'tags' && node !== document) for (const tag of listOf(child)) used.add(`tag ${textOf(tag)}`);
      if (key === 'security')
        for (const name of listOf(child).map(objectOf).flatMap(Object.keys))
          used.add(joinPointer('/components/securitySchemes', schemeName(name)));
      if (!sections.has(child)) open.push(child);
    }
  }
  return used;
}

function componentOf(pointer: string): string | null {
  const found = /^\/(?:components\/[^/]+|definitions|parameters|responses)\/[^/]+/.exec(pointer);
  return found && joinPointer('', ...parsePointer(found[0]));
}

/** The names of the operations: `GET /pets/{id}`, `WEBHOOK POST order`. */
export function operationsIn(document: JsonObject): string[] {
  return itemsOf(document).flatMap(([section, items]) =>
    Object.entries(items).flatMap(([path, item]) => {
      const about = section === 'paths' ? '' : 'WEBHOOK ';
      return Object.keys(objectOf(item)).flatMap((key) =>
        isOperation(key) ? [`${about}${key.toUpperCase()} ${path}`] : [],
      );
    }),
  );
}
