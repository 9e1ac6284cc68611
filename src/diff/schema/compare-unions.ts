import type { Direction } from '../../model/comparison.ts';
import { isObject, objectOf, textOf } from '../../render/json-value.ts';
import { compareDiscriminators } from './compare-discriminators.ts';
import { quote, report, type Below, type Effect, type Pair } from '../report.ts';
import { deref, type Schema } from './schema-parts.ts';
import { textOfValue, viewOf, type SchemaView, type Union } from './read-schema.ts';
import { referenceOf, type Place, type Side } from '../side.ts';

const mostBranches = 500;

/** Compares `oneOf` and `anyOf`: the branches that are the same schema, those added, those removed. */
export function compareUnions(pair: Pair, below: Below): void {
  const { before, after } = pair;
  const length = Math.max(before.unions.length, after.unions.length);
  for (let at = 0; at < length; at++) {
    const [old, current] = [before.unions[at] ?? loneBranch(before), after.unions[at] ?? loneBranch(after)];
    if (old && current) compareUnion(pair, old, current, below);
    else if (current)
      report(pair, {
        effect: 'narrows',
        name: `${codeOf(current)}-set`,
        says: `must match one of the schemas of ${current.kind}`,
        at: { before: before.pointer, after: current.pointer },
      });
    else if (old)
      report(pair, {
        effect: 'widens',
        name: `${codeOf(old)}-unset`,
        says: `need not match a schema of ${old.kind} any more`,
        at: { before: old.pointer, after: after.pointer },
      });
  }
  compareDiscriminators(pair);
}

/**
 * A schema without a union, as a union of itself alone: where `Cat` becomes one of `Cat` and `Dog`,
 * `Dog` was added.
 */
function loneBranch(view: SchemaView): Union | null {
  const { flat, unions } = view;
  const part = flat.parts[0];
  if (unions.length > 0 || part === undefined || !isConstrained(view)) return null;
  return { kind: 'oneOf', branches: [part], pointer: part.pointer };
}

function isConstrained({ types, values, properties, required, additional }: SchemaView): boolean {
  return types !== null || values !== null || properties.size > 0 || required.size > 0 || additional.schema.length > 0;
}

/**
 * Whether one of the two schemas is a union and nothing else, and the other none: what the other one
 * demands is then compared with the alternatives.
 */
export function isWrapped({ before, after }: Pair): boolean {
  const isLone = (view: SchemaView) => view.unions.length === 0 && view.flat.parts.length === 1 && isConstrained(view);
  return (isLone(before) && isWhole(after)) || (isLone(after) && isWhole(before));
}

/** Whether a union says all that its schema demands. */
function isWhole(view: SchemaView): boolean {
  return !isConstrained(view) && view.unions.length === 1;
}

function compareUnion(pair: Pair, old: Union, current: Union, below: Below): void {
  const { before, after, walk } = pair;
  const isOldUnion = before.unions.includes(old);
  const isUnion = after.unions.includes(current);
  if (!isOldUnion && !isWhole(after))
    return report(pair, {
      effect: 'narrows',
      name: `${codeOf(current)}-set`,
      says: `must match one of the schemas of ${current.kind}`,
      at: { before: before.pointer, after: current.pointer },
    });
  if (!isUnion && !isWhole(before))
    return report(pair, {
      effect: 'widens',
      name: `${codeOf(old)}-unset`,
      says: `need not match a schema of ${old.kind} any more`,
      at: { before: old.pointer, after: after.pointer },
    });
  if (old.branches.length > mostBranches || current.branches.length > mostBranches)
    return report(pair, {
      effect: 'unknown',
      name: 'union-too-large',
      says: `has more than ${mostBranches} alternatives, which are not compared`,
    });
  walk.spend(old.branches.length * current.branches.length);
  const { pairs, removed, added } = match(walk.before, walk.after, old.branches, current.branches);
  for (const [one, other] of pairs) below([one], [other]);
  const at = { before: old.pointer, after: current.pointer };
  const named = (side: Side, branches: readonly Place[]) =>
    branches.map((branch) => quote(nameOf(side, branch))).join(', ');
  const kind = codeOf(isUnion ? current : old);
  if (removed.length > 0) {
    const names = named(walk.before, removed);
    report(pair, {
      effect: 'narrows',
      name: `${kind}-removed`,
      says: `no longer allows the alternative ${names}`,
      before: names,
      at,
    });
  }
  if (added.length > 0) {
    const names = named(walk.after, added);
    const mayOverlap = pair.direction !== 'response' && !isOldUnion && overlaps(pair, old.branches[0]!, current, added);
    report(pair, {
      effect: mayOverlap ? 'unknown' : 'widens',
      name: `${kind}-added`,
      says: `also allows the alternative ${names}${mayOverlap ? '; oneOf refuses values that match several alternatives, which cannot be judged' : ''}`,
      after: names,
      at,
    });
  }
  if (isUnion && isOldUnion && old.kind !== current.kind)
    report(pair, {
      effect: kindEffect(pair.direction, current),
      name: 'union-kind-changed',
      says: `has ${current.kind} instead of ${old.kind}`,
      before: old.kind,
      after: current.kind,
      at,
    });
}

/** Whether a schema may allow the same values as what stands beside it in a new `oneOf`. */
function overlaps({ walk, after }: Pair, one: Place, { kind }: Union, others: readonly Place[]): boolean {
  if (kind !== 'oneOf' || after.first('discriminator') !== null) return false;
  return others.some((other) => haveTypeInCommon(walk.before, walk.after, one, other));
}

/**
 * `anyOf` allows what `oneOf` allows, and more where alternatives overlap. Whether they do cannot be
 * judged, so this is known only where it does not matter.
 */
function kindEffect(direction: Direction, { kind }: Union): Effect {
  if (direction === 'request' && kind === 'anyOf') return 'widens';
  return direction === 'response' && kind === 'oneOf' ? 'narrows' : 'unknown';
}

function codeOf({ kind }: Union): string {
  return kind === 'oneOf' ? 'one-of' : 'any-of';
}

interface Matched {
  pairs: [Place, Place][];
  removed: Place[];
  added: Place[];
}

/** Finds which branch became which: by reference, equal text, title or shape, else the only ones left. */
function match(before: Side, after: Side, old: readonly Place[], current: readonly Place[]): Matched {
  const left = { before: [...old], after: [...current] };
  const pairs: [Place, Place][] = [];
  for (const mark of marks) {
    const others = Map.groupBy(left.after, (place) => mark(after, place));
    for (const place of left.before.slice()) {
      const key = mark(before, place);
      const found = key === null ? undefined : others.get(key)?.shift();
      if (found === undefined) continue;
      pairs.push([place, found]);
      left.before.splice(left.before.indexOf(place), 1);
      left.after.splice(left.after.indexOf(found), 1);
    }
  }
  const [one, other] = [left.before, left.after];
  if (one.length === 1 && other.length === 1 && haveTypeInCommon(before, after, one[0]!, other[0]!))
    return { pairs: [...pairs, [one[0]!, other[0]!]], removed: [], added: [] };
  return { pairs, removed: one, added: other };
}

const marks: ((side: Side, place: Place) => string | null)[] = [
  (_, { value }) => referenceName(value),
  (side, place) => textOfValue(deref(side, place).value),
  (side, place) => textOf(objectOf(deref(side, place).value)['title']) || null,
  (side, place) => shapeOf(viewOf(side, [place])),
];

/** What two versions of one branch usually share: types, property names, and constant values. */
function shapeOf(view: SchemaView): string | null {
  const constants = [...view.properties].flatMap(([name, [schema]]) => {
    const { const: constant, enum: values } = objectOf(schema?.value);
    const only = constant ?? (Array.isArray(values) && values.length === 1 ? (values[0] as unknown) : undefined);
    return only === undefined ? [] : [[name, only]];
  });
  const types = view.types === null ? [] : [...view.types.value].sort();
  if (constants.length > 0) return JSON.stringify([types, constants.sort()]);
  if (types.length > 0 && types.every((type) => type !== 'object' && type !== 'array')) return types.join();
  return view.properties.size === 0 ? null : JSON.stringify([types, [...view.properties.keys()].sort()]);
}

function haveTypeInCommon(before: Side, after: Side, one: Place, other: Place): boolean {
  const [old, current] = [viewOf(before, [one]).types?.value, viewOf(after, [other]).types?.value];
  return !old || !current || [...old].some((type) => current.has(type));
}

function referenceName(value: unknown): string | null {
  const reference = referenceOf(value);
  return reference === '' ? null : reference.slice(reference.lastIndexOf('/') + 1);
}

/** A branch in a sentence: its name, title or type. */
function nameOf(side: Side, place: Place): string {
  const { value, pointer } = place;
  const named = referenceName(value) ?? /^\/(?:components\/schemas|definitions|\$defs)\/([^/]+)$/.exec(pointer)?.[1];
  if (named !== undefined) return named;
  const title = isObject(value) ? textOf(value['title']) : '';
  if (title !== '') return title;
  const { types, properties } = viewOf(side, [place] satisfies Schema);
  const names = [...properties.keys()].slice(0, 3).join(', ');
  return `${types === null ? 'any' : [...types.value].join(' or ')}${names === '' ? '' : ` with ${names}`}`;
}
