import { report, type Judgement, type Pair } from '../report.ts';
import { flatten, type Schema } from './schema-parts.ts';
import type { Side } from '../side.ts';

/** Whether a property is marked with `readOnly` or `writeOnly`. */
export function hasFlag(side: Side, schema: Schema, flag: 'readOnly' | 'writeOnly'): boolean {
  return flatten(side, schema).parts.some(({ value }) => value[flag] === true);
}

interface Property {
  name: string;
  before: Schema;
  after: Schema;
}

/** Compares `readOnly` and `writeOnly` of a property: whether it is sent at all. */
export function compareFlags(pair: Pair, property: Property): void {
  compareFlag(pair, property, 'readOnly', 'read-only');
  compareFlag(pair, property, 'writeOnly', 'write-only');
}

function compareFlag(
  pair: Pair,
  { name, before, after }: Property,
  flag: 'readOnly' | 'writeOnly',
  word: string,
): void {
  const [was, is] = [hasFlag(pair.walk.before, before, flag), hasFlag(pair.walk.after, after, flag)];
  if (was === is) return;
  const isRequired = (is ? pair.before : pair.after).required.has(name);
  const [judgement, means, start = ''] = meaningOf(pair, flag, is, isRequired);
  report(
    pair,
    judgement,
    `${start}${is ? 'became' : 'became-not'}-${word}`,
    `is ${is ? '' : 'no longer '}${word}${means}`,
    {
      before: String(was),
      after: String(is),
      about: { before: before[0]!.pointer, after: after[0]!.pointer },
    },
  );
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
