import { compareFlags, hasFlag } from './compare-flags.ts';
import { report, type Below, type Pair } from '../report.ts';
import type { Schema } from './schema-parts.ts';
import type { SchemaView } from './read-schema.ts';
import type { Effect } from '../walk.ts';
import { membersOf, memberOf } from '../side.ts';

/** Compares the properties of an object, which of them are required, and whether others may follow. */
export function compareObjects(pair: Pair, below: Below): void {
  const { before, after } = pair;
  for (const [name, schema] of before.properties) {
    const current = after.properties.get(name);
    if (current === undefined) {
      removed(pair, name, schema);
      const others = restOf(after, after.required.has(name));
      if (others !== null && !isUnsent(pair, 'before', schema)) below(schema, others);
    } else if (!isHidden(pair, schema, current)) {
      compareFlags(pair, { name, before: schema, after: current });
      compareBlocked(pair, name, schema, current);
      below(schema, current);
    }
  }
  for (const [name, schema] of after.properties) {
    if (before.properties.has(name)) continue;
    added(pair, name, schema);
    const others = restOf(before, before.required.has(name));
    if (others !== null && !isUnsent(pair, 'after', schema)) below(others, schema);
  }
  compareRequired(pair);
  compareAdditional(pair, below);
  comparePatterns(pair, below);
}

/**
 * What an object demands of a property that it does not name: what it says about others, or anything
 * where the property is required nevertheless. Null: it does not say.
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
  if (is) report(pair, { effect: 'narrows', name: 'refused', says: `is refused by ${part}`, about });
  else report(pair, { effect: 'widens', name: 'not-refused', says: `is no longer refused by ${part}`, about });
}

/** Whether neither document lets it be sent in this direction. */
function isHidden(pair: Pair, before: Schema, after: Schema): boolean {
  return isUnsent(pair, 'before', before) && isUnsent(pair, 'after', after);
}

function isUnsent({ walk, direction }: Pair, side: 'before' | 'after', schema: Schema): boolean {
  if (direction === 'both') return false;
  return hasFlag(walk[side], schema, direction === 'request' ? 'readOnly' : 'writeOnly');
}

function removed(pair: Pair, name: string, schema: Schema): void {
  const { before, after, direction } = pair;
  if (isUnsent(pair, 'before', schema)) return;
  const about = { before: schema[0]!.pointer, after: null };
  const at = { before: about.before, after: after.pointer };
  const isRequired = before.required.has(name);
  const isStillRequired = after.required.has(name);
  if (direction === 'response') {
    if (isRequired && !isStillRequired)
      report(pair, { effect: 'widens', name: 'removed', says: 'was removed; it was always present', about, at });
    else {
      const says = `was removed; it was ${isRequired ? 'always present, and still is' : 'optional'}`;
      report(pair, { verdict: 'risky', effect: 'changes', name: 'optional-removed', says, about, at });
    }
  } else if (after.additional.isClosed && after.keywords.has('patternProperties'))
    report(pair, {
      effect: 'unknown',
      name: 'removed',
      says: 'was removed; whether a pattern allows it cannot be judged',
      about,
      at,
    });
  else if (after.additional.isClosed)
    report(pair, { effect: 'narrows', name: 'removed', says: 'was removed and is refused now', about, at });
  else
    report(pair, {
      verdict: 'risky',
      effect: 'changes',
      name: 'removed-but-tolerated',
      says:
        after.additional.schema.length > 0 || isStillRequired
          ? 'was removed; others that are not named may still be sent'
          : 'was removed; whether it is still accepted is not said',
      about,
      at,
    });
}

function added(pair: Pair, name: string, schema: Schema): void {
  const { before, after, direction } = pair;
  if (isUnsent(pair, 'after', schema)) return;
  const about = { before: null, after: schema[0]!.pointer };
  const at = { before: before.pointer, after: about.after };
  const wasDescribed = before.keywords.has('patternProperties');
  if (wasDescribed && direction !== 'response')
    report(pair, {
      effect: 'unknown',
      name: 'added',
      says: 'was added; whether a pattern described it before cannot be judged',
      about,
      at,
    });
  const isNewDemand = after.required.has(name) && !before.required.has(name);
  if (isNewDemand && direction !== 'response')
    return report(pair, { effect: 'narrows', name: 'added-as-required', says: 'was added and is required', about, at });
  // Whoever keeps to a closed schema refuses what it does not name.
  const isSurprise = before.additional.isClosed && direction !== 'request';
  const says = isSurprise ? 'was added; readers that allow no other properties refuse it' : 'was added';
  if (wasDescribed && direction !== 'response') return;
  report(pair, {
    verdict: isSurprise ? 'risky' : 'safe',
    ...(before.additional.isClosed && { effect: 'widens' }),
    ...(isNewDemand && { effect: before.additional.isClosed ? 'changes' : 'narrows' }),
    name: 'added',
    says,
    about,
    at,
  });
}

function compareRequired(pair: Pair): void {
  const { before, after } = pair;
  const pointers = (name: string) => ({
    before: before.properties.get(name)?.[0]!.pointer ?? `${before.pointer}/properties/${name}`,
    after: after.properties.get(name)?.[0]!.pointer ?? `${after.pointer}/properties/${name}`,
  });
  for (const [name] of after.required) {
    const schema = after.properties.get(name);
    if (before.required.has(name) || (schema !== undefined && !before.properties.has(name))) continue;
    if (schema !== undefined && isUnsent(pair, 'after', schema)) continue;
    report(pair, {
      effect: 'narrows',
      name: 'became-required',
      says: 'is required; it was optional',
      before: 'optional',
      after: 'required',
      about: pointers(name),
    });
  }
  for (const [name] of before.required) {
    const schema = before.properties.get(name);
    if (after.required.has(name) || (schema !== undefined && !after.properties.has(name))) continue;
    if (schema !== undefined && isUnsent(pair, 'before', schema)) continue;
    report(pair, {
      effect: 'widens',
      name: 'became-optional',
      says: 'is optional; it was required',
      before: 'required',
      after: 'optional',
      about: pointers(name),
    });
  }
}

function compareAdditional(pair: Pair, below: Below): void {
  const [old, current] = [pair.before.additional, pair.after.additional];
  const at = { before: old.pointer, after: current.pointer };
  if (!old.isClosed && current.isClosed)
    return report(pair, {
      effect: 'narrows',
      name: 'additional-properties-forbidden',
      says: 'no longer allows properties that it does not name',
      at,
    });
  if (old.isClosed && !current.isClosed) {
    const says = 'allows properties that it does not name; it allowed none';
    return report(
      pair,
      pair.direction === 'response'
        ? { verdict: 'risky', effect: 'widens', name: 'additional-properties-allowed', says, at }
        : { effect: 'widens', name: 'additional-properties-allowed', says, at },
    );
  }
  if (current.isClosed || (old.schema.length === 0 && current.schema.length === 0)) return;
  if (old.schema.length === 0)
    return report(pair, {
      effect: 'narrows',
      name: 'additional-properties-restricted',
      says: 'allows only certain values for properties that it does not name',
      at,
    });
  if (current.schema.length === 0)
    return report(pair, {
      effect: 'widens',
      name: 'additional-properties-generalized',
      says: 'allows any value for properties that it does not name',
      at,
    });
  below(old.schema, current.schema);
}

function comparePatterns(pair: Pair, below: Below): void {
  const [old, current] = [patternsOf(pair.before), patternsOf(pair.after)];
  for (const [pattern, schema] of old) {
    const other = current.get(pattern);
    const said = { before: pattern, at: { before: schema[0]!.pointer, after: pair.after.pointer } };
    if (other !== undefined) below(schema, other);
    else
      report(pair, {
        effect: effectOfPattern(pair.after, 'narrows', 'widens'),
        name: 'pattern-property-removed',
        says: `no longer describes properties that match ${JSON.stringify(pattern)}`,
        ...said,
      });
  }
  for (const [pattern, schema] of current) {
    if (old.has(pattern)) continue;
    const said = { after: pattern, at: { before: pair.before.pointer, after: schema[0]!.pointer } };
    report(pair, {
      effect: effectOfPattern(pair.before, 'widens', 'narrows'),
      name: 'pattern-property-added',
      says: `describes properties that match ${JSON.stringify(pattern)}`,
      ...said,
    });
  }
}

/** What a pattern of the one document does where the other one has none. */
function effectOfPattern({ additional, properties }: SchemaView, closed: Effect, open: Effect): Effect {
  if (!additional.isClosed) return additional.schema.length > 0 ? 'unknown' : open;
  // It restricts the named properties that it matches.
  return properties.size > 0 ? 'unknown' : closed;
}

function patternsOf({ side, flat }: SchemaView): Map<string, Schema> {
  const all = flat.parts.flatMap((part) => membersOf(side, memberOf(side, part, 'patternProperties')));
  const groups = Map.groupBy(all, ([pattern]) => pattern);
  return new Map([...groups].map(([pattern, found]) => [pattern, found.map(([, place]) => place)]));
}
