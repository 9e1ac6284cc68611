import { isObject } from '../../model/json.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import { referenceOf, type Place, type Side } from '../side.ts';
import { isText } from './keywords.ts';
import { namesOfTypes, textOfValue, typesIn, viewOf, type SchemaView } from './read-schema.ts';
import { deref, type Schema } from './schema-parts.ts';

/** An alternative of a union: the place that names it, and all that it demands. */
export interface Branch {
  place: Place;
  schema: Schema;
}

export interface Matched {
  pairs: [Branch, Branch][];
  removed: Branch[];
  added: Branch[];
}

/** Finds which branch became which: by reference, equal text, title or shape, else one of those left. */
export function matchBranches(before: Side, after: Side, old: readonly Branch[], current: readonly Branch[]): Matched {
  const left = { before: [...old], after: [...current] };
  const pairs: [Branch, Branch][] = [];
  const pair = (one: Branch, other: Branch) => {
    pairs.push([one, other]);
    left.before.splice(left.before.indexOf(one), 1);
    left.after.splice(left.after.indexOf(other), 1);
  };
  for (const mark of marks) {
    const others = Map.groupBy(left.after, (branch) => mark(after, branch));
    for (const branch of left.before.slice()) {
      const key = mark(before, branch);
      const partner = key === null ? undefined : others.get(key)?.shift();
      if (partner !== undefined) pair(branch, partner);
    }
  }
  if (left.before.length === 1 || left.after.length === 1) {
    const candidates = left.before.flatMap((one) => left.after.map((other) => [one, other] as const));
    const alike = candidates.filter(
      ([one, other]) =>
        // Of several, one that has another name is another one.
        (candidates.length === 1 || !isNamed(before, one) || !isNamed(after, other)) &&
        haveTypeInCommon(before, after, one, other),
    );
    if (alike.length === 1) pair(...alike[0]!);
  }
  return { pairs, removed: left.before, added: left.after };
}

const marks: ((side: Side, branch: Branch) => string | null)[] = [
  (_, { place }) => referenceName(place),
  (side, { place }) => textOfValue(essenceOf(deref(side, place).value)),
  (side, { place }) => textOf(objectOf(deref(side, place).value)['title']) || null,
  (side, { schema }) => shapeOf(viewOf(side, schema), true),
  (side, { schema }) => shapeOf(viewOf(side, schema), false),
];

/** A schema without its texts, with the lists in order whose order says nothing. */
function essenceOf(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => essenceOf(item));
    if (!unordered.has(key)) return items;
    return items.map((item) => [textOfValue(item), item] as const).sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item); // prettier-ignore
  }
  if (!isObject(value)) return value;
  // Among names, such as those of properties, none is a text.
  const isNames = key === 'properties' || key === 'patternProperties';
  const members = Object.entries(value).filter(([name]) => isNames || !isText(name));
  return Object.fromEntries(members.map(([name, member]) => [name, essenceOf(member, isNames ? '' : name)]));
}

const unordered = new Set(['allOf', 'anyOf', 'oneOf', 'required', 'enum', 'type']);

/** What two versions of one branch usually share: types, property names, and constant values. */
function shapeOf(view: SchemaView, isExact: boolean): string | null {
  const constants = [...view.properties].flatMap(([name, [schema]]) => {
    const { const: constant, enum: values } = objectOf(schema?.value);
    const only = constant ?? (Array.isArray(values) && values.length === 1 ? (values[0] as unknown) : undefined);
    return only === undefined ? [] : [[name, only]];
  });
  const types = [...(view.types?.value ?? [])].sort();
  if (constants.length > 0) return JSON.stringify([types, constants.sort()]);
  if (view.properties.size > 0) return JSON.stringify([types, [...view.properties.keys()].sort()]);
  const isValues = isExact && view.values !== null;
  return types.length === 0 ? null : `${types.join()}${isValues ? ' values' : ''}`;
}

function haveTypeInCommon(before: Side, after: Side, one: Branch, other: Branch): boolean {
  const [old, current] = [typesIn(viewOf(before, one.schema)), typesIn(viewOf(after, other.schema))];
  const names = (types: ReadonlySet<string>) => [...types].map((type) => (type === 'integer' ? 'number' : type));
  return !old || !current || names(old).some((type) => names(current).includes(type));
}

function isNamed(side: Side, { place }: Branch): boolean {
  return referenceName(place) !== null || textOf(objectOf(deref(side, place).value)['title']) !== '';
}

/** The name of a schema that is referred to, or that is named where it stands. */
export function referenceName({ value, pointer }: Place): string | null {
  const reference = referenceOf(value);
  if (reference !== '') return reference.slice(reference.lastIndexOf('/') + 1);
  return /^\/(?:components\/schemas|definitions|\$defs)\/([^/]+)$/.exec(pointer)?.[1] ?? null;
}

/** A branch in a sentence: its name, title, value or type. */
export function nameOfBranch(side: Side, { place, schema }: Branch): string {
  const named = referenceName(place);
  if (named !== null) return named;
  const title = isObject(place.value) ? textOf(place.value['title']) : '';
  if (title !== '') return title;
  const { types, values, properties } = viewOf(side, schema);
  if (values !== null && values.value.size > 0) return [...values.value].slice(0, 3).join(', ');
  const names = [...properties.keys()].slice(0, 3).join(', ');
  return `${types === null ? 'any' : namesOfTypes(types.value, false)}${names === '' ? '' : ` with ${names}`}`;
}
