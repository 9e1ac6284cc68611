import { listOf, textOf } from '../../render/json-value.ts';
import {
  placesOf,
  quote,
  report,
  type Judgement,
  type Pair,
  type Pointers,
  codeOf,
  effectOf,
  sayHas,
  sayMust,
} from '../report.ts';
import { textOfValue, type SchemaView, namesOfTypes, typesIn } from './read-schema.ts';
import { own } from '../../model/json.ts';
import { matchesAll, plainPattern } from './plain-form.ts';
import { coversTypes, limitOf, rangeOf, statedIn, triesPattern, typesOfValues } from './schema-parts.ts';
import type { Effect, Walk } from '../walk.ts';
import { isRestriction } from './keywords.ts';

const maxNames = 10;

/** Compares the lists of allowed values: `enum` and `const`. */
export function compareValues(pair: Pair): void {
  const { before, after } = pair;
  const [old, current] = [before.values?.value ?? null, after.values?.value ?? null];
  if (old === null && current === null) return compareKnown(pair);
  const at = placesOf(pair, before.values, after.values);
  const details = { before: old && listed(whole(before, old)), after: current && listed(whole(after, current)), at };
  if (old === null)
    return report(pair, 'narrows', 'became-enum', `allows only ${details.after}; it listed no values`, details);
  if (current === null)
    return report(pair, 'widens', 'enum-removed', `no longer lists values; it allowed only ${details.before}`, details);
  // Where no value is left, readers know none of them.
  const added = old.isDisjointFrom(current) ? 'widens' : widensValues(pair);
  reportLists(pair, 'enum-value', [old, current], at, {
    removed: ['narrows', (values) => `no longer allows ${values}`],
    added: [added, (values) => `also allows ${values}`],
  });
  reportLists(pair, 'refused-enum-value', [refusedIn(before), refusedIn(after)], at, {
    removed: ['risky', (values) => `no longer lists ${values}, which its type refuses`],
    added: ['risky', (values) => `lists ${values}, which its type refuses`],
  });
}

/** Listed values that the type beside them refuses: a slip, such as a number of YAML that is meant as a text. */
function refusedIn({ flat, values }: SchemaView): ReadonlySet<string> {
  const refused = flat.parts.flatMap(({ value: { type, enum: all } }) => {
    const types = new Set([type ?? []].flat().map(textOf));
    const isRefused = (one: unknown) => types.size > 0 && one !== null && !coversTypes(types, typesOfValues([one]));
    return listOf(all).filter(isRefused).map(textOfValue);
  });
  return new Set(refused).difference(values?.value ?? new Set());
}

/** The judgement on new values of a list. In responses it is the organization's: most readers pass over one. */
export function widensValues({ direction, walk }: Pair): Judgement {
  return direction === 'response' ? walk.rules.enums : 'widens';
}

/** Adds null if it is allowed, since the compared lists leave it out. */
function whole({ allowsNull }: SchemaView, values: ReadonlySet<string>): string[] {
  return allowsNull === true ? [...values, 'null'] : [...values];
}

type Says = readonly [Judgement, (values: string) => string];

/** Reports the removed and the added values of a list. */
export function reportLists(
  pair: Pair,
  name: string,
  [old, current]: readonly [ReadonlySet<string>, ReadonlySet<string>],
  at: Pointers,
  rules: { removed: Says; added: Says },
): void {
  const [removed, added] = [listed([...old.difference(current)]), listed([...current.difference(old)])];
  const [[loses, saysLess], [gains, saysMore]] = [rules.removed, rules.added];
  if (removed !== '') report(pair, loses, `${name}-removed`, saysLess(removed), { before: removed, at });
  if (added !== '')
    report(pair, gains, `${name}-added`, saysMore(added), {
      after: added,
      at,
      ...(gains !== 'safe' && { effect: 'widens' }),
    });
}

/** Compares values that are named although others are allowed, too. */
function compareKnown(pair: Pair): void {
  compareExtensible(pair);
  const [old, current] = [pair.before.names, pair.after.names];
  const values = [old?.value ?? new Set<string>(), current?.value ?? new Set<string>()] as const;
  reportLists(pair, 'open-enum-value', values, placesOf(pair, old, current), {
    removed: ['safe', (names) => `no longer names ${names} among its values`],
    added: ['safe', (names) => `names ${names} among its values, and allows others, too`],
  });
}

/** `x-extensible-enum` lists values to which others may be added at any time. */
function compareExtensible(pair: Pair): void {
  const [before, after] = [pair.before.first('x-extensible-enum'), pair.after.first('x-extensible-enum')];
  const setOf = (stated: { value: unknown } | null) => new Set(listOf(stated?.value).map(textOfValue));
  const [old, current] = [setOf(before), setOf(after)];
  const at = placesOf(pair, before, after);
  if (before === null && after !== null)
    return report(pair, 'narrows', 'extensible-enum-set', `allows ${listed([...current])}, and others later; it listed no values`, { at }); // prettier-ignore
  if (before !== null && after === null)
    return report(pair, 'safe', 'extensible-enum-unset', `no longer lists values; it listed ${listed([...old])}`, {
      at,
    });
  reportLists(pair, 'extensible-enum-value', [old, current], at, {
    removed: ['narrows', (values) => `no longer allows ${values}`],
    added: ['safe', (values) => `also allows ${values}`],
  });
}

function listed(values: readonly string[]): string {
  const rest = values.length > maxNames ? ` and ${values.length - maxNames} more` : '';
  return values.slice(0, maxNames).map(quote).join(', ') + rest;
}

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

/** Whether a schema allows values of any type, as far as it says itself. */
export function isAny({ isNever, types, values, unions }: SchemaView): boolean {
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

/** Formats of which each allows what the ones before it allow. */
const ladders = [
  ['int32', 'int64'],
  ['float', 'double'],
];

/**
 * Formats of numbers and texts that tools check. Others are known to those who made them, so a
 * change of them cannot be judged.
 */
const checked = new Set([
  ...ladders.flat(),
  ...'date date-time time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri iri-reference uri-template uuid json-pointer relative-json-pointer regex byte binary base64url'.split(' '), // prettier-ignore
]);

/** Hints for people who write or show a value. They allow nothing and refuse nothing. */
const hints = new Set(['password', 'html', 'markdown', 'commonmark', 'textarea', 'color', 'multiline']);

export function compareFormat(pair: Pair): void {
  const [before, after] = [formatOf(pair.before), formatOf(pair.after)];
  const textIn = (format: typeof before) => (typeof format?.value === 'string' ? format.value : null);
  const [old, current] = [textIn(before), textIn(after)];
  if (old === current || haveSameCoding(pair)) return;
  const isHint = [old, current].every((format) => format === null || hints.has(format));
  const isMoot = (old === null && isInRange(pair.before, current)) || (current === null && isInRange(pair.after, old));
  const says = sayHas('format', old && quote(old), current && quote(current));
  const details = { before: old, after: current, at: placesOf(pair, before, after) };
  const judgement = isHint || isMoot ? 'docs' : effectOfFormats(old, current);
  report(pair, judgement, codeOf('format', old, current), says, details);
}

/** Whether a schema allows only numbers of a format, by its limits. */
function isInRange(view: SchemaView, format: string | null): boolean {
  const [range, least, most] = [rangeOf(view.side, format), limitOf(view, 'minimum'), limitOf(view, 'maximum')];
  return range !== null && least !== null && most !== null && least.bound >= range[0] && most.bound <= range[1];
}

/** Whether both say that a text has the same coding: the format `byte` is what 3.1 writes as `contentEncoding: base64`. */
export function haveSameCoding({ before, after }: Pair): boolean {
  const [old, current] = [before, after].map(
    (view) => view.first('contentEncoding')?.value ?? own(codings, textOf(formatOf(view)?.value)) ?? null,
  );
  return old !== null && old === current;
}

const codings: Readonly<Record<string, string>> = { byte: 'base64', base64: 'base64', base64url: 'base64url' };

/**
 * Whether both allow any bytes: the format `binary` is what 3.1 writes as `contentMediaType` or, outside
 * of JSON, not at all.
 */
export function areBytes({ walk, before, after }: Pair): boolean {
  const others = (view: SchemaView) => [...view.keywords].filter((name) => isRestriction(name) && name !== 'type');
  const isBinary = (view: SchemaView) =>
    formatOf(view)?.value === 'binary' && others(view).every((name) => name === 'format');
  const isMarked = (view: SchemaView) =>
    others(view).join() === 'contentMediaType' && (view.types === null || [...view.types.value].join() === 'string');
  const isSilent = (view: SchemaView) =>
    walk.before.dialect.name !== walk.after.dialect.name && !isNotAny(view) && isOutsideOfJson(view.pointer);
  const areSame = (one: SchemaView, other: SchemaView) => isBinary(one) && (isMarked(other) || isSilent(other));
  return areSame(before, after) || areSame(after, before);
}

function isNotAny({ isNever, keywords, unions, flat }: SchemaView): boolean {
  return isNever || unions.length > 0 || flat.unresolved.length > 0 || [...keywords].some(isRestriction);
}

/** Whether a schema stands in a media type other than JSON. */
function isOutsideOfJson(pointer: string): boolean {
  const type = /^.*\/content\/([^/]*)\/schema/.exec(pointer)?.[1];
  return type !== undefined && !type.toLowerCase().includes('json');
}

/** The stated format. The type `file` of OpenAPI 2.0 is what 3.0 writes as the format `binary`. */
function formatOf(view: SchemaView): ReturnType<SchemaView['first']> {
  const type = view.first('type');
  return type?.value === 'file' ? { value: 'binary', pointer: type.pointer } : view.first('format');
}

function effectOfFormats(old: string | null, current: string | null): Effect {
  if ([old, current].some((format) => format !== null && !checked.has(format) && !hints.has(format))) return 'unknown';
  const [from, to] = [old, current].map((format) => (format === null || hints.has(format) ? null : format));
  const ladder = ladders.find((steps) => steps.includes(from!) && steps.includes(to!));
  if (ladder === undefined) return effectOf(from, to, 'changes');
  return ladder.indexOf(from!) < ladder.indexOf(to!) ? 'widens' : 'narrows';
}

export function comparePattern(pair: Pair): void {
  const [before, after] = [pair.before.all('pattern'), pair.after.all('pattern')];
  const strip = (text: string | undefined) => (text === undefined || matchesAll(text.slice(1, -1)) ? null : text);
  const [old, current] = [strip(before?.value), strip(after?.value)];
  const plain = ({ flat }: SchemaView) =>
    textOfValue(statedIn(flat.parts, 'pattern').map(({ value }) => plainPattern(textOf(value))).sort()); // prettier-ignore
  if (old === current || plain(pair.before) === plain(pair.after) || haveValuesMatching(pair)) return;
  const says = sayMust('match the pattern', old && quote(old), current && quote(current));
  const unclear = old && current ? '; which of the two allows more cannot be judged' : '';
  report(pair, effectOf(old, current, 'unknown'), codeOf('pattern', old, current), says + unclear, {
    before: before?.value,
    after: after?.value,
    at: placesOf(pair, before, after),
  });
}

/** Whether all values that are listed before and after match the patterns of both. */
function haveValuesMatching({ before, after }: Pair): boolean {
  const patterns = statedIn([...before.flat.parts, ...after.flat.parts], 'pattern').map(({ value }) => textOf(value));
  return [before, after].every(({ values }) =>
    values?.value.values().every((text) => {
      const value: unknown = JSON.parse(text);
      return typeof value !== 'string' || patterns.every((pattern) => triesPattern(pattern, value) === true);
    }),
  );
}

/**
 * Whether two values are the same, with all that they refer to. In documents of different dialects,
 * whether they are written in the same way.
 */
export function isSameValue(walk: Walk, before: unknown, after: unknown): boolean {
  if (walk.before.dialect.name === walk.after.dialect.name) return walk.same(before, after);
  return textOfValue(before) === textOfValue(after);
}
