import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Change, Comparison } from '../../src/model/comparison.ts';
import { timesAsMany } from '../sample.ts';
import { instancesFor } from './schema-instances.ts';
import { judged, oracleOf } from './schema-oracle.ts';
import { pairs, type Pair } from './schema-pairs.ts';

const families = fc.oneof(pairs({ deep: false }), pairs({ deep: true }));

/** What is said of the values that are refused now, by the end of the code. */
const says: readonly (readonly [RegExp, (value: unknown, change: Change) => boolean])[] = [
  [/-max-length-(?:set|decreased)$/, (value, { after }) => typeof value === 'string' && value.length > Number(after)],
  [/-min-length-(?:set|increased)$/, (value, { after }) => typeof value === 'string' && value.length < Number(after)],
  [/-maximum-(?:set|decreased)$/, (value, { after }) => typeof value === 'number' && value >= Number(after)],
  [/-minimum-(?:set|increased)$/, (value, { after }) => typeof value === 'number' && value <= Number(after)],
  [/-multiple-of-(?:set|changed)$/, (value, { after }) => typeof value === 'number' && value % Number(after) !== 0],
  [/-max-items-(?:set|decreased)$/, (value, { after }) => Array.isArray(value) && value.length > Number(after)],
  [/-min-items-(?:set|increased)$/, (value, { after }) => Array.isArray(value) && value.length < Number(after)],
  [/-max-properties-(?:set|decreased)$/, (value, { after }) => sizeOf(value) > Number(after)],
  [/-min-properties-(?:set|increased)$/, (value, { after }) => sizeOf(value) < Number(after)],
  [/-became-not-nullable$/, (value) => value === null],
  [/-enum-value-removed$/, (value, { before }) => before!.split(', ').includes(JSON.stringify(value))],
  [/-became-enum$/, (value, { after }) => !after!.split(', ').includes(JSON.stringify(value))],
  [/-type-(?:narrowed|changed|set)$/, (value, { after }) => !typesOf(value).some((type) => after!.includes(type))],
  [
    /-pattern-set$/,
    (value, { after }) => typeof value === 'string' && !new RegExp(JSON.parse(after!) as string).test(value),
  ],
  [
    /-unique-items-set$/,
    (value) => Array.isArray(value) && new Set(value.map((one) => JSON.stringify(one))).size < value.length,
  ],
];

const start = '/paths/~1things/post/requestBody/content/application~1json/schema';

/** The way from the request body to the values that a change is about. Null: it leads through something else than properties and items. */
function wayOf({ pointers }: Change): string[] | null {
  if (!pointers.after?.startsWith(start)) return null;
  const keys = pointers.after.slice(start.length).split('/').slice(1);
  const way: string[] = [];
  for (let at = 0; at < keys.length; at++)
    if (keys[at] === 'properties') way.push(keys[++at]!);
    else if (keys[at] === 'items') way.push('[]');
    else if (at < keys.length - 1) return null;
  return way;
}

function valuesAt(value: unknown, way: readonly string[]): unknown[] {
  const [key, ...rest] = way;
  if (key === undefined) return [value];
  if (key === '[]') return Array.isArray(value) ? value.flatMap((one) => valuesAt(one, rest)) : [];
  return sizeOf(value) >= 0 && Object.hasOwn(value as object, key)
    ? valuesAt((value as Record<string, unknown>)[key], rest)
    : [];
}

/** The number of members. Not a number: it is no object. */
function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value).length : NaN;
}

function typesOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

test('a breaking change of a request names what was accepted and is refused now', () => {
  const counts = new Map<string, { true: number; untrue: string[] }>();
  fc.assert(
    fc.property(families, (pair) => {
      for (const [rule, isTrue, message] of sentencesOf(pair, judged(pair, 'request', ['3.1', '3.1'])!)) {
        const count = counts.get(rule) ?? { true: 0, untrue: [] };
        counts.set(rule, count);
        if (isTrue) count.true++;
        else count.untrue.push(`${message} ${JSON.stringify(pair)}`);
      }
    }),
    { numRuns: 1200 * timesAsMany },
  );
  const all = [...counts.values()];
  const [right, wrong] = [all.reduce((sum, one) => sum + one.true, 0), all.flatMap(({ untrue }) => untrue)];
  if (timesAsMany > 1)
    console.log(
      right,
      wrong.length,
      Object.fromEntries([...counts].map(([rule, one]) => [rule, [one.true, one.untrue.length]])),
    );
  expect(counts.size).toBeGreaterThan(9);
  expect(wrong.length / (right + wrong.length), wrong.slice(0, 3).join('\n')).toBeLessThan(0.05);
});

/** The sentences of a comparison that can be checked, and whether a value shows that they are true. */
function sentencesOf(pair: Pair, { changes }: Comparison): [rule: string, isTrue: boolean, message: string][] {
  const checked = changes.flatMap((change) => {
    const rule = says.find(([code]) => change.verdict === 'breaking' && code.test(change.code));
    const way = wayOf(change);
    return rule === undefined || way === null ? [] : [{ change, rule, way }];
  });
  if (checked.length === 0) return [];
  const [old, current] = [oracleOf(pair.before), oracleOf(pair.after)];
  const accepted = instancesFor(pair).filter((value) => old.accepts(value));
  // A schema whose keywords contradict each other allows nothing at all.
  if (!accepted.some((value) => value !== null)) return [];
  const lost = accepted.filter((value) => !current.accepts(value));
  return checked.map(({ change, rule: [code, isIt], way }) => {
    const isTrue = lost.some((value) => valuesAt(value, way).some((one) => isIt(one, change)));
    return [code.source, isTrue, change.message];
  });
}
