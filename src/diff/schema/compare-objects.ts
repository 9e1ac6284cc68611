import { placesOf, report, type Below, type Judgement, type Pair } from '../report.ts';
import { flatten, limitOf, triesPattern, type Schema } from './schema-parts.ts';
import { isAnything } from './plain-form.ts';
import { judgeArrival, judgeRemoval } from '../sunset.ts';
import { viewOf, type SchemaView } from './read-schema.ts';
import { isSameValue } from './compare-values.ts';
import type { Effect } from '../walk.ts';
import { itemsOf, memberOf, membersOf, referenceOf, targetOf, type Place, type Side } from '../side.ts';

/** Compares the properties of an object, which of them are required, and whether others may follow. */
export function compareObjects(given: Pair, below: Below): void {
  const pair = withNamesBeside(given);
  const { before, after } = pair;
  for (const [name, schema] of before.properties) {
    const current = after.properties.get(name);
    if (current === undefined) {
      // What another part refuses is none.
      if (before.blocked.has(name) && after.additional.isClosed) continue;
      removed(pair, name, schema);
      const others = restOf(after, after.required.has(name));
      if (others !== null && !isUnsent(pair, 'before', schema)) below(schema, others);
    } else if (!isUnsent(pair, 'before', schema) || !isUnsent(pair, 'after', current)) {
      compareFlags(pair, name, schema, current);
      compareBlocked(pair, name, schema, current);
      below(schema, current, name);
    }
  }
  for (const [name, schema] of after.properties) {
    if (before.properties.has(name) || (after.blocked.has(name) && before.additional.isClosed)) continue;
    added(pair, name, schema);
    const others = restOf(before, before.required.has(name));
    if (others !== null && !isUnsent(pair, 'after', schema)) below(others, schema);
  }
  compareRequired(pair);
  compareAdditional(pair, below);
  comparePatterns(pair, below);
}

/** Whether a schema says something of a property, by its name or of all. */
export function isNamed({ properties, additional, keywords }: SchemaView, name: string): boolean {
  return properties.has(name) || additional.schema.length > 0 || keywords.has('patternProperties');
}

/**
 * A pair in which each schema names what the other one does, if a schema beside it, or alternatives of its own, describe
 * that: it was sent, too.
 */
function withNamesBeside(pair: Pair): Pair {
  const known = pair.around.map((around, at) => {
    const { side, unions } = at === 0 ? pair.before : pair.after;
    const branches = unions.map((union) => union.branches.map((branch) => viewOf(side, [branch]).properties));
    pair.walk.spend((branches.flat().length * (pair.before.properties.size + pair.after.properties.size)) / 10);
    return (name: string, own: Schema | null): Schema | null => {
      const isAround = own === null && around !== null && isNamed(around, name);
      const isOpen = own === null || own.every(({ value }) => isAnything(value));
      const beside = isAround ? (around.properties.get(name) ?? around.additional.schema) : own;
      const within = branches
        // What is described beside alternatives has any such value in one that does not name it.
        .filter((all) => isOpen || all.every((properties) => properties.has(name)))
        .flatMap((all) => all.flatMap((properties) => properties.get(name) ?? []));
      if (within.length === 0) return beside;
      const pointer = within.map((place) => place.pointer).join(' | ');
      return [...(beside ?? []), { value: { anyOf: within.map(({ value }) => value) }, pointer }];
    };
  });
  const named = (view: SchemaView, other: SchemaView, at: 0 | 1): SchemaView => {
    if (view.keywords.has('patternProperties') || view.additional.isClosed) return view;
    const properties = new Map(view.properties);
    for (const name of new Set(properties.keys()).symmetricDifference(new Set(other.properties.keys()))) {
      const own = properties.get(name) ?? null;
      const said = own === null || known[1 - at]!(name, null) !== null ? known[at]!(name, own) : own;
      if (said !== null) properties.set(name, said.length > 0 ? said : [{ value: true, pointer: view.pointer }]);
    }
    return { ...view, properties };
  };
  return { ...pair, before: named(pair.before, pair.after, 0), after: named(pair.after, pair.before, 1) };
}

/**
 * The schema for a property that an object does not name: that of additional properties, or any
 * value if the property is required nevertheless. Null: the object has none.
 */
function restOf({ additional, pointer }: SchemaView, isRequired: boolean): Schema | null {
  if (additional.isClosed) return null;
  if (additional.schema.length > 0) return additional.schema;
  return isRequired ? [{ value: true, pointer }] : null;
}

/** Compares whether another part of `allOf` refuses a property, because it allows no others than its own. */
function compareBlocked(pair: Pair, name: string, before: Schema, after: Schema): void {
  const [was, is] = [pair.before.blocked.has(name), pair.after.blocked.has(name)];
  if (was === is) return;
  const about = { before: before[0]!.pointer, after: after[0]!.pointer };
  const part = 'a part of allOf that does not name it';
  if (is) report(pair, 'narrows', 'refused', `is refused by ${part}`, { about });
  else report(pair, 'widens', 'not-refused', `is no longer refused by ${part}`, { about });
}

/** Whether a document does not let it be sent in this direction. */
function isUnsent({ walk, direction }: Pair, side: 'before' | 'after', schema: Schema): boolean {
  if (direction === 'both') return false;
  return hasFlag(walk[side], schema, direction === 'request' ? 'readOnly' : 'writeOnly');
}

function removed(pair: Pair, name: string, schema: Schema): void {
  const { before, after, direction, walk } = pair;
  if (isUnsent(pair, 'before', schema)) return;
  const about = { before: schema[0]!.pointer, after: null };
  const effect = effectOfName(pair, before, after, name, ['narrows', 'widens']);
  const details = { about, at: { before: about.before, after: after.pointer }, effect };
  const isRequired = before.required.has(name);
  const isStillRequired = after.required.has(name);
  const ended = judgeRemoval(walk, flatten(walk.before, schema).parts);
  if (ended.isOver) return report(pair, 'safe', 'removed', `was removed${ended.says}`, details);
  if (direction === 'response' && isRequired && !isStillRequired)
    return report(pair, 'widens', 'removed', 'was removed; it was always present', details);
  if (direction === 'response') {
    const says = `was removed; it was ${isRequired ? 'always present, and still is' : 'optional'}`;
    return report(pair, 'risky', 'optional-removed', says, details);
  }
  if (after.additional.isClosed && mayMatch(pair, after, name))
    return report(pair, 'unknown', 'removed', 'was removed; whether a pattern allows it cannot be judged', details);
  if (after.additional.isClosed) return report(pair, 'narrows', 'removed', 'was removed and is refused now', details);
  const isAllowed = after.additional.schema.length > 0 || isStillRequired;
  const says = isAllowed ? 'others that are not named may still be sent' : 'whether it is still accepted is not said';
  report(pair, 'risky', 'removed-but-tolerated', `was removed; ${says}`, details);
}

/**
 * What it does to the set of valid values that only one of two objects names a property: without a name, it may be refused
 * or have any value. Undefined: nothing but what its own comparison says.
 */
function effectOfName(
  pair: Pair,
  { required, properties }: SchemaView,
  other: SchemaView,
  name: string,
  [refused, free]: readonly [Effect, Effect],
): Effect | undefined {
  if (mayMatch(pair, other, name)) return 'unknown';
  const isDemand = required.has(name) && !other.required.has(name);
  if (other.additional.isClosed) return isDemand ? 'changes' : refused;
  const isFree = other.additional.schema.length === 0 && !properties.get(name)!.every(({ value }) => isAnything(value));
  return isDemand || isFree ? free : undefined;
}

function added(pair: Pair, name: string, schema: Schema): void {
  const { before, after, direction, walk } = pair;
  if (isUnsent(pair, 'after', schema)) return;
  const about = { before: null, after: schema[0]!.pointer };
  const effect = effectOfName(pair, after, before, name, ['widens', 'narrows']);
  const details = { about, at: { before: before.pointer, after: about.after }, effect };
  const { isClosed } = before.additional;
  const wasDescribed = mayMatch(pair, before, name) && direction !== 'response';
  const isNewDemand = after.required.has(name) && !before.required.has(name);
  const parts = flatten(walk.after, schema).parts.map(({ value }) => value);
  const arrived = judgeArrival(walk, parts);
  if (arrived !== null)
    report(pair, arrived.verdict, `sunset-${arrived.name}`, arrived.says, { ...details, isSideless: true });
  if (wasDescribed)
    report(pair, 'unknown', 'added', 'was added; whether a pattern described it before cannot be judged', details);
  if (isNewDemand && direction !== 'response')
    return report(pair, 'narrows', 'added-as-required', 'was added and is required', details);
  if (wasDescribed) return;
  // Readers with a closed schema refuse properties that it does not name.
  const isSurprise = isClosed && direction !== 'request';
  const says = isSurprise ? 'was added; readers that allow no other properties refuse it' : 'was added';
  report(pair, isSurprise ? 'risky' : 'safe', 'added', says, details);
}

function compareRequired(pair: Pair): void {
  const { before, after } = pair;
  const judged = [
    { of: before, other: after, side: 'before', name: 'became-optional', from: 'required', to: 'optional' },
    { of: after, other: before, side: 'after', name: 'became-required', from: 'optional', to: 'required' },
  ] as const;
  for (const { of, other, side, name: code, from, to } of judged)
    for (const [name] of of.required) {
      const schema = of.properties.get(name);
      if (other.required.has(name) || (schema !== undefined && !other.properties.has(name))) continue;
      if (schema !== undefined && isUnsent(pair, side, schema)) continue;
      const pointerIn = ({ properties, pointer }: SchemaView) =>
        properties.get(name)?.[0]!.pointer ?? `${pointer}/properties/${name}`;
      report(pair, side === 'after' ? 'narrows' : 'widens', code, `is ${to}; it was ${from}`, {
        before: from,
        after: to,
        about: { before: pointerIn(before), after: pointerIn(after) },
      });
    }
}

function compareAdditional(pair: Pair, below: Below): void {
  const [old, current] = [pair.before.additional, pair.after.additional];
  // No object has any.
  if ([pair.before, pair.after].every((view) => limitOf(view, 'maxProperties')?.bound === 0)) return;
  const at = { before: old.pointer, after: current.pointer };
  const tell = (judgement: Judgement, name: string, says: string, effect?: Effect) =>
    report(pair, judgement, `additional-properties-${name}`, says, { at, effect });
  if (!old.isClosed && current.isClosed)
    return tell('narrows', 'forbidden', 'no longer allows properties that it does not name');
  if (old.isClosed && !current.isClosed) {
    const judgement = pair.direction === 'response' ? 'risky' : 'widens';
    return tell(judgement, 'allowed', 'allows properties that it does not name; it allowed none', 'widens');
  }
  if (current.isClosed) return;
  if (old.schema.length === 0 && current.schema.length === 0) {
    // What most objects do not say costs nothing.
    if (old.words.length === 0 && current.words.length === 0) return;
    return below([...old.words, { value: true, pointer: old.pointer }], [...current.words, { value: true, pointer: current.pointer }]); // prettier-ignore
  }
  const others = 'for properties that it does not name';
  if (old.schema.length === 0) return tell('narrows', 'restricted', `allows only certain values ${others}`);
  if (current.schema.length === 0) return tell('widens', 'generalized', `allows any value ${others}`);
  below(old.schema, current.schema);
}

function comparePatterns(pair: Pair, below: Below): void {
  const [old, current] = [patternsOf(pair.before), patternsOf(pair.after)];
  for (const pattern of new Set([...old.keys(), ...current.keys()])) {
    const [before, after] = [old.get(pattern), current.get(pattern)];
    const at = placesOf(pair, before?.[0], after?.[0]);
    const named = `properties that match ${JSON.stringify(pattern)}`;
    const lacking = before ? pair.after : pair.before;
    if (before && after) below(before, after);
    // Beside any others, it says nothing.
    else if (allowsOthers(lacking) && (before ?? after)!.every(({ value }) => isAnything(value))) continue;
    else {
      const effect = effectOfPattern(pair, lacking, pattern, (before ?? after)!);
      if (before)
        report(pair, effect, 'pattern-property-removed', `no longer describes ${named}`, { before: pattern, at });
      else report(pair, effect, 'pattern-property-added', `describes ${named}`, { after: pattern, at });
    }
  }
}

function allowsOthers({ additional }: SchemaView): boolean {
  return !additional.isClosed && additional.schema.length === 0;
}

/** The keywords whose members `unevaluated…` of a schema around them leaves alone. */
const evaluating = {
  unevaluatedProperties: ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
  unevaluatedItems: ['prefixItems', 'items', 'contains', 'additionalItems', 'unevaluatedItems'],
};

/** Compares which members are evaluated by schemas that may apply, such as those of `if`: the others are refused. */
export function compareEvaluated(pair: Pair): void {
  const { before, after, direction } = pair;
  for (const keyword of ['unevaluatedProperties', 'unevaluatedItems'] as const) {
    const isClosed = ({ additional, items }: SchemaView) =>
      (keyword === 'unevaluatedItems' ? items : additional).isClosed;
    // One that is closed in another way sees nothing but its own.
    const isKnown = (view: SchemaView) => view.keywords.has(keyword) || isClosed(view);
    if (![before, after].every(isKnown) || ![before, after].some(({ keywords }) => keywords.has(keyword))) continue;
    const [old, current] = [before, after].map((view) =>
      view.keywords.has(keyword) ? evaluatedIn(view, evaluating[keyword]) : new Set<string>(),
    ) as [Set<string>, Set<string>];
    const known = ({ properties }: SchemaView) => new Set([...properties.keys()].map((name) => `properties ${name}`));
    const lost = [...old.difference(current).difference(known(after))].join(', ');
    const gained = [...current.difference(old).difference(known(before))].join(', ');
    if (lost !== '') report(pair, 'narrows', 'evaluates-less', `leaves more to ${keyword}: ${lost}`, { before: lost });
    const details = { after: gained, effect: 'widens' } as const;
    const judgement = direction === 'response' ? 'risky' : 'widens';
    if (gained !== '') report(pair, judgement, 'evaluates-more', `leaves less to ${keyword}: ${gained}`, details);
    // An alternative that another one covers is not compared, and evaluates members nevertheless.
    const isOther = (one: Place, at: number) => !isSameValue(pair.walk, one.value, after.covered[at]?.value);
    if (lost + gained === '' && before.covered.some(isOther))
      report(pair, 'unknown', 'evaluates-other', `may leave others to ${keyword}, as an alternative changed that another one covers`); // prettier-ignore
  }
}

/** What `allOf` does not reach: each keyword as often as it is there, with the names or positions in it. */
function evaluatedIn({ side, flat: { parts } }: SchemaView, keywords: readonly string[]): Set<string> {
  const found = new Set<string>();
  const seen = new Set(parts.map(({ pointer }) => pointer));
  const stack: Place[] = [...parts];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { value: schema } = place;
    const isFlat = parts.some(({ value }) => value === schema);
    const at = (keyword: string) => memberOf(side, place!, keyword);
    for (const keyword of keywords) {
      const value = at(keyword)?.value ?? false;
      if (value === false || isFlat) continue;
      if (Array.isArray(value) || keyword === 'properties' || keyword === 'patternProperties')
        for (const name of Object.keys(value as object)) found.add(`${keyword} ${name}`);
      else found.add(`${keyword} ${[...found].filter((one) => one.startsWith(keyword)).length + 1}`);
    }
    const lists = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => itemsOf(side, at(keyword)));
    const named = membersOf(side, at('dependentSchemas')).map(([, one]) => one);
    const reference = referenceOf(schema);
    const target = reference === '' ? null : targetOf(side, reference);
    for (const next of [...lists, ...named, ...['if', 'then', 'else'].map(at), target])
      if (next !== null && !seen.has(next.pointer)) stack.push((seen.add(next.pointer), next));
  }
  return found;
}

/** The effect of a pattern that only one of the documents has: the other one is `lacking`. */
function effectOfPattern(pair: Pair, lacking: SchemaView, pattern: string, schema: Schema): Effect {
  const { additional, properties } = lacking;
  const [closed, open] = lacking === pair.after ? (['narrows', 'widens'] as const) : (['widens', 'narrows'] as const);
  if (!additional.isClosed) return additional.schema.length > 0 ? 'unknown' : open;
  if (schema.every(({ value }) => isAnything(value))) return closed;
  const others = [...patternsOf(lacking).keys()];
  pair.walk.spend((properties.size + others.length) / 2);
  // It also restricts what it matches and the other one allows.
  const isApart =
    [...properties.keys()].every((name) => triesPattern(pattern, name) === false) &&
    others.every((other) => beginApart(pattern, other));
  return isApart ? closed : 'unknown';
}

/** Whether no name matches both patterns, by how it begins. */
function beginApart(...patterns: [string, string]): boolean {
  const [one, other] = patterns.map((pattern) => /^\^([\w-]*)(?![?*{|]|[^]*\|)/.exec(pattern)?.[1] ?? '');
  return !one!.startsWith(other!) && !other!.startsWith(one!);
}

/** Whether a pattern of an object may be one of a property's name. */
function mayMatch({ walk }: Pair, view: SchemaView, name: string): boolean {
  const patterns = patternsOf(view);
  walk.spend(patterns.size / 2);
  return patterns.keys().some((pattern) => triesPattern(pattern, name) !== false);
}

function patternsOf({ side, flat }: SchemaView): Map<string, Schema> {
  const all = flat.parts.flatMap((part) => membersOf(side, memberOf(side, part, 'patternProperties')));
  const groups = Map.groupBy(all, ([pattern]) => pattern);
  return new Map([...groups].map(([pattern, found]) => [pattern, found.map(([, place]) => place)]));
}

function hasFlag(side: Side, schema: Schema, flag: 'readOnly' | 'writeOnly'): boolean {
  return flatten(side, schema).parts.some(({ value }) => value[flag] === true);
}

/** Compares `readOnly` and `writeOnly` of a property: whether it is sent at all. */
function compareFlags(pair: Pair, name: string, before: Schema, after: Schema): void {
  const about = { before: before[0]!.pointer, after: after[0]!.pointer };
  for (const [flag, word] of [
    ['readOnly', 'read-only'],
    ['writeOnly', 'write-only'],
  ] as const) {
    // prettier-ignore
    const [was, is] = [hasFlag(pair.walk.before, before, flag), hasFlag(pair.walk.after, after, flag)];
    if (was === is) continue;
    const isRequired = (is ? pair.before : pair.after).required.has(name);
    const [judgement, means, start = ''] = meaningOf(pair, flag, is, isRequired);
    const [code, says] = is ? ['became', 'is'] : ['became-not', 'is no longer'];
    const details = { before: `${was}`, after: `${is}`, about };
    report(pair, judgement, `${start}${code}-${word}`, `${says} ${word}${means}`, details);
  }
}

/** The effect of a flag in a direction, with the end of its sentence and the start of its code. */
function meaningOf(
  { direction }: Pair,
  flag: 'readOnly' | 'writeOnly',
  is: boolean,
  isRequired: boolean,
): [Judgement, string, string?] {
  if (direction === 'both') return ['risky', ''];
  if (direction === 'request') {
    if (flag === 'writeOnly') return ['safe', ''];
    if (is) return ['risky', ', so requests should not send it'];
    return isRequired ? ['narrows', ', and requests must send it'] : ['widens', ''];
  }
  if (flag === 'readOnly') return ['safe', ''];
  if (!is) return ['narrows', ', so responses have it'];
  const means = ', so responses no longer have it';
  return isRequired ? ['widens', means] : ['risky', means, 'optional-'];
}
