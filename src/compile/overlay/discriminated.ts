import { isObject, type JsonObject } from '../../model/json.ts';
import { listOf, objectOf, pointerKeys, resolveLocal, textOf } from '../../render/json-value.ts';

/** What a node refers to. Undefined: to nothing, or to what is not there. */
export function targetOf(document: JsonObject, node: unknown): unknown {
  return resolveLocal(document, textOf(objectOf(node)['$ref']));
}

interface Discriminated {
  property: string;
  values: ReadonlySet<string>;
}

/** The values of every discriminator, by its schema: those that are mapped, and the names of alternatives that are not. */
export function discriminatedIn(document: JsonObject, nodes: Iterable<unknown>): Map<JsonObject, Discriminated> {
  const found = new Map<JsonObject, Discriminated>();
  const named = Object.entries(objectOf(objectOf(document['components'])['schemas'] ?? document['definitions']));
  const targetsOf = (all: unknown) => listOf(all).map((each) => textOf(objectOf(each)['$ref']));
  // Without a union, the alternatives are the schemas that are made of the one with the discriminator.
  const made = new Map<unknown, string[]>();
  for (const [name, schema] of named)
    for (const target of targetsOf(objectOf(schema)['allOf']).filter(Boolean))
      made.getOrInsertComputed(resolveLocal(document, target), () => []).push(name);
  for (const node of nodes) {
    if (!isObject(node) || node['discriminator'] === undefined) continue;
    const { propertyName, mapping } = objectOf(node['discriminator']);
    const mapped = new Set(Object.values(objectOf(mapping)).map((target) => nameOf(textOf(target))));
    const branches = targetsOf([...listOf(node['oneOf']), ...listOf(node['anyOf'])]).map(nameOf);
    const names = [...branches, ...(made.get(node) ?? [])].filter((name) => name !== '' && !mapped.has(name));
    const property = textOf(propertyName) || textOf(node['discriminator']);
    found.set(node, { property, values: new Set([...Object.keys(objectOf(mapping)), ...names]) });
  }
  return found;
}

function nameOf(target: string): string {
  return target.startsWith('#/') ? pointerKeys(target).at(-1)! : target;
}

/**
 * Takes the values of alternatives that are gone out of the lists of what discriminators may be. Where none is left, nothing
 * is allowed any more. Other values are data of users, whatever else is called so. `groupOf`: what is one for all schemas
 * that describe the same object. Returns the schemas that had some.
 */
export function forgetDiscriminated(
  document: JsonObject,
  nodes: readonly JsonObject[],
  before: ReadonlyMap<JsonObject, Discriminated>,
  groupOf: (node: JsonObject) => JsonObject,
): Set<object> {
  const touched = new Set<object>();
  const groups = Map.groupBy(nodes, groupOf);
  const left = Map.groupBy(discriminatedIn(document, nodes), ([node]) => groupOf(node));
  for (const [schema, { property, values }] of before) {
    const group = groupOf(schema);
    const kept = (left.get(group) ?? []).flatMap(([, one]) => (one.property === property ? [...one.values] : []));
    const gone = values.difference(new Set(kept));
    if (gone.size === 0) continue;
    const isGone = (value: unknown) => typeof value === 'string' && gone.has(value);
    const open = new Set<unknown>(groups.get(group)?.map((node) => objectOf(node['properties'])[property]));
    for (const place of open) {
      if (!isObject(place)) continue;
      const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => listOf(place[key]));
      for (const one of [...parts, targetOf(document, place)]) open.add(one);
      if (isGone(place['default'])) delete place['default'];
      const named = listOf(place['enum']);
      const others = named.filter((value) => !isGone(value));
      if (!isGone(place['const']) && others.length === named.length) continue;
      touched.add(place);
      if (isGone(place['const']) || others.length === 0) allowNothing(place, document);
      else place['enum'] = others;
    }
  }
  return touched;
}

/** Makes it a schema that no value fits. OpenAPI 2.0 has no `not`. */
function allowNothing(schema: JsonObject, document: JsonObject): void {
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, 'swagger' in document ? { type: 'string', minLength: 1, maxLength: 0 } : { not: {} });
}
