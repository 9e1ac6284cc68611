// Two operations that use the same components, each compared together with the other one and alone.
import fc from 'fast-check';
import { anyKeywords, schemasOf } from './any-keywords.ts';
import { api, compare, giving, taking, type Json } from './given.ts';
import { written } from './schema-oracle.ts';
import type { Schema, Side } from './schema-pairs.ts';

const shared: Schema = { $ref: '#/$defs/Shared' };

/** Schemas that use the shared one: alone, as a part, as an alternative or of a property, and beside something else. */
const uses = fc
  .tuple(
    fc.oneof(
      fc.constantFrom<Json>(shared, { allOf: [shared] }, { properties: { a: shared } }, { not: shared }),
      fc.tuple(fc.constantFrom('anyOf', 'oneOf'), schemasOf()).map(([kind, other]): Json => ({ [kind]: [shared, other] })),
    ),
    fc.option(schemasOf()),
  )
  .map(([use, beside]): Json => ({ ...(typeof beside === 'object' && beside), ...use })); // prettier-ignore

const directions = fc.constantFrom('request', 'response', 'request');

/** Two uses of a component that changed. */
export const sharings = fc.record({ pair: anyKeywords(), uses: fc.tuple(uses, uses), direction: directions });
export type Sharing = typeof sharings extends fc.Arbitrary<infer One> ? One : never;

/** The worst verdict of each operation, compared together, and of each, compared alone. */
export function verdictsOf({ pair, uses: both, direction }: Sharing): { together: string[]; alone: string[] } {
  const documentOf = ({ root, defs }: Side, numbers: readonly number[]): Json => {
    const all = Object.entries({ ...defs, Shared: root }).map(([name, one]) => [name, written(one, '3.1')]);
    const item = (schema: Schema) => {
      const document = (direction === 'request' ? taking : giving)(written(schema, '3.1'));
      return Object.values(document['paths'] as Json)[0];
    };
    const paths = Object.fromEntries(numbers.map((at) => [`/${at}`, item(both[at]!)]));
    return api({}, { paths, components: { schemas: Object.fromEntries(all) } });
  };
  const verdicts = (numbers: readonly number[]) => {
    const { changes } = compare(documentOf(pair.before, numbers), documentOf(pair.after, numbers));
    return numbers.map((at) => {
      const found = changes.filter(({ operations }) => operations.includes(`POST /${at}`));
      return order.find((verdict) => found.some((change) => change.verdict === verdict)) ?? 'none';
    });
  };
  return { together: verdicts([0, 1]), alone: [0, 1].flatMap((at) => verdicts([at])) };
}

const order = ['breaking', 'unknown', 'risky', 'safe', 'docs'];
