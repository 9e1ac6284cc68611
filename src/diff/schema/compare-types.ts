import { own } from '../../model/json.ts';
import { placesOf, report, type Pair } from '../report.ts';
import { namesOfTypes, typesIn, type SchemaView } from './read-schema.ts';
import { coversTypes } from './schema-parts.ts';

/** Compares whether null is allowed, by whatever the schemas say about it. */
export function compareNull(pair: Pair): void {
  const { before, after, isBranch } = pair;
  const [was, is] = [before.allowsNull, after.allowsNull];
  if (isBranch || was === is || was === null || is === null) return;
  // If one of them allows anything, the change is what the other one states.
  const [anything, stated] = was ? [before, after] : [after, before];
  if (isAny(anything) && !isAny(stated)) return;
  const values = { before: namesOf(before), after: namesOf(after), at: placesOf(pair, before.types, after.types) };
  if (is) report(pair, 'widens', 'became-nullable', 'allows null; it did not', values);
  else report(pair, 'narrows', 'became-not-nullable', 'no longer allows null', values);
}

/** Compares the types. Returns false if they have none in common: then nothing else can be compared. */
export function compareTypes(pair: Pair): boolean {
  const { before, after, types, isText } = pair;
  if (before.types === null && after.types === null) return true;
  const [old, current] = [namesOf(before), namesOf(after)];
  const values = { before: old, after: current, at: placesOf(pair, before.types, after.types) };
  if (types.before === null || types.after === null) {
    const stated = before.types ?? after.types;
    // Values that are listed say more than their types.
    if (stated?.isStated !== true) return true;
    const isSet = types.before === null;
    const says = isSet ? `allows only ${current}; it allowed any type` : `allows any type; it allowed only ${old}`;
    const effect = isSet ? 'narrows' : 'widens';
    const isImplied = impliedType(isSet ? before : after) === (isSet ? current : old);
    report(pair, isImplied ? 'risky' : effect, isSet ? 'type-set' : 'type-unset', says, { ...values, effect });
    // Where only null is left, nothing else can be compared.
    return stated.value.size > 0;
  }
  const isCommon = [...types.after].some((type) => haveType(pair, type));
  // Values that both list, and branches, are compared one by one.
  if (isCommon && before.types?.isStated !== true && after.types?.isStated !== true) return true;
  const isWider = covers(types.after, types.before, isText);
  const isNarrower = covers(types.before, types.after, isText);
  if (isWider && isNarrower) return isCommon;
  const says = `has type ${current} instead of ${old}`;
  if (isWider) report(pair, 'widens', 'type-generalized', says, values);
  else if (isNarrower) report(pair, 'narrows', 'type-narrowed', says, values);
  else report(pair, 'changes', 'type-changed', says, values);
  return isCommon;
}

/** Whether values of a type are valid before and after, as far as types say. */
export function haveType({ types, isText }: Pair, type: string): boolean {
  if (type !== 'object' && type !== 'array' && isText) return true;
  const wider: Readonly<Record<string, string>> = { integer: 'number', number: 'integer' };
  return [types.before, types.after].every(
    (names) => names === null || names.has(type) || names.has(own(wider, type) ?? type),
  );
}

function isAny({ isNever, types, values, unions }: SchemaView): boolean {
  return !isNever && types === null && values === null && unions.length === 0;
}

/** The type that a schema without `type` seems to mean. Readers and writers usually agree. */
function impliedType({ properties, required, items }: SchemaView): string | null {
  if (properties.size > 0 || required.size > 0) return 'object';
  return items.rest.length > 0 || items.first.length > 0 ? 'array' : null;
}

/** A value that is sent as text may also be a number. */
function covers(wide: ReadonlySet<string>, narrow: ReadonlySet<string>, isText: boolean): boolean {
  const sent = new Set(['integer', 'number', 'boolean']);
  return coversTypes(wide, isText && wide.has('string') ? narrow.difference(sent) : narrow);
}

function namesOf(view: SchemaView): string {
  const types = typesIn(view);
  return types === null ? 'any' : namesOfTypes(types, view.allowsNull);
}
