// Each rule of requests has its mirror in responses: what narrows a request from one schema to another does to it what widens a
// response from the other to the one. After oasdiff's `checker/rule_symmetry_test.go`: a rule without one has a reason here.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timesAsMany } from '../sample.ts';
import { judged } from './schema-oracle.ts';
import { pairs } from './schema-pairs.ts';

/** The ends of codes that are each other's mirror. Others are their own. */
const mirrors: readonly (readonly [string, string])[] = [
  ['set', 'unset'],
  ['increased', 'decreased'],
  ['became-nullable', 'became-not-nullable'],
  ['type-generalized', 'type-narrowed'],
  ['enum-value-added', 'enum-value-removed'],
  ['enum-removed', 'became-enum'],
  ['became-required', 'became-optional'],
  ['became-possible', 'became-impossible'],
  ['of-added', 'of-removed'],
  ['of-merged', 'of-split'],
  ['additional-items-allowed', 'additional-items-forbidden'],
  ['additional-properties-allowed', 'additional-properties-forbidden'],
  ['additional-properties-restricted', 'additional-properties-generalized'],
  ['pattern-property-added', 'pattern-property-removed'],
  ['refused', 'not-refused'],
];

/** Rules whose mirror has another verdict or another code, and why. */
const waived: readonly (readonly [end: RegExp, why: string])[] = [
  [/enum-value-(?:added|removed)$/, 'Most readers pass over a new value, so a response that gains one is risky.'],
  [/of-(?:added|removed)$/, 'So is an alternative that is a value.'],
  [/of-(?:merged|split)$/, 'Whether `oneOf` refused a value is judged in the document that has the alternative.'],
  [/additional-properties-(?:allowed|forbidden)$/, 'Most readers pass over properties that they do not know.'],
  [
    /^(?:added|removed|optional-removed|removed-but-tolerated|added-as-required)$/,
    'A property that is gone is missed by readers, and ignored by servers.',
  ],
];

test('each rule of requests has its mirror in responses, or a reason', () => {
  fc.assert(
    fc.property(fc.oneof(pairs({ deep: false }), pairs({ deep: true })), ({ before, after }) => {
      const there = judged({ before, after }, 'request', ['3.1', '3.1'])!;
      const back = judged({ before: after, after: before }, 'response', ['3.1', '3.1'])!;
      const told = ({ changes }: typeof there, turn: (name: string) => string) =>
        changes
          .filter(({ verdict, direction }) => direction !== null && verdict !== 'docs')
          .map(({ verdict, code }) => ({
            verdict,
            name: code.replace(/^(?:(?:request|response)-)?(?:property|body|schema)-/, ''),
          }))
          .filter(({ name }) => !waived.some(([end]) => end.test(name)))
          .map(({ verdict, name }) => `${verdict} ${turn(name)}`)
          .sort();
      expect(told(there, (name) => name)).toEqual(told(back, mirrorOf));
    }),
    { numRuns: 150 * timesAsMany },
  );
});

function mirrorOf(name: string): string {
  for (const [one, other] of mirrors)
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const)
      if (name === from || name.endsWith(`-${from}`)) return name.slice(0, name.length - from.length) + to;
  return name;
}
