import { isObject, type JsonObject } from '../../model/json.ts';
import { resolveLocal } from '../../render/local-reference.ts';
import { joinPointer } from '../text/pointer.ts';

/** Members that are maps: their members are names, and what these hold are nodes. */
const maps = new Set(
  'paths webhooks x-webhooks properties patternProperties dependentSchemas $defs definitions responses callbacks headers content encoding links examples parameters schemas requestBodies securitySchemes securityDefinitions pathItems mediaTypes variables additionalOperations'.split(' '), // prettier-ignore
);

/** Members that hold data of users. */
const data = new Set(['example', 'default', 'const', 'enum', 'value', 'mapping', 'required', 'security', 'scopes']);

const methods = new Set('get put post delete options head patch trace query additionalOperations'.split(' '));

/**
 * Leaves out of a bundled document what is not for an audience: every operation, parameter, property, tag and other node
 * with `x-internal: true` (unless the audience is `internal`) or an `x-audience` that does not name it, references to such
 * components, and then what only these used: path items and webhooks without operations, components, tags. Changes the
 * document in place. Returns the names of the operations that are gone.
 */
export function keepAudience(document: JsonObject, audience: string): string[] {
  const before = { operations: operationsIn(document), used: usedIn(document) };
  const isOut = (node: unknown): boolean => {
    let at = node;
    for (let hops = 0; hops < 20 && isObject(at); hops++) {
      if (isExcluded(at, audience)) return true;
      if (typeof at['$ref'] !== 'string') return false;
      at = resolveLocal(document, at['$ref']);
    }
    return false;
  };
  // First what is marked, then what is marked through a reference: a component is gone only after both.
  prune(document, isOut);
  for (const key of ['paths', 'webhooks', 'x-webhooks']) dropEmptyItems(document[key]);
  const after = usedIn(document);
  for (const section of componentsOf(document))
    for (const name of Object.keys(section.map)) {
      const pointer = joinPointer(section.pointer, name);
      if (before.used.has(pointer) && !after.has(pointer)) delete section.map[name];
    }
  const { tags } = document;
  if (Array.isArray(tags)) {
    const isKept = (tag: unknown) => {
      const key = isObject(tag) ? `tag ${String(tag['name'])}` : '';
      return !before.used.has(key) || after.has(key);
    };
    document['tags'] = tags.filter(isKept);
  }
  const left = new Set(operationsIn(document));
  return before.operations.filter((name) => !left.has(name));
}

function isExcluded(node: JsonObject, audience: string): boolean {
  if (node['x-internal'] === true && audience !== 'internal') return true;
  const named = node['x-audience'];
  if (typeof named === 'string') return named !== audience;
  return Array.isArray(named) && !named.includes(audience);
}

/** Removes all nodes that are out, wherever they stand, except the root and `info`. */
function prune(document: JsonObject, isOut: (node: unknown) => boolean): void {
  // Judged before anything is gone, since references lead through what is removed.
  const doomed: { from: object; keys: (string | number)[] }[] = [];
  const open: { node: object; isMap: boolean }[] = [{ node: document, isMap: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, isMap } = next;
    const keys: (string | number)[] = [];
    for (const [key, child] of Object.entries(node)) {
      if (typeof child !== 'object' || child === null) continue;
      if (key === 'mapping' && !isMap && isObject(child)) forgetMapped(child, isOut);
      const isData =
        !isMap && !Array.isArray(node) && (data.has(key) || (key.startsWith('x-') && key !== 'x-webhooks'));
      if (isData || (node === document && key === 'info')) continue;
      if (isOut(child)) keys.push(Array.isArray(node) ? Number(key) : key);
      else open.push({ node: child as object, isMap: !isMap && !Array.isArray(node) && isMapAt(key, child) });
    }
    if (keys.length > 0) doomed.push({ from: node, keys });
  }
  for (const { from, keys } of doomed) {
    if (Array.isArray(from)) {
      const gone = new Set(keys);
      const kept = from.filter((_, index) => !gone.has(index));
      from.splice(0, from.length, ...kept);
    } else for (const key of keys) delete (from as Record<string | number, unknown>)[key];
  }
  forgetRequired(document, doomed);
}

/** Leaves out the alternatives of a discriminator that are gone. */
function forgetMapped(mapping: JsonObject, isOut: (node: unknown) => boolean): void {
  for (const [value, target] of Object.entries(mapping)) {
    if (typeof target !== 'string') continue;
    if (isOut({ $ref: target }) || isOut({ $ref: `#/components/schemas/${target}` })) delete mapping[value];
  }
}

function isMapAt(key: string, child: unknown): boolean {
  return maps.has(key) && !Array.isArray(child);
}

/** A property that is gone is not required. */
function forgetRequired(document: JsonObject, doomed: readonly { from: object; keys: (string | number)[] }[]): void {
  const gone = new Map(doomed.map(({ from, keys }) => [from, new Set(keys)]));
  const open: object[] = [document];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const { properties, required } = node as JsonObject;
    const names = isObject(properties) ? gone.get(properties) : undefined;
    if (names !== undefined && Array.isArray(required)) {
      const kept = required.filter((name: string) => !names.has(name));
      if (kept.length > 0) (node as JsonObject)['required'] = kept;
      else delete (node as JsonObject)['required'];
    }
    for (const child of Object.values(node))
      if (typeof child === 'object' && child !== null) open.push(child as object);
  }
}

/** Path items that have no operation any more. */
function dropEmptyItems(items: unknown): void {
  if (!isObject(items)) return;
  for (const [name, item] of Object.entries(items)) {
    if (!isObject(item) || name.startsWith('x-') || typeof item['$ref'] === 'string') continue;
    if (!Object.keys(item).some((key) => methods.has(key))) delete items[name];
  }
}

/** The maps of components, by their pointers: those of OpenAPI 3, and those of 2.0. */
function componentsOf(document: JsonObject): { pointer: string; map: JsonObject }[] {
  const { components } = document;
  const sections = isObject(components)
    ? Object.entries(components).map(([key, map]) => [`/components/${key}`, map])
    : [];
  const old = ['definitions', 'parameters', 'responses'].map((key) => [`/${key}`, document[key]]);
  return [...sections, ...old].flatMap(([pointer, map]) => (isObject(map) ? [{ pointer: String(pointer), map }] : []));
}

/** The components and tags that the operations use, also through other components. */
function usedIn(document: JsonObject): Set<string> {
  const used = new Set<string>();
  const sections = new Set<unknown>(componentsOf(document).map(({ map }) => map));
  const open: unknown[] = [document];
  const use = (reference: string) => {
    const pointer = reference.startsWith('#/') ? componentOf(reference.slice(1)) : null;
    if (pointer === null || used.has(pointer)) return;
    used.add(pointer);
    open.push(resolveLocal(document, `#${pointer}`));
  };
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    for (const [key, child] of Object.entries(node)) {
      if (typeof child === 'string' && (key === '$ref' || child.startsWith('#/'))) use(child);
      if (key === 'mapping' && isObject(child))
        for (const name of Object.values(child)) if (typeof name === 'string') use(`#/components/schemas/${name}`);
      if (key === 'tags' && node !== document && Array.isArray(child))
        for (const tag of child) used.add(`tag ${String(tag)}`);
      if (key === 'security' && Array.isArray(child))
        for (const each of child)
          for (const name of Object.keys(isObject(each) ? each : {}))
            used.add(joinPointer('/components/securitySchemes', name));
      if (!sections.has(child)) open.push(child);
    }
  }
  return used;
}

/** The component in which a pointer ends. Null: it is in none. */
function componentOf(pointer: string): string | null {
  return /^\/(?:components\/[^/]+|definitions|parameters|responses)\/[^/]+/.exec(pointer)?.[0] ?? null;
}

/** The names of the operations: `GET /pets/{id}`, `WEBHOOK POST order`. */
export function operationsIn(document: JsonObject): string[] {
  return ['paths', 'webhooks', 'x-webhooks'].flatMap((section) => {
    const items = document[section];
    if (!isObject(items)) return [];
    return Object.entries(items).flatMap(([path, item]) =>
      isObject(item)
        ? Object.keys(item).flatMap((key) =>
            methods.has(key) ? [`${section === 'paths' ? '' : 'WEBHOOK '}${key.toUpperCase()} ${path}`] : [],
          )
        : [],
    );
  });
}
