import { entriesOf, objectOf, textOf } from '../../render/json-value.ts';
import { codeOf, placesOf, quote, report, sayHas, type Below, type Pair } from '../report.ts';
import { childrenOf, targetOfMapping, type Place } from '../side.ts';
import { reportLists } from './compare-values.ts';
import { referenceName, type Branch } from './match-branches.ts';
import type { SchemaView } from './read-schema.ts';
import { deref, unionsIn } from './schema-parts.ts';

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
  /** Whether the value is the name of the schema. */
  isImplied: boolean;
}

/**
 * Compares `discriminator`: the property that says which alternative is meant, and its values. Without
 * a union, they reach subtypes that nothing else refers to. `branches`: those of unions that were paired.
 */
export function compareDiscriminators(pair: Pair, below: Below, branches: readonly [Branch, Branch][]): void {
  const [old, current] = [read(pair.before), read(pair.after)];
  if (old === null && current === null) return;
  const at = placesOf(pair, old, current);
  const [from, to] = [old?.property ?? null, current?.property ?? null];
  const says = sayHas('the discriminator', from && quote(from), to && quote(to));
  if (old === null || current === null)
    return report(pair, 'risky', codeOf('discriminator', from, to), says, { before: from, after: to, at });
  if (from !== to) report(pair, 'changes', 'discriminator-property-changed', says, { before: from, after: to, at });
  const isUnion = hasUnion(pair.before) || hasUnion(pair.after);
  // What a union says of an alternative that is new or gone is not said again.
  const paired = [0, 1].map((side) => new Set(branches.map((both) => referenceName(both[side]!.place))));
  const names = [old, current].map(
    ({ values }, side) =>
      new Set(
        [...values].flatMap(([value, { isImplied }]) =>
          isUnion && isImplied && !paired[side]!.has(value) ? [] : [JSON.stringify(value)],
        ),
      ),
  );
  const known = (values: Discriminator['values']) => new Set([...values.keys()].map((value) => JSON.stringify(value)));
  reportLists(
    pair,
    'discriminator-mapping',
    [names[0]!.difference(known(current.values)), names[1]!.difference(known(old.values))],
    at,
    {
      removed: ['narrows', (values) => `no longer maps the discriminator's value ${values}`],
      added: ['widens', (values) => `also maps the discriminator's value ${values}`],
    },
  );
  for (const [value, one] of old.values) {
    const other = current.values.get(value);
    if (other !== undefined) compareMeaning(pair, below, { value, one, other, isUnion, at });
  }
}

interface Meant {
  value: string;
  one: Meaning;
  other: Meaning;
  isUnion: boolean;
  at: { before: string; after: string };
}

function compareMeaning(pair: Pair, below: Below, { value, one, other, isUnion, at }: Meant): void {
  const { walk } = pair;
  const [from, to] = [schemaName(one.written), schemaName(other.written)];
  // Where one name is gone or the other one is new, it may be the same schema under another name.
  const isAnother =
    from !== to && (targetOfMapping(walk.after, from) !== null || targetOfMapping(walk.before, to) !== null);
  if (isAnother || one.target === null || other.target === null) {
    if (from === to) return;
    const says = `maps the discriminator's value ${quote(value)} to ${quote(other.written)} instead of ${quote(one.written)}`;
    report(pair, 'changes', 'discriminator-mapping-changed', says, { before: one.written, after: other.written, at });
  } else if (!isUnion || from !== to) below([one.target], [other.target]);
}

function read(view: SchemaView): Discriminator | null {
  const stated = view.first('discriminator');
  if (stated === null) return null;
  const { value, pointer } = stated;
  // In 2.0 it is the name of the property.
  const { propertyName, mapping, defaultMapping } = objectOf(value);
  const values = new Map<string, Meaning>();
  const add = (name: string, target: Place | null, written: string, isImplied: boolean) =>
    values.set(name, { target: target && deref(view.side, target), written, isImplied });
  for (const [name, mapped] of [
    ...entriesOf(mapping),
    ...(defaultMapping === undefined ? [] : [['defaultMapping', defaultMapping] as const]),
  ])
    add(name, targetOfMapping(view.side, textOf(mapped)), textOf(mapped), false);
  const mapped = new Set([...values.values()].map(({ target }) => target?.pointer));
  for (const place of meantBy(view)) {
    const target = deref(view.side, place);
    const name = referenceName(place);
    if (name !== null && !mapped.has(target.pointer) && !values.has(name)) add(name, target, name, true);
  }
  return { property: textOf(value) || textOf(propertyName), values, pointer };
}

/** The schemas that a discriminator may mean: the alternatives of the unions, or else all that are made of the schema. */
function meantBy(view: SchemaView): Place[] {
  const { side, flat } = view;
  if (hasUnion(view)) return flat.parts.flatMap((part) => unionsIn(side, part).flatMap(({ branches }) => branches));
  const nominal = flat.parts.find((part) => referenceName({ value: null, pointer: part.pointer }) !== null);
  const found = new Map<string, Place>();
  const stack: Place[] = nominal === undefined ? [] : [nominal];
  for (let next = stack.pop(); next !== undefined; next = stack.pop())
    for (const child of childrenOf(side, next))
      if (!found.has(child.pointer)) stack.push((found.set(child.pointer, child), child));
  return [...found.values()];
}

/** Whether a schema has alternatives, also one alone. */
function hasUnion({ keywords }: SchemaView): boolean {
  return keywords.has('oneOf') || keywords.has('anyOf');
}

function schemaName(target: string): string {
  return target.slice(target.lastIndexOf('/') + 1);
}
