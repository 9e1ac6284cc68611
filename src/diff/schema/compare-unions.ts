import {
  compareDiscriminators,
  essenceIn,
  hasUnion,
  matchBranches,
  meantBy,
  nameOfBranch,
  referenceName,
  type Branch,
  type MatchedBranches,
} from './match-branches.ts';
import { isAny, isSameValue, widensValues } from './compare-values.ts';
import { isRestriction } from './keywords.ts';
import { areDisjoint, isWithin } from './overlap.ts';
import { quote, report, rule, type CompareFurther, type Judgement, type Pair } from '../report.ts';
import { viewOf, type SchemaView } from './read-schema.ts';
import { coversTypes, flatten, unionsIn, type Union } from './schema-parts.ts';
import type { Side } from '../side.ts';
import { pairBy, type Both, type Effect, type KeysOf } from '../walk.ts';

const maxBranches = 500;
/** Pairs of branches of which a union proves that they are disjoint. */
const maxChecks = 5000;

/** A union, or a schema without one as a union of itself alone. */
interface Alternatives {
  kind: 'anyOf' | 'oneOf';
  branches: readonly Branch[];
  pointer: string;
  isLone: boolean;
}

/** Compares `oneOf` and `anyOf`: the branches that are the same schema, those added, those removed. */
export function compareUnions(pair: Pair, { below, within }: CompareFurther): void {
  const compared: MatchedBranches[] = [];
  const { before, after } = pair;
  const [old, current] = [before, after].map(({ unions }) => unions.map((union) => readUnion(union, false))) as [Alternatives[], Alternatives[]]; // prettier-ignore
  for (const union of pairBy(pair.walk, old, current, unionKeys)) {
    const [one, other] = [union.before ?? loneBranch(before, after), union.after ?? loneBranch(after, before)];
    if (one && other && (!one.isLone || isWhole(after)) && (!other.isLone || isWhole(before)))
      compared.push(...compareUnion(pair, one, other, within));
    else if (other && !other.isLone)
      reportSole(pair, 'narrows', `${codeOf(other)}-set`, `must match one of the schemas of ${other.kind}`, other);
    else if (one && !one.isLone)
      reportSole(pair, 'widens', `${codeOf(one)}-unset`, `need not match a schema of ${one.kind} any more`, one);
  }
  compareDiscriminators(pair, below, compared);
}

/** Of several unions, those that are the same, have alternatives in common, or are of one kind are compared. */
const unionKeys: readonly KeysOf<Alternatives>[] = [
  (side, union) => [`${union.kind} ${namesIn(side, union).sort().join()}`],
  (side, union) => namesIn(side, union),
  (_, { kind }) => [kind],
  () => [''],
];

function namesIn(side: Side, { branches }: Alternatives): string[] {
  return branches.flatMap((branch) => [referenceName(branch.place) ?? [], essenceIn(side, branch)].flat());
}

function reportSole(pair: Pair, effect: 'narrows' | 'widens', code: string, says: string, union: Alternatives): void {
  const [mine, other] = effect === 'narrows' ? [pair.after, pair.before] : [pair.before, pair.after];
  const isSame = (one: unknown, its: unknown) =>
    effect === 'narrows' ? isSameValue(pair.walk, its, one) : isSameValue(pair.walk, one, its);
  // All that an alternative demands, as where it was the only one.
  const demanded = union.branches.find(({ schema }) => {
    const { parts } = flatten(mine.side, schema);
    return parts.length > 0 && parts.every(({ value }) => other.flat.parts.some((part) => isSame(value, part.value)));
  });
  const side = effect === 'narrows' ? 'after' : 'before';
  const isAlone = union.kind === 'anyOf' || (demanded && findClash(pair, side, union.branches, [demanded]) === null);
  const views = union.branches.map(({ schema }) => viewOf(mine.side, schema));
  // Where the other one allows anything, nothing else says that this one refuses null.
  const isNullMoot = !isAny(other) || other.allowsNull === mine.allowsNull;
  const isMoot = isAlone && isNullMoot && (demanded !== undefined || isWithin(other, views));
  const [before, after] = effect === 'narrows' ? [other.pointer, union.pointer] : [union.pointer, other.pointer];
  report(pair, isMoot ? 'safe' : effect, code, says, { at: { before, after } });
}

function readUnion({ kind, branches, pointer }: Union, isLone: boolean): Alternatives {
  return { kind, branches: branches.map((place) => ({ place, schema: [place] })), pointer, isLone };
}

/**
 * A schema without a union, as a union of itself alone: where `Cat` becomes one of `Cat` and `Dog`,
 * `Dog` was added. Where alternatives of the other one have a type each, it has one for each of its types.
 */
function loneBranch(view: SchemaView, { side, unions }: SchemaView): Alternatives | null {
  if (view.unions.length > 0 || !isConstrained(view)) return null;
  const sole = soleUnion(view);
  if (sole !== null) return readUnion(sole, true);
  const restricting = view.flat.parts.filter(({ value }) => Object.keys(value).some(isRestriction));
  const place = restricting[0] ?? view.flat.parts[0]!;
  // Null is no alternative of its own.
  const types = [...(view.types?.value ?? [''])];
  const isTyped = unions.flatMap((one) => one.branches).every((one) => viewOf(side, [one]).types?.value.size === 1);
  const branches = types.map((type): Branch => {
    const typed = { value: { type }, pointer: `${place.pointer}/type/${type}` };
    return { place: typed, schema: [...view.schema, typed] };
  });
  if (types.length === 1 || (types.length > 1 && !isTyped))
    branches.splice(0, Infinity, { place, schema: view.schema });
  // A discriminator reaches those that are made of it, too.
  if (view.first('discriminator') !== null && !hasUnion(view))
    branches.push(...meantBy(view).map((made) => ({ place: made, schema: [made] })));
  return { kind: 'oneOf', branches, pointer: place.pointer, isLone: true };
}

/** The union of one alternative that is all that a schema demands: what stands beside it belongs to no alternative. */
function soleUnion({ side, schema, flat }: SchemaView): Union | null {
  const outer = flat.parts[0]!;
  if (schema.length > 1 || Object.keys(outer.value).some((key) => isRestriction(key) || holding.has(key))) return null;
  const [union, ...others] = unionsIn(side, outer, false);
  return union?.branches.length === 1 && others.length === 0 ? union : null;
}

const holding = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'allOf']);

function isConstrained({ flat, keywords }: SchemaView): boolean {
  return flat.onlyNull !== null || [...keywords].some(isRestriction);
}

/**
 * Whether one of the two schemas is a union and nothing else, and the other none: what the other one
 * demands is then compared with the alternatives.
 */
export function isWrapped({ before, after }: Pair): boolean {
  const isLone = (view: SchemaView) => view.unions.length === 0 && isConstrained(view);
  return (isLone(before) && isWhole(after)) || (isLone(after) && isWhole(before));
}

/** Whether a union says all that its schema demands. */
function isWhole(view: SchemaView): boolean {
  if (view.unions.length !== 1 || view.flat.onlyNull !== null) return false;
  const others = [...view.keywords].filter(isRestriction);
  if (others.length === 0) return true;
  // A type that all branches have demands nothing more.
  const { side, types, unions } = view;
  if (types === null || others.some((keyword) => keyword !== 'type')) return false;
  return unions[0]!.branches.every((branch) => {
    const branchTypes = viewOf(side, [branch]).types;
    return branchTypes !== null && coversTypes(types.value, branchTypes.value);
  });
}

function compareUnion(
  pair: Pair,
  old: Alternatives,
  current: Alternatives,
  within: CompareFurther['within'],
): MatchedBranches[] {
  const { before, after, walk, direction } = pair;
  const tooMany = `has more than ${maxBranches} alternatives, which are not compared`;
  if (old.branches.length > maxBranches || current.branches.length > maxBranches) {
    report(pair, 'unknown', 'union-too-large', tooMany);
    return [];
  }
  walk.spend(old.branches.length * current.branches.length);
  const matched = matchBranches(walk.before, walk.after, old.branches, current.branches);
  const isHarmless = harmlessIn(pair, old, current);
  const units = matched.pairs.map(([one, other]) => ({
    before: one,
    after: other,
    unit: within(one.schema, other.schema, { isBranch: true, isHarmless: pair.isHarmless || isHarmless(one, other) }),
  }));
  // A value that several alternatives of `oneOf` allow is refused. So a request may be refused where
  // one of them allows more than before, and a response may be new where one allows less.
  const exclusive = {
    before: direction === 'request' ? null : exclusiveIn(before, old),
    after: direction === 'response' ? null : exclusiveIn(after, current),
  };
  const isUnclear = (side: 'before' | 'after', changed: readonly Branch[]) =>
    exclusive[side] !== null && findClash(pair, side, exclusive[side], changed) !== null;
  reportBranches(pair, [old, current], 'before', matched.removed, isUnclear('before', matched.removed));
  reportBranches(pair, [old, current], 'after', matched.added, isUnclear('after', matched.added));
  if (!old.isLone && !current.isLone && old.kind !== current.kind) reportKind(pair, old, current);
  walk.later((mayDo) => {
    for (const side of ['before', 'after'] as const) {
      if (exclusive[side] === null) continue;
      const effect = side === 'before' ? 'narrows' : 'widens';
      const changed = units.filter(({ unit }) => unit !== null && mayDo(effect, unit)).map((one) => one[side]);
      const clash = findClash(pair, side, exclusive[side], changed);
      if (clash === null) continue;
      const [one, other] = clash.map((branch) => quote(nameOfBranch(walk[side], branch)));
      const says = `has the alternative ${one}, which changed, beside ${other}; oneOf refuses values that match both, and which these are now cannot be judged`;
      return report(pair, 'unknown', 'one-of-overlap-changed', says, {
        at: { before: old.pointer, after: current.pointer },
      });
    }
  });
  return [matched];
}

/**
 * Tells whether what changes in an alternative breaks nobody, since alternatives of the other document's `anyOf` allow all
 * its values by their type alone.
 */
function harmlessIn({ direction, walk }: Pair, old: Alternatives, current: Alternatives) {
  const views = {
    before: old.branches.map(({ schema }) => viewOf(walk.before, schema)),
    after: current.branches.map(({ schema }) => viewOf(walk.after, schema)),
  };
  const isCovered = (side: Side, { schema }: Branch, { kind, isLone }: Alternatives, others: readonly SchemaView[]) =>
    kind === 'anyOf' && !isLone && isWithin(viewOf(side, schema), others);
  return (one: Branch, other: Branch): boolean =>
    (direction === 'response' || isCovered(walk.before, one, current, views.after)) &&
    (direction === 'request' || isCovered(walk.after, other, old, views.before));
}

/** The branches of which a value may match only one. Null: any number may match, or a discriminator says which is meant. */
function exclusiveIn(view: SchemaView, { kind, branches, isLone }: Alternatives): readonly Branch[] | null {
  return isLone || kind === 'anyOf' || view.first('discriminator') !== null ? null : branches;
}

/** Two branches of which at least one is among those given, unless all are proved to be disjoint. */
function findClash(
  { walk }: Pair,
  side: 'before' | 'after',
  branches: readonly Branch[],
  changed: readonly Branch[],
): [Branch, Branch] | null {
  let checked = 0;
  const views = new Map(changed.length === 0 ? [] : branches.map((one) => [one, viewOf(walk[side], one.schema)]));
  for (const one of changed)
    for (const [other, view] of views) {
      if (one === other) continue;
      walk.spend(5);
      if (++checked > maxChecks || !areDisjoint(views.get(one)!, view)) return [one, other];
    }
  return null;
}

const refused = '; oneOf refused values that match another one, too, and whether they are valid now cannot be judged';
const overlaps = '; oneOf refuses values that match several alternatives, which cannot be judged';

/** Reports alternatives that are gone or new. `isUnclear`: a `oneOf` may refuse what another alternative allows, too. */
function reportBranches(
  pair: Pair,
  [old, current]: Both<Alternatives>,
  side: 'before' | 'after',
  changed: readonly Branch[],
  isUnclear: boolean,
): void {
  const { walk, direction } = pair;
  const isGone = side === 'before';
  const [others, otherSide] = isGone ? [current, walk.after] : [old, walk.before];
  const views = others.branches.map(({ schema }) => viewOf(otherSide, schema));
  const isCovered = ({ schema }: Branch) => (isGone || !isUnclear) && isWithin(viewOf(walk[side], schema), views);
  const kind = codeOf(current.isLone ? old : current);
  const at = { before: old.pointer, after: current.pointer };
  for (const covered of [true, false]) {
    const some = changed.filter((one) => isCovered(one) === covered);
    if (some.length === 0) continue;
    const names = some.map((branch) => quote(nameOfBranch(walk[side], branch))).join(', ');
    const isUnknown = isUnclear && (!isGone || covered || direction === 'response');
    const areValues = hasOnlyValues(walk.before, old) && hasOnlyValues(walk.after, current);
    const [judgement, code, says]: [Judgement, string, string] = isGone
      ? covered
        ? ['safe', 'merged', `no longer has the alternative ${names}, whose values others allow`]
        : ['narrows', 'removed', `no longer allows the alternative ${names}`]
      : covered
        ? ['safe', 'split', `also has the alternative ${names}, whose values others allowed`]
        : [areValues ? widensValues(pair) : 'widens', 'added', `also allows the alternative ${names}`];
    const effect: Effect | undefined = isUnclear ? 'unknown' : covered ? undefined : isGone ? 'narrows' : 'widens';
    report(
      pair,
      isUnknown ? 'unknown' : judgement,
      `${kind}-${code}`,
      isUnknown ? says + (isGone ? refused : overlaps) : says,
      { [side]: names, at, effect },
    );
  }
}

/** Whether a union is a list of values, each of which may have a description. */
function hasOnlyValues(side: Side, { branches }: Alternatives): boolean {
  return branches.length > 0 && branches.every(({ schema }) => viewOf(side, schema).values !== null);
}

/** `anyOf` allows what `oneOf` allows, and more where alternatives overlap. */
function reportKind(pair: Pair, old: Alternatives, current: Alternatives): void {
  const { direction } = pair;
  const [side, { branches }] = current.kind === 'oneOf' ? (['after', current] as const) : (['before', old] as const);
  const effect = current.kind === 'oneOf' ? 'narrows' : 'widens';
  const isWell = direction !== 'both' && rule[direction][effect] === 'safe';
  const isSame = !isWell && findClash(pair, side, branches, branches) === null;
  const says = `has ${current.kind} instead of ${old.kind}`;
  report(pair, isSame ? 'safe' : isWell ? effect : 'unknown', 'union-kind-changed', says, {
    before: old.kind,
    after: current.kind,
    at: { before: old.pointer, after: current.pointer },
  });
}

function codeOf({ kind }: Alternatives): string {
  return kind === 'oneOf' ? 'one-of' : 'any-of';
}
