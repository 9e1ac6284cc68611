import { isObject, type JsonObject } from '../../model/json.ts';
import { parsePointer } from '../../model/pointer.ts';
import { listOf, objectOf, pointerKeys, resolveLocal, textOf } from '../../render/json-value.ts';
import { forgetDiscriminated, targetOf, type discriminatedIn } from './discriminated.ts';

/** What is gone from a document, by name. */
export interface Gone {
  /** The maps of properties that lost some, with the names of these. */
  properties: ReadonlyMap<object, ReadonlySet<string>>;
  /** All that nothing has any more. */
  names: ReadonlySet<string>;
  operationIds: ReadonlySet<string>;
  securitySchemes: ReadonlySet<string>;
  tags: ReadonlySet<string>;
  /** What every discriminator said before. */
  discriminated: ReturnType<typeof discriminatedIn>;
}

/** Who named what is gone. */
export interface Forgotten {
  /** Schemas that say something else now. */
  touched: ReadonlySet<object>;
  /** Those of them that allow more. */
  loosened: ReadonlySet<object>;
  /** Those of these that demand a property of which they say nothing. */
  needing: ReadonlySet<object>;
  /** Whether something had no security scheme but those that are gone: without them, it would seem to be open to all. */
  isOpened: boolean;
}

/** Schemas that are about the same object as the one in which they stand. */
const sameObject = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies'];

/**
 * Takes what is gone out of everything that names it: required and dependent members, discriminators, encodings, links,
 * callbacks, tags, and alternatives of security.
 */
export function forgetNames(document: JsonObject, gone: Gone): Forgotten {
  const places = placesOf(document);
  const nodes = [document, ...places.keys()].filter(isObject);
  const groupOf = groupsIn(document, nodes);
  const isNaming = createNaming(places, gone.properties);
  const lost = lostBy(groupOf, nodes, gone.properties, isNaming);
  const touched = forgetDiscriminated(document, nodes, gone.discriminated, groupOf);
  const [loosened, needing] = [new Set<object>(), new Set<object>()];
  const users = usersIn(document, nodes);
  const budget = { left: maxPlaces };
  let isOpened = false;
  for (const node of nodes) {
    const names = lost(node);
    if (names !== null && forgetIn(node, 'required', names))
      (isObject(node['properties']) ? loosened : needing).add(node);
    const isNamed = (name: string) => names!.has(name) && isNaming(node, name);
    if (names !== null && isObject(node['properties']) && dropKeys(node['properties'], isNamed)) loosened.add(node);
    if (names !== null && forgetProperties(node, names)) loosened.add(node);
    for (const key of ['default', 'const', 'enum']) {
      const value = node[key];
      if (gone.properties.size === 0 || typeof value !== 'object' || value === null) continue;
      if (key === 'enum' && !Object.values(value).some((each) => typeof each === 'object')) continue;
      const around = valuesAround(places, users, node, value, budget);
      if (around !== null && !forgetMembers(document, around, lost)) continue;
      loosened.add(node);
      // What stands in too many places to look at all of them might say something that is gone.
      if (around === null) delete node[key];
      else if (key === 'enum' && Array.isArray(value))
        // Without those that are equal to another one now.
        node[key] = [...new Map(value.map((each: unknown) => [JSON.stringify(each), each])).values()];
    }
    const parts = isObject(node['schema']) ? lost(node['schema']) : null;
    if (parts !== null && isObject(node['encoding'])) dropKeys(node['encoding'], (name) => parts.has(name));
    const isGone = (text: unknown, body: unknown) => typeof text === 'string' && leadsToGone(document, text, { names: gone.names, lost, schemas: schemasOf(document, body) }); // prettier-ignore
    if (isObject(node['links'])) {
      dropKeys(node['links'], (_, link) => leadsNowhere(document, link, gone.operationIds));
      for (const link of Object.values(node['links'])) forgetInLink(link, gone.names, (text) => isGone(text, node));
    }
    forgetCallbacks(objectOf(node['callbacks']), (text) => isGone(text, node['requestBody']));
    isOpened ||= forgetSecurity(node, gone.securitySchemes);
    forgetTags(node, node === document, gone.tags);
  }
  for (const node of needing) loosened.add(node);
  return { isOpened, touched: touched.union(loosened), loosened, needing };
}

/** Levels of all values below the schemas in which they stand. More would take seconds. */
const maxPlaces = 1_000_000;
const maxLevels = 200;

type Places = ReadonlyMap<object, { holder: object; key: string }>;

export function placesOf(document: JsonObject): Places {
  const places = new Map<object, { holder: object; key: string }>();
  const open: object[] = [document];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop())
    for (const [key, child] of Object.entries(holder) as [string, unknown][])
      if (typeof child === 'object' && child !== null && !places.has(child)) {
        places.set(child, { holder, key });
        open.push(child);
      }
  return places;
}

function usersIn(document: JsonObject, nodes: readonly JsonObject[]): ReadonlyMap<unknown, readonly JsonObject[]> {
  return Map.groupBy(nodes, (node) => targetOf(document, node));
}

/** Nodes, and all that hold them or refer to them, through any number of others. */
export function reaching(document: JsonObject, nodes: Iterable<object>): ReadonlySet<unknown> {
  const places = placesOf(document);
  const users = usersIn(document, [...places.keys()].filter(isObject));
  const found = new Set<object | undefined>(nodes);
  for (const at of found)
    if (at !== undefined) for (const outer of [places.get(at)?.holder, ...(users.get(at) ?? [])]) found.add(outer);
  return found;
}

/**
 * A value of a schema, or a list of them, and what it is a part of for the schemas in which that one stands, or which refer
 * to it. Null: these are too many.
 */
function valuesAround(
  places: Places,
  users: ReadonlyMap<unknown, readonly object[]>,
  schema: JsonObject,
  value: unknown,
  budget: { left: number },
): [unknown, unknown][] | null {
  const found: [unknown, unknown][] = [];
  const parts = Array.isArray(value) ? [value, ...(value as unknown[])] : [value];
  /** The keys that lead to the value, the innermost first. Null: as an item. */
  const ways = new Map<object, readonly (string | null)[]>([[schema, []]]);
  for (const [of, way] of ways) {
    budget.left -= parts.length * (way.length + 1);
    if (budget.left < 0 || way.length > maxLevels) return null;
    for (const each of parts)
      found.push([way.reduce<unknown>((part, key) => (key === null ? [part] : { [key]: part }), each), of]);
    const at = places.get(of);
    const outer = at && places.get(at.holder);
    const around: (readonly [object, readonly (string | null)[]])[] = (users.get(of) ?? []).map((user) => [user, way]);
    if (at && sameObject.includes(at.key)) around.push([at.holder, way]);
    else if (outer && sameObject.includes(outer.key)) around.push([outer.holder, way]);
    else if (at && outer?.key === 'properties') around.push([outer.holder, [...way, at.key]]);
    else if (at?.key === 'items') around.push([at.holder, [...way, null]]);
    for (const [holder, keys] of around) if (!ways.has(holder)) ways.set(holder, keys);
  }
  return found;
}

/**
 * Tells whether a schema only names a property that another one describes and lost: in a condition or an exclusion, or
 * within the schema that lost it.
 */
function createNaming(places: Places, properties: Gone['properties']): (node: JsonObject, name: string) => boolean {
  return (node, name) => {
    let isSame = true;
    for (let at = places.get(node); at !== undefined; at = places.get(at.holder)) {
      const { holder, key } = at;
      if (conditional.has(key)) return true;
      if (isSame && isObject(holder) && properties.get(objectOf(holder['properties']))?.has(name)) return true;
      if (!Array.isArray(holder) && !sameObject.includes(key)) isSame = false;
      if (key === 'components' || key === 'paths' || key === 'definitions') return false;
    }
    return false;
  };
}

const conditional = new Set(['not', 'if', 'then', 'else', 'dependentSchemas', 'dependencies', 'contains']);

/**
 * What is one for all schemas that describe the same object: those of `allOf` and the like, what they refer to, and what
 * these say of the same member or of the items.
 */
function groupsIn(document: JsonObject, nodes: readonly JsonObject[]): (node: JsonObject) => JsonObject {
  const parents = new Map<JsonObject, JsonObject>();
  /** What the schemas of a group say of each member. */
  const inner = new Map<JsonObject, Map<string, unknown>>();
  const open: [unknown, unknown][] = [];
  const rootOf = (node: JsonObject): JsonObject => {
    let root = node;
    for (let next = parents.get(root); next !== undefined; next = parents.get(root)) root = next;
    if (root !== node) parents.set(node, root);
    return root;
  };
  for (const node of nodes) {
    const own = new Map<string, unknown>();
    inner.set(node, own);
    for (const [name, one] of Object.entries(objectOf(node['properties']))) own.set(`.${name}`, one);
    for (const key of ['additionalProperties', 'items']) if (isObject(node[key])) own.set(key, node[key]);
    for (const part of [targetOf(document, node), ...partsOf(node)]) open.push([node, part]);
    if (isObject(node['contains'])) open.push([node['contains'], own.get('items')]);
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!next.every(isObject)) continue;
    const [less, more] = next.map(rootOf).sort((a, b) => inner.get(a)!.size - inner.get(b)!.size);
    if (less === more) continue;
    parents.set(less!, more!);
    const said = inner.get(more!)!;
    for (const [key, one] of inner.get(less!)!)
      if (said.has(key)) open.push([one, said.get(key)]);
      else said.set(key, one);
  }
  return rootOf;
}

/** For a schema, the properties that its object lost and does not have by another schema of its group. Null: none. */
function lostBy(
  rootOf: (node: JsonObject) => JsonObject,
  nodes: readonly JsonObject[],
  properties: Gone['properties'],
  isNaming: (node: JsonObject, name: string) => boolean,
): (node: JsonObject) => ReadonlySet<string> | null {
  const [gone, kept] = [new Map<JsonObject, Set<string>>(), new Map<JsonObject, Set<string>>()];
  for (const node of nodes) {
    const own = node['properties'];
    if (!isObject(own)) continue;
    for (const name of properties.get(own) ?? []) gone.getOrInsertComputed(rootOf(node), () => new Set()).add(name);
  }
  for (const node of nodes)
    for (const name of gone.has(rootOf(node)) ? Object.keys(objectOf(node['properties'])) : [])
      if (!isNaming(node, name)) kept.getOrInsertComputed(rootOf(node), () => new Set()).add(name);
  return (node) => {
    const names = gone.get(rootOf(node));
    if (names === undefined) return null;
    // What this schema itself lost is not named by it, whatever the others have.
    const own = isObject(node['properties']) ? properties.get(node['properties']) : undefined;
    return names.difference(kept.get(rootOf(node)) ?? new Set()).union(own ?? new Set());
  };
}

function partsOf(node: JsonObject): unknown[] {
  return sameObject.flatMap((key) => {
    const part = node[key];
    const isMap = key === 'dependentSchemas' || key === 'dependencies';
    return Array.isArray(part) ? part : isMap && isObject(part) ? Object.values(part) : [part];
  });
}

/** Returns whether the schema named one of them. */
function forgetProperties(schema: JsonObject, names: ReadonlySet<string>): boolean {
  const { discriminator, propertyNames } = schema;
  const forgotten = isObject(propertyNames) ? [forgetIn(propertyNames, 'enum', names)] : [];
  for (const map of [schema['dependentRequired'], schema['dependentSchemas'], schema['dependencies']])
    if (isObject(map))
      forgotten.push(dropKeys(map, (name) => names.has(name)), ...Object.keys(map).map((name) => forgetIn(map, name, names))); // prettier-ignore
  const named = isObject(discriminator) ? discriminator['propertyName'] : discriminator;
  if (typeof named === 'string' && names.has(named)) delete schema['discriminator'];
  return forgotten.includes(true);
}

/** Takes what the objects of schemas lost out of values that these name. Returns whether something was there. */
function forgetMembers(
  document: JsonObject,
  open: [value: unknown, schema: unknown][],
  lost: ReturnType<typeof lostBy>,
): boolean {
  let isLess = false;
  const seen = new Map<unknown, Set<unknown>>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, of] = next;
    if (typeof at !== 'object' || at === null || !isObject(of)) continue;
    const known = seen.getOrInsertComputed(at, () => new Set());
    if (known.has(of)) continue;
    known.add(of);
    for (const part of [targetOf(document, of), ...partsOf(of)]) open.push([at, part]);
    if (Array.isArray(at)) {
      const first = listOf(of['prefixItems']);
      at.forEach((item: unknown, index) => open.push([item, of['items']], [item, first[index]]));
      continue;
    }
    const names = lost(of);
    isLess ||= names !== null && Object.keys(at).some((name) => names.has(name));
    if (names !== null) dropKeys(at as JsonObject, (name) => names.has(name));
    const { properties, patternProperties, additionalProperties } = of;
    for (const [name, member] of Object.entries(at)) {
      if (isObject(properties) && Object.hasOwn(properties, name)) open.push([member, properties[name]]);
      else open.push([member, additionalProperties]);
      if (isObject(patternProperties)) for (const each of Object.values(patternProperties)) open.push([member, each]);
    }
  }
  return isLess;
}

/** Takes names out of a list. A list that becomes empty goes. Returns whether one was there. */
function forgetIn(holder: JsonObject, key: string, names: ReadonlySet<string>): boolean {
  const list = holder[key];
  if (!Array.isArray(list) || !list.some((name) => names.has(String(name)))) return false;
  const left: unknown[] = list.filter((name) => !names.has(String(name)));
  if (left.length > 0) holder[key] = left;
  else delete holder[key];
  return true;
}

function dropKeys(map: JsonObject, isGone: (name: string, value: unknown) => boolean): boolean {
  const gone = Object.entries(map).filter(([name, value]) => isGone(name, value));
  for (const [name] of gone) delete map[name];
  return gone.length > 0;
}

function leadsNowhere(document: JsonObject, link: unknown, operationIds: ReadonlySet<string>): boolean {
  const { operationId, operationRef } = objectOf(link);
  const isLocal = textOf(operationRef).startsWith('#');
  return (
    operationIds.has(textOf(operationId)) || (isLocal && resolveLocal(document, textOf(operationRef)) === undefined)
  );
}

function schemasOf(document: JsonObject, body: unknown): unknown[] {
  const { $ref } = objectOf(body);
  const { content } = objectOf(typeof $ref === 'string' ? resolveLocal(document, $ref) : body);
  return Object.values(objectOf(content)).map((media) => objectOf(media)['schema']);
}

const expression = /\$(?:request|response)\.(?:body#([^\s{}]*)|(?:query|path|header)\.([^\s{}]+))/g;

/** Whether a text has a runtime expression of OpenAPI (`$request.body#/id`) that leads to what is gone. */
function leadsToGone(
  document: JsonObject,
  text: string,
  where: { names: Gone['names']; lost: ReturnType<typeof lostBy>; schemas: readonly unknown[] },
): boolean {
  const { names, lost, schemas } = where;
  return [...text.matchAll(expression)].some(([, pointer, name]) => {
    if (name !== undefined) return names.has(name);
    const keys = parsePointer(pointer!);
    return keys.some((key) => names.has(key)) || schemas.some((schema) => isLost(document, schema, keys, lost));
  });
}

function isLost(document: JsonObject, schema: unknown, keys: readonly string[], lost: ReturnType<typeof lostBy>) {
  let at = schema;
  for (const key of keys) {
    for (let hops = 0; hops < 20 && isObject(at) && typeof at['$ref'] === 'string'; hops++)
      at = resolveLocal(document, at['$ref']);
    if (!isObject(at)) return false;
    if (lost(at)?.has(key)) return true;
    at = isObject(at['properties']) && Object.hasOwn(at['properties'], key) ? at['properties'][key] : at['items'];
  }
  return false;
}

function forgetInLink(link: unknown, names: Gone['names'], isGone: (text: unknown) => boolean): void {
  if (!isObject(link)) return;
  const { parameters, requestBody } = link;
  if (isGone(requestBody)) delete link['requestBody'];
  if (!isObject(parameters)) return;
  dropKeys(parameters, (name, value) => names.has(name.replace(/^\w+\./, '')) || names.has(name) || isGone(value));
  if (Object.keys(parameters).length === 0) delete link['parameters'];
}

function forgetCallbacks(callbacks: JsonObject, isGone: (text: unknown) => boolean): void {
  for (const [name, callback] of Object.entries(callbacks))
    if (isObject(callback) && dropKeys(callback, isGone) && Object.keys(callback).length === 0) delete callbacks[name];
}

/** Whether a value says one of these names: as a key or a text, or as a word in one. */
export function namesAny(value: unknown, names: ReadonlySet<string>): boolean {
  if (typeof value === 'string')
    return names.has(value) || (value.match(/[\w.-]+|\/[^\s"'`,;]*/g) ?? []).some((word) => names.has(word) || names.has(word.replace(/^\.+|\.+$/g, ''))); // prettier-ignore
  if (Array.isArray(value)) return value.some((item) => namesAny(item, names));
  return isObject(value) && Object.entries(value).some(([key, item]) => namesAny(key, names) || namesAny(item, names));
}

/** The name of a security scheme, which may be said by its address since OpenAPI 3.2. */
export function schemeName(said: string): string {
  const pointer = /#(\/components\/securitySchemes\/[^/]+)$/.exec(said)?.[1];
  return pointer === undefined ? said : pointerKeys(`#${pointer}`)[2]!;
}

/** Leaves out the alternatives with a scheme that is gone. Returns whether none is left. */
function forgetSecurity(node: JsonObject, schemes: ReadonlySet<string>): boolean {
  const { security } = node;
  if (!Array.isArray(security)) return false;
  const left = security.filter(
    (each) => !isObject(each) || !Object.keys(each).some((name) => schemes.has(schemeName(name))),
  );
  if (left.length === security.length) return false;
  node['security'] = left;
  return left.length === 0;
}

function forgetTags(node: JsonObject, isRoot: boolean, tags: ReadonlySet<string>): void {
  if (!isRoot && Array.isArray(node['tags'])) forgetIn(node, 'tags', tags);
  if (!isRoot) return;
  for (const tag of listOf(node['tags']).map(objectOf)) if (tags.has(textOf(tag['parent']))) delete tag['parent'];
  const groups = node['x-tagGroups'];
  if (!Array.isArray(groups)) return;
  for (const group of groups) if (isObject(group)) forgetIn(group, 'tags', tags);
  node['x-tagGroups'] = groups.filter((group) => !isObject(group) || Array.isArray(group['tags']));
}
