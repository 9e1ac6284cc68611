import { describePlace } from '../describe-place.ts';
import { report, type Pair } from '../report.ts';
import type { SchemaView } from './read-schema.ts';

/**
 * Compares the types, and whether null is allowed. Returns false if they have no type in common:
 * then nothing else can be compared.
 */
export function compareTypes(pair: Pair): boolean {
  const { before, after } = pair;
  if (before.types === null && after.types === null) return true;
  const at = { before: before.types?.pointer ?? before.pointer, after: after.types?.pointer ?? after.pointer };
  const [old, current] = [namesOf(before), namesOf(after)];
  const values = { before: old, after: current, at };
  if (before.types === null || after.types === null) {
    if (saidOtherwise(before) || saidOtherwise(after)) return true;
    const isSet = before.types === null;
    const name = isSet ? 'type-set' : 'type-unset';
    const says = isSet ? `allows only ${current}; it allowed any type` : `allows any type; it allowed only ${old}`;
    if (impliedType(isSet ? before : after) === (isSet ? current : old)) {
      report(pair, { verdict: 'risky', name, says, ...values });
    } else report(pair, { effect: isSet ? 'narrows' : 'widens', name, says, ...values });
    return true;
  }
  const types = { before: before.types.value, after: after.types.value };
  compareNull(pair, types.before.has('null'), types.after.has('null'), values);
  const isText = isSentAsText(pair);
  const isWider = covers(types.after, types.before, isText);
  const isNarrower = covers(types.before, types.after, isText);
  if (isWider && isNarrower) return true;
  const says = `has type ${current} instead of ${old}`;
  if (isWider) report(pair, { effect: 'widens', name: 'type-generalized', says, ...values });
  else if (isNarrower) report(pair, { effect: 'narrows', name: 'type-narrowed', says, ...values });
  else report(pair, { effect: 'changes', name: 'type-changed', says, ...values });
  return [...types.after].some((type) => type !== 'null' && (types.before.has(type) || isWider || isNarrower));
}

/** Whether a schema without `type` says by other means what it allows. */
function saidOtherwise({ types, values, unions }: SchemaView): boolean {
  return types === null && (values !== null || unions.length > 0);
}

/** The type that a schema without `type` seems to mean. Readers and writers usually agree. */
function impliedType({ properties, required, items }: SchemaView): string | null {
  if (properties.size > 0 || required.size > 0) return 'object';
  return items.rest.length > 0 || items.first.length > 0 ? 'array' : null;
}

function compareNull(
  pair: Pair,
  wasNullable: boolean,
  isNullable: boolean,
  values: { before: string; after: string; at: { before: string; after: string } },
): void {
  if (wasNullable === isNullable) return;
  if (isNullable)
    report(pair, { effect: 'widens', name: 'became-nullable', says: 'allows null; it did not', ...values });
  else report(pair, { effect: 'narrows', name: 'became-not-nullable', says: 'no longer allows null', ...values });
}

/** Parameters and headers are sent as text, so a text may be what a number may be. */
function isSentAsText({ walk, after }: Pair): boolean {
  const { role, isProperty } = describePlace(walk.after, after.pointer);
  return !isProperty && (role === 'parameter' || role === 'header');
}

function covers(wide: ReadonlySet<string>, narrow: ReadonlySet<string>, isText: boolean): boolean {
  return [...narrow].every(
    (type) =>
      type === 'null' ||
      wide.has(type) ||
      (type === 'integer' && wide.has('number')) ||
      (isText && wide.has('string') && ['integer', 'number', 'boolean'].includes(type)),
  );
}

function namesOf({ types }: SchemaView): string {
  return types === null ? 'any' : [...types.value].join(' or ') || 'none';
}
