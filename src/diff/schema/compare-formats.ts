import { quote, report, type Pair } from '../report.ts';
import type { Effect } from '../walk.ts';
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
  const old = typeof before?.value === 'string' ? before.value : null;
  const current = typeof after?.value === 'string' ? after.value : null;
  if (old === current) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const said = { before: old, after: current, at };
  const name = old === null ? 'format-set' : current === null ? 'format-unset' : 'format-changed';
  const [from, to] = [old && quote(old), current && quote(current)];
  const says =
    old === null
      ? `has format ${to}; it had none`
      : current === null
        ? `no longer has format ${from}`
        : `has format ${to} instead of ${from}`;
  const named = [old, current].filter((format) => format !== null);
  if (named.every((format) => hints.has(format))) report(pair, { verdict: 'docs', name, says, ...said });
  else report(pair, { effect: effectOf(old, current), name, says, ...said });
}

/** The stated format. The type `file` of OpenAPI 2.0 is what 3.0 writes as the format `binary`. */
function formatOf(view: SchemaView): ReturnType<SchemaView['first']> {
  const type = view.first('type');
  return type?.value === 'file' ? { value: 'binary', pointer: type.pointer } : view.first('format');
}

function effectOf(old: string | null, current: string | null): Effect {
  const isKnown = (format: string | null) => format === null || checked.has(format) || hints.has(format);
  if (!isKnown(old) || !isKnown(current)) return 'unknown';
  const [from, to] = [old, current].map((format) => (format === null || hints.has(format) ? null : format));
  if (from === null) return 'narrows';
  if (to === null) return 'widens';
  const ladder = ladders.find((steps) => steps.includes(from!) && steps.includes(to!));
  if (ladder === undefined) return 'changes';
  return ladder.indexOf(from!) < ladder.indexOf(to!) ? 'widens' : 'narrows';
}

/** Patterns that every text matches. */
const anything = /^"(?:\^?\.\*\$?|\^|\$|)"$/;

function comparePattern(pair: Pair): void {
  const [before, after] = [pair.before.all('pattern'), pair.after.all('pattern')];
  const strip = (text: string | undefined) => (text === undefined || anything.test(text) ? null : text);
  const [old, current] = [strip(before?.value), strip(after?.value)];
  if (old === current) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const said = { before: before?.value ?? null, after: after?.value ?? null, at };
  if (old === null)
    return report(pair, {
      effect: 'narrows',
      name: 'pattern-set',
      says: `must match the pattern ${quote(current!)}`,
      ...said,
    });
  if (current === null)
    return report(pair, {
      effect: 'widens',
      name: 'pattern-unset',
      says: `need not match the pattern ${quote(old)} any more`,
      ...said,
    });
  const says = `must match the pattern ${quote(current)} instead of ${quote(old)}; which of the two allows more cannot be judged`;
  report(pair, { effect: 'unknown', name: 'pattern-changed', says, ...said });
}
