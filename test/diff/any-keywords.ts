// Pairs of schemas that have any keyword beside any other, drawn at random.
import fc from 'fast-check';
import type { Json } from './given.ts';
import { anyValue, kinds, names, pairsOf, types, type Pair, type Schema } from './schema-pairs.ts';

/** A keyword with its value, or several that belong together. */
type Said = fc.Arbitrary<Json>;

const says = (named: string, value: fc.Arbitrary<unknown>): Said[] =>
  named.split(' ').map((keyword) => value.map((one) => ({ [keyword]: one })));
const listOf = <One>(one: fc.Arbitrary<One>, maxLength: number) => fc.uniqueArray(one, { minLength: 1, maxLength });

const count = fc.nat(3);
const name = fc.constantFrom(...names);

/** The keywords that have no schema in them, by the type that they are about. */
const flat: Readonly<Record<string, Said[]>> = {
  string: [...says('minLength maxLength', count), ...says('pattern', fc.constantFrom('^x', 'x$', 'y', '^x*$', '^.$'))],
  number: [
    ...says('minimum maximum exclusiveMinimum exclusiveMaximum', fc.constantFrom(-1, 0, 1, 2, 0.5, 1.5)),
    ...says('multipleOf', fc.constantFrom(1, 2, 0.5, 1.5)),
  ],
  object: [
    ...says('minProperties maxProperties', count),
    ...says('required', listOf(name, 2)),
    ...says('dependentRequired', fc.dictionary(name, listOf(name, 1), { minKeys: 1, maxKeys: 1 })),
  ],
  array: [...says('minItems maxItems', count), ...says('uniqueItems', fc.boolean())],
};
const ofAnyType = [
  ...says('type', fc.oneof(fc.constantFrom(...types), listOf(fc.constantFrom(...types), 2))),
  ...says('enum', listOf(anyValue, 3)),
  ...says('const', anyValue),
];

/** All keywords, by the type that they are about. */
function keywords(below: fc.Arbitrary<Schema>): Said[][] {
  const list = fc.array(below, { minLength: 1, maxLength: 3 });
  const closing = fc.oneof(fc.constant(false), below);
  const by = (one: fc.Arbitrary<string>) => fc.dictionary(one, below, { minKeys: 1, maxKeys: 2 });
  const inner: Readonly<Record<string, Said[]>> = {
    string: [],
    number: [],
    object: [
      ...says('additionalProperties unevaluatedProperties', closing),
      ...says('properties properties dependentSchemas', by(name)),
      ...says('patternProperties', by(fc.constantFrom('^a', 'b', '^[ab]$'))),
      ...says('propertyNames', fc.oneof(below, fc.constantFrom({ maxLength: 1 }, { enum: ['a', 'b'] }))),
    ],
    array: [
      ...says('items', below),
      ...says('prefixItems', list),
      ...says('unevaluatedItems', closing),
      fc.record({ contains: below, minContains: count, maxContains: count }, { requiredKeys: ['contains'] }),
    ],
  };
  const combining = [
    ...says('anyOf oneOf allOf', list),
    ...says('not', below),
    // oxlint-disable-next-line unicorn/no-thenable
    fc.record({ if: below, then: below, else: below }, { requiredKeys: ['if'] }),
  ];
  return Object.keys(flat).map((type) => [...flat[type]!, ...inner[type]!, ...ofAnyType, ...combining, ...combining]);
}

/** Schemas that refer to these definitions, with so many keywords at most in each. */
export function schemasOf(most = 4, refs: readonly string[] = []): fc.Arbitrary<Schema> {
  const merged = (all: Said[], maxLength: number) =>
    fc.array(fc.oneof(...all), { minLength: 1, maxLength }).map((said): Schema => Object.assign({}, ...said) as Json);
  const { schema } = fc.letrec<{ schema: Schema }>((tie) => {
    const reference = refs.map((one) => fc.constant<Schema>({ $ref: `#/$defs/${one}` }));
    const leaf = [
      ...Object.values(flat).map((some) => merged([...some, ...ofAnyType], Math.min(most, 2))),
      fc.boolean(),
    ];
    const deep = keywords(tie('schema')).map((all) => merged(all, most));
    return { schema: fc.oneof({ maxDepth: 2 }, fc.oneof(...leaf, ...reference), ...deep) };
  });
  return schema;
}

/** Those that do something to most schemas. */
const edits = kinds.filter((kind) => !/branch|value|title|null|reorder|define|remove-property/.test(kind));

/** Pairs of such schemas: one, and what an edit or two make of it. */
export function anyKeywords(): fc.Arbitrary<Pair> {
  const [plain, by] = [schemasOf(), schemasOf(1)];
  const defs = fc.record({ A: plain, B: plain });
  const shared = fc.record({ root: schemasOf(4, ['A', 'B']), defs });
  const side = fc.oneof(
    { weight: 3, arbitrary: fc.record({ root: plain, defs: fc.constant({}) }) },
    { weight: 1, arbitrary: shared },
  );
  const isChanged = ({ before, after }: Pair) => JSON.stringify(before) !== JSON.stringify(after);
  return pairsOf(side, by, { most: 2, some: edits }).filter(isChanged);
}
