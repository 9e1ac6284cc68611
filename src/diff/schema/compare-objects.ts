import { compareFlags, hasFlag } from './compare-flags.ts';
import { report, type Below, type Pair } from '../report.ts';
import type { Schema } from './schema-parts.ts';
import type { SchemaView } from './read-schema.ts';
import { membersOf, memberOf } from '../side.ts';

/** Compares the properties of an object, which of them are required, and whether others may follow. */
export function compareObjects(pair: Pair, below: Below): void {
  const { before, after } = pair;
  for (const [name, schema] of before.properties) {
    const current = after.properties.get(name);
    if (current === undefined) removed(pair, name, schema);
    else if (!isHidden(pair, schema, current)) {
      compareFlags(pair, { name, before: schema, after: current });
      below(schema, current);
    }
  }
  for (const [name, schema] of after.properties) if (!before.properties.has(name)) added(pair, name, schema);
  compareRequired(pair);
  compareAdditional(pair, below);
  comparePatterns(pair, below);
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
  if (direction === 'response') {
    if (isRequired)
      report(pair, { effect: 'widens', name: 'removed', says: 'was removed; it was always present', about, at });
    else report(pair, { verdict: 'risky', name: 'optional-removed', says: 'was removed; it was optional', about, at });
  } else if (after.additional.isClosed)
    report(pair, { effect: 'narrows', name: 'removed', says: 'was removed and is refused now', about, at });
  else
    report(pair, {
      verdict: 'risky',
      name: 'removed-but-tolerated',
      says: 'was removed; whether it is still accepted is not said',
      about,
      at,
    });
}

function added(pair: Pair, name: string, schema: Schema): void {
  const { before, after, direction } = pair;
  if (isUnsent(pair, 'after', schema)) return;
  const about = { before: null, after: schema[0]!.pointer };
  const at = { before: before.pointer, after: about.after };
  if (after.required.has(name) && direction !== 'response')
    return report(pair, { effect: 'narrows', name: 'added-as-required', says: 'was added and is required', about, at });
  // Whoever keeps to a closed schema refuses what it does not name.
  const isSurprise = before.additional.isClosed && direction !== 'request';
  const says = isSurprise ? 'was added; readers that allow no other properties refuse it' : 'was added';
  report(pair, { verdict: isSurprise ? 'risky' : 'safe', name: 'added', says, about, at });
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
        ? { verdict: 'risky', name: 'additional-properties-allowed', says, at }
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
        effect: pair.after.additional.isClosed ? 'narrows' : 'widens',
        name: 'pattern-property-removed',
        says: `no longer describes properties that match ${JSON.stringify(pattern)}`,
        ...said,
      });
  }
  for (const [pattern, schema] of current) {
    if (old.has(pattern)) continue;
    const said = { after: pattern, at: { before: pair.before.pointer, after: schema[0]!.pointer } };
    report(pair, {
      effect: pair.before.additional.isClosed ? 'widens' : 'narrows',
      name: 'pattern-property-added',
      says: `describes properties that match ${JSON.stringify(pattern)}`,
      ...said,
    });
  }
}

function patternsOf({ side, flat }: SchemaView): Map<string, Schema> {
  const all = flat.parts.flatMap((part) => membersOf(side, memberOf(side, part, 'patternProperties')));
  const groups = Map.groupBy(all, ([pattern]) => pattern);
  return new Map([...groups].map(([pattern, found]) => [pattern, found.map(([, place]) => place)]));
}
