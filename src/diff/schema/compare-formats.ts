import { own } from '../../model/json.ts';
import { textOf } from '../../render/json-value.ts';
import { codeOf, effectOf, placesOf, quote, report, sayHas, sayMust, type Pair } from '../report.ts';
import type { Effect } from '../walk.ts';
import { isRestriction } from './keywords.ts';
import type { SchemaView } from './read-schema.ts';

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

/** Compares `format` and `pattern`. */
export function compareFormats(pair: Pair): void {
  compareFormat(pair);
  comparePattern(pair);
}

function compareFormat(pair: Pair): void {
  const [before, after] = [formatOf(pair.before), formatOf(pair.after)];
  const textIn = (format: typeof before) => (typeof format?.value === 'string' ? format.value : null);
  const [old, current] = [textIn(before), textIn(after)];
  if (old === current || haveSameCoding(pair)) return;
  const isHint = [old, current].every((format) => format === null || hints.has(format));
  const says = sayHas('format', old && quote(old), current && quote(current));
  const details = { before: old, after: current, at: placesOf(pair, before, after) };
  report(pair, isHint ? 'docs' : effectOfFormats(old, current), codeOf('format', old, current), says, details);
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

/** Patterns that every text matches. */
const anything = /^"(?:\^?\.\*\$?|\^|\$|)"$/;

function comparePattern(pair: Pair): void {
  const [before, after] = [pair.before.all('pattern'), pair.after.all('pattern')];
  const strip = (text: string | undefined) => (text === undefined || anything.test(text) ? null : text);
  const [old, current] = [strip(before?.value), strip(after?.value)];
  if (old === current) return;
  const says = sayMust('match the pattern', old && quote(old), current && quote(current));
  const unclear = old && current ? '; which of the two allows more cannot be judged' : '';
  report(pair, effectOf(old, current, 'unknown'), codeOf('pattern', old, current), says + unclear, {
    before: before?.value,
    after: after?.value,
    at: placesOf(pair, before, after),
  });
}
