import { isObject } from '../../model/json.ts';
import { objectOf, textOf, entriesOf } from '../../render/json-value.ts';
import { referenceOf, type Place, type Side, childrenOf, targetOfMapping } from '../side.ts';
import { isText } from './keywords.ts';
import { namesOfTypes, textOfValue, typesInCommon, viewOf, type SchemaView } from './read-schema.ts';
import { deref, type Part, type Schema, unionsIn } from './schema-parts.ts';
import { codeOf, placesOf, quote, report, sayHas, type Below, type Pair } from '../report.ts';
import { reportLists } from './compare-values.ts';

/** An alternative of a union: the place that names it, and all that it demands. */
export interface Branch {
  place: Place;
  schema: Schema;
}

/** Those that are the same in both documents, and those that only one of them has. */
export type MatchedBranches = ReturnType<typeof matchBranches<Branch>>;

/** Finds which branch became which: by reference, equal text, title or shape, else one of those left. */
export function matchBranches<One extends Branch>(
  before: Side,
  after: Side,
  old: readonly One[],
  current: readonly One[],
) {
  const left = { before: [...old], after: [...current] };
  const pairs: [One, One][] = [];
  const pair = (one: One, other: One) => {
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
        typesInCommon(viewOf(before, one.schema), viewOf(after, other.schema))?.size !== 0,
    );
    if (alike.length === 1) pair(...alike[0]!);
  }
  return { pairs, removed: left.before, added: left.after };
}

const marks: ((side: Side, branch: Branch) => string | null)[] = [
  (_, { place }) => referenceName(place),
  essenceIn,
  (side, { place }) => textOf(objectOf(deref(side, place).value)['title']) || null,
  (side, { schema }) => shapeOf(viewOf(side, schema), true),
  (side, { schema }) => shapeOf(viewOf(side, schema), false),
];

/** What a branch says, as a text. */
export function essenceIn(side: Side, { place }: Branch): string {
  return textOfValue(essenceOf(deref(side, place).value));
}

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
  const constants = [...view.properties].flatMap(([name, schema]) => {
    const { values, allowsNull } = viewOf(view.side, schema);
    return values?.value.size === 1 && allowsNull === false ? [[name, ...values.value]] : [];
  });
  const types = [...(view.types?.value ?? [])].sort();
  if (constants.length > 0) return JSON.stringify([types, constants.sort()]);
  if (view.properties.size > 0) return JSON.stringify([types, [...view.properties.keys()].sort()]);
  const isValues = isExact && view.values !== null;
  return types.length === 0 ? null : `${types.join()}${isValues ? ' values' : ''}`;
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

interface Discriminator {
  property: string;
  /** What each value of the property means, whether it is written down or follows from names. */
  values: ReadonlyMap<string, Meaning>;
  pointer: string;
}

interface Meaning {
  /** Null: it is not in the document. */
  target: Place | null;
  written: string;
  /** Whether a value of the schema may be meant: one that inherits the discriminator is no sibling of itself. */
  isKin: boolean;
}

/**
 * Compares `discriminator`: the property that says which alternative is meant, and its values. Without
 * a union, they reach subtypes that nothing else refers to. `compared`: what was said of unions.
 */
export function compareDiscriminators(pair: Pair, below: Below, compared: readonly MatchedBranches[]): void {
  const [old, current] = [read(pair.before), read(pair.after)];
  if (old === null && current === null) return;
  const at = placesOf(pair, old, current);
  const [from, to] = [old?.property ?? null, current?.property ?? null];
  const says = sayHas('the discriminator', from && quote(from), to && quote(to));
  if (old === null || current === null)
    return report(pair, 'risky', codeOf('discriminator', from, to), says, { before: from, after: to, at });
  if (from !== to) report(pair, 'changes', 'discriminator-property-changed', says, { before: from, after: to, at });
  const { walk } = pair;
  const isUnion = hasUnion(pair.before) || hasUnion(pair.after);
  // What a union says of an alternative that is new or gone is not said again.
  const names = ([['removed', old], ['added', current]] as const).map(([way, { values }]) => {
    const said = new Set(compared.flatMap((one) => one[way].map(({ place }) => referenceName(place))));
    const others = [...values].filter(([, { written, isKin }]) => isKin && !said.has(schemaName(written)));
    return new Set(others.map(([value]) => JSON.stringify(value)));
  }); // prettier-ignore
  const known = (values: Discriminator['values']) => new Set([...values.keys()].map((value) => JSON.stringify(value)));
  const [gone, come] = [names[0]!.difference(known(current.values)), names[1]!.difference(known(old.values))];
  reportLists(pair, 'discriminator-mapping', [gone, come], at, {
    removed: ['narrows', (values) => `no longer maps the discriminator's value ${values}`],
    added: ['widens', (values) => `also maps the discriminator's value ${values}`],
  });
  for (const [value, one] of old.values) {
    const other = current.values.get(value);
    if (other === undefined) continue;
    const [was, is] = [schemaName(one.written), schemaName(other.written)];
    // Where one name is gone or the other one is new, it may be the same schema under another name.
    const isAnother = was !== is && (targetOfMapping(walk.after, was) ?? targetOfMapping(walk.before, is)) !== null;
    if (!isAnother && one.target !== null && other.target !== null) {
      if (!isUnion || was !== is) below([one.target], [other.target]);
    } else if (was !== is) {
      const [before, after] = [one.written, other.written];
      const maps = `maps the discriminator's value ${quote(value)} to ${quote(after)} instead of ${quote(before)}`;
      report(pair, 'changes', 'discriminator-mapping-changed', maps, { before, after, at });
    }
  }
}

function read(view: SchemaView): Discriminator | null {
  const stated = view.first('discriminator');
  if (stated === null) return null;
  const { value, pointer } = stated;
  // In 2.0 it is the name of the property.
  const { propertyName, mapping, defaultMapping } = objectOf(value);
  const values = new Map<string, Meaning>();
  const named = namedPart(view);
  const isInherited = !hasUnion(view) && named !== undefined && !Object.hasOwn(named.value, 'discriminator');
  const kin = [...(isInherited ? [named] : []), ...meantBy(view)];
  const known = new Set(kin.map((place) => deref(view.side, place).pointer));
  const stating = { ...objectOf(mapping), ...(defaultMapping !== undefined && { defaultMapping }) };
  for (const [key, one] of entriesOf(stating)) {
    const place = targetOfMapping(view.side, textOf(one));
    const target = place && deref(view.side, place);
    const isKin = !isInherited || target === null || known.has(target.pointer);
    values.set(key, { target, written: textOf(one), isKin });
  }
  const mapped = new Set(Object.keys(objectOf(mapping)).map((key) => values.get(key)!.target?.pointer));
  for (const place of kin) {
    const target = deref(view.side, place);
    const written = referenceName(place);
    if (written !== null && !mapped.has(target.pointer) && !values.has(written))
      values.set(written, { target, written, isKin: true });
  }
  return { property: textOf(value) || textOf(propertyName), values, pointer };
}

/** The schemas that a discriminator may mean: the alternatives of its unions, or else all that are made of the schema. */
export function meantBy(view: SchemaView): Place[] {
  if (hasUnion(view)) return alternativesIn(view);
  const named = namedPart(view);
  const found = new Map<string, Place>();
  const stack: Place[] = named === undefined ? [] : [named];
  for (let next = stack.pop(); next !== undefined; next = stack.pop())
    for (const child of childrenOf(view.side, next))
      if (!found.has(child.pointer)) stack.push((found.set(child.pointer, child), child));
  return [...found.values()];
}

/** The component that a schema is: the first one that says more than that it is another one, or null. */
function namedPart({ flat }: SchemaView): Part | undefined {
  const isOther = ({ value, inner }: Part) =>
    inner.size === 1 && Object.keys(value).every((key) => wrapping.has(key) || isText(key));
  return flat.parts.find((part) => referenceName({ value: null, pointer: part.pointer }) !== null && !isOther(part));
}

const wrapping = new Set(['$ref', 'allOf', 'anyOf', 'oneOf', 'type', 'nullable']);

/** Whether a discriminator says which of several named alternatives is meant. */
export function hasUnion(view: SchemaView): boolean {
  return alternativesIn(view).some((place) => referenceName(place) !== null);
}

/** The alternatives of a schema, where the discriminator stands also one alone: elsewhere, that is the schema itself. */
function alternativesIn({ side, flat }: SchemaView): Place[] {
  const stating = flat.parts.find(({ value }) => Object.hasOwn(value, 'discriminator'));
  return flat.parts.flatMap((part) =>
    unionsIn(side, part, false).flatMap(({ branches }) => (part === stating || branches.length > 1 ? branches : [])),
  );
}

function schemaName(target: string): string {
  return target.slice(target.lastIndexOf('/') + 1);
}
