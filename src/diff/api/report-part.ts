import type { Direction, Verdict } from '../../model/comparison.ts';
import { entriesOf } from '../../render/json-value.ts';
import { addFact, describeText, rule, type Pointers } from '../report.ts';
import { textOfValue } from '../schema/read-schema.ts';
import { memberOf, type Place } from '../side.ts';
import type { Effect, Unit, Walk } from '../walk.ts';

/** A change of a part of an API other than a schema. */
export type ApiFinding = ({ effect: Effect } | { verdict: Verdict }) & {
  code: string;
  message: string;
  before?: string | null;
  after?: string | null;
  at: Pointers;
  direction?: Direction | null;
};

/** Reports it. `effect` is judged by the rule of its direction. */
export function reportPart(unit: Unit, finding: ApiFinding): void {
  const { code, message, at } = finding;
  const direction = finding.direction ?? null;
  const verdict = 'verdict' in finding ? finding.verdict : rule[direction ?? 'both'][finding.effect];
  addFact(unit, {
    verdict,
    code,
    message,
    before: finding.before ?? null,
    after: finding.after ?? null,
    pointers: at,
    direction,
  });
}

/** Compares members that are only for people: those named, and extensions. */
export function reportTexts(
  walk: Walk,
  unit: Unit,
  {
    before,
    after,
    subject,
    role,
    keys,
  }: { before: Place; after: Place; subject: string; role: string; keys: readonly string[] },
): void {
  const extensions = [before, after].flatMap(({ value }) =>
    entriesOf(value)
      .map(([key]) => key)
      .filter((key) => key.startsWith('x-') && key !== 'x-sunset'),
  );
  for (const key of new Set([...keys, ...extensions])) {
    const [old, current] = [memberOf(walk.before, before, key), memberOf(walk.after, after, key)];
    const [from, to] = [old && textOfValue(old.value), current && textOfValue(current.value)];
    if (from === to) continue;
    const name = key.startsWith('x-') ? 'extension' : key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const at = { before: old?.pointer ?? before.pointer, after: current?.pointer ?? after.pointer };
    addFact(unit, {
      verdict: 'docs',
      code: `${role}-${name}-changed`,
      message: `${subject} ${describeText(key, from, to)}.`,
      before: from,
      after: to,
      pointers: at,
      direction: null,
    });
  }
}
