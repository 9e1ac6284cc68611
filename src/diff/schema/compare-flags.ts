import { report, type Pair } from '../report.ts';
import { flatten, type Schema } from './schema-parts.ts';
import type { Side } from '../side.ts';

/** Whether a property is marked with `readOnly` or `writeOnly`. */
export function hasFlag(side: Side, schema: Schema, flag: 'readOnly' | 'writeOnly'): boolean {
  return flatten(side, schema).parts.some(({ value }) => value[flag] === true);
}

/** Compares `readOnly` and `writeOnly` of a property: whether it is sent at all. */
export function compareFlags(pair: Pair, property: { name: string; before: Schema; after: Schema }): void {
  compareFlag(pair, property, 'readOnly');
  compareFlag(pair, property, 'writeOnly');
}

function compareFlag(
  pair: Pair,
  { name, before, after }: { name: string; before: Schema; after: Schema },
  flag: 'readOnly' | 'writeOnly',
): void {
  const [was, is] = [hasFlag(pair.walk.before, before, flag), hasFlag(pair.walk.after, after, flag)];
  if (was === is) return;
  const about = { before: before[0]!.pointer, after: after[0]!.pointer };
  const word = flag === 'readOnly' ? 'read-only' : 'write-only';
  const said = { before: String(was), after: String(is), about };
  const stops = pair.direction === (flag === 'readOnly' ? 'request' : 'response');
  if (pair.direction === 'both')
    return report(pair, {
      verdict: 'risky',
      name: `${is ? 'became' : 'became-not'}-${word}`,
      says: is ? `is ${word}` : `is no longer ${word}`,
      ...said,
    });
  if (!stops)
    return report(pair, {
      verdict: 'safe',
      name: `${is ? 'became' : 'became-not'}-${word}`,
      says: is ? `is ${word}` : `is no longer ${word}`,
      ...said,
    });
  const isRequired = (is ? pair.before : pair.after).required.has(name);
  if (pair.direction === 'request') {
    if (is)
      return report(pair, {
        verdict: 'risky',
        name: 'became-read-only',
        says: 'is read-only, so requests should not send it',
        ...said,
      });
    if (isRequired)
      return report(pair, {
        effect: 'narrows',
        name: 'became-not-read-only',
        says: 'is no longer read-only, and requests must send it',
        ...said,
      });
    return report(pair, { effect: 'widens', name: 'became-not-read-only', says: 'is no longer read-only', ...said });
  }
  if (!is)
    return report(pair, {
      effect: 'narrows',
      name: 'became-not-write-only',
      says: 'is no longer write-only, so responses have it',
      ...said,
    });
  if (isRequired)
    return report(pair, {
      effect: 'widens',
      name: 'became-write-only',
      says: 'is write-only, so responses no longer have it',
      ...said,
    });
  return report(pair, {
    verdict: 'risky',
    name: 'optional-became-write-only',
    says: 'is write-only, so responses no longer have it',
    ...said,
  });
}
