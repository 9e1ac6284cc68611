// Two ways to write the same set of values are no change, or one of texts; what only looks like one is.
import { describe, expect, test } from 'vitest';
import { compare, giving, taking, type Json } from './given.ts';

type Schema = Json | boolean;
type Version = '3.0.3' | '3.1.0';

const text = { type: 'string' };
const all = ['string', 'number', 'boolean', 'object', 'array', 'null'];
const int32 = { type: 'integer', minimum: -2147483648, maximum: 2147483647 };
const list = (more: Json) => ({ type: 'array', ...more });
const object = (more: Json) => ({ type: 'object', ...more });
const consts = (...values: unknown[]) => values.map((value) => ({ const: value }));

/** Verdicts of a change in requests, responses and JSON Schemas, as a body and as a property, and of the way back. */
function verdictsOf(one: Schema, other: Schema, version: Version): Record<string, string> {
  const as: Record<string, (schema: Schema) => Json> = {
    request: (schema) => taking(schema, { openapi: version }),
    response: (schema) => giving(schema, { openapi: version }),
    property: (schema) => taking(object({ properties: { p: schema } }), { openapi: version }),
    ...(version === '3.1.0' && { schema: (schema: Schema) => object({ properties: { p: schema } }) }),
  };
  return Object.fromEntries(
    Object.entries(as).flatMap(([name, make]) =>
      [[one, other, name], [other, one, `${name} back`]].map(([before, after, way]) => [
        way,
        compare(make(before as Schema), make(after as Schema), name === 'schema' ? 'json-schema' : 'openapi').verdict,
      ]),
    ),
  ); // prettier-ignore
}

const asks = (...required: string[]) => ({ required });
const tagged = (value: string) => ({ properties: { k: { const: value } }, required: ['k'] });
const record = (more: Json) => object({ properties: { a: text, b: text, k: text }, ...more });

/* oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema */
const equal: [name: string, one: Schema, other: Schema, version?: Version][] = [
  ['oneOf of constants', { oneOf: consts('a', 'b') }, { enum: ['a', 'b'] }],
  ['anyOf of constants', { anyOf: consts('a', 'b') }, { enum: ['b', 'a'] }],
  ['with a type around', { ...text, oneOf: consts('a', 'b') }, { ...text, enum: ['a', 'b'] }],
  [
    'with a type in each',
    {
      oneOf: [
        { ...text, const: 'a' },
        { ...text, const: 'b' },
      ],
    },
    { ...text, enum: ['a', 'b'] },
  ],
  ['lists of values', { oneOf: [{ enum: ['a', 'c'] }, { const: 'b' }] }, { enum: ['a', 'b', 'c'] }],
  ['one constant more in a list', { oneOf: consts('a', 'b', 'c') }, { oneOf: [{ enum: ['a', 'b'] }, { const: 'c' }] }],
  ['constants within constants', { oneOf: [{ oneOf: consts('a', 'b') }, { const: 'c' }] }, { enum: ['a', 'b', 'c'] }],
  ['constants that refuse each other', { oneOf: consts('a', 'a', 'b', 'c') }, { enum: ['b', 'c'] }],
  [
    'what another part refuses',
    { allOf: [object({ properties: { a: text }, additionalProperties: false }), { properties: { a: text, b: text } }] },
    object({ properties: { a: text }, additionalProperties: false }),
  ],
  ['beside null', { oneOf: [...consts('a', 'b'), { type: 'null' }] }, { enum: ['a', 'b', null] }],
  ['constants that are numbers', { anyOf: consts(1, 2) }, { type: 'integer', enum: [1, 2] }],
  ['beside another alternative', { anyOf: [...consts('a', 'b'), { type: 'number' }] }, { anyOf: [{ enum: ['a', 'b'] }, { type: 'number' }] }], // prettier-ignore
  ['the same alternative twice', { anyOf: [{ minLength: 2 }, { minLength: 2 }] }, { minLength: 2 }],
  ['both booleans', { enum: [true, false] }, { type: 'boolean' }],
  ['decimals', { multipleOf: 0.1, allOf: [{ multipleOf: 0.2 }] }, { multipleOf: 0.2 }],
  ['integers', { type: 'integer' }, { type: 'number', multipleOf: 1 }],
  ['integers in two parts', { type: 'integer' }, { type: 'number', allOf: [{ multipleOf: 1 }] }],
  ['integers or null', { type: ['integer', 'null'] }, { type: ['number', 'null'], multipleOf: 1 }],
  ['even numbers', { type: 'integer', multipleOf: 2 }, { type: 'number', multipleOf: 2 }],
  ['halves of integers', { type: 'integer', multipleOf: 0.5 }, { type: 'integer' }],
  ['integers and 1.5', { type: 'integer', multipleOf: 1.5 }, { type: 'integer', multipleOf: 3 }],
  ['six types', { type: all }, {}],
  ['seven types', { type: [...all, 'integer'] }, true],
  ['six types beside a property', { type: all, properties: { a: text } }, { properties: { a: text } }],
  ['no items', list({ items: false }), list({ maxItems: 0 })],
  ['no items by not', list({ items: { not: {} } }), list({ maxItems: 0 })],
  ['one item', list({ prefixItems: [text], items: false }), list({ prefixItems: [text], maxItems: 1 })],
  ['a limit above the closed ones', list({ items: false, maxItems: 3 }), list({ items: false })],
  ['no properties', object({ additionalProperties: false }), object({ maxProperties: 0 })],
  ['additional properties by not', object({ additionalProperties: { not: {} } }), object({ additionalProperties: false })], // prettier-ignore
  ['additional properties that are anything', object({ additionalProperties: {} }), object({})],
  ['dependent properties', { dependentRequired: { a: ['b', 'c'] } }, { dependentSchemas: { a: { required: ['c', 'b'] } } }], // prettier-ignore
  ['dependent anything', { dependentSchemas: { a: {}, b: true } }, {}],
  ['a property that needs itself', { dependentRequired: { a: ['a'] } }, {}],
  ['conditions without a demand', { if: { required: ['a'] }, then: {}, else: true }, {}],
  ['not nothing', { not: false }, true],
  ['not, twice', { not: { not: text } }, text],
  ['names that are texts', object({ propertyNames: { type: 'string' } }), object({})],
  ['names that are anything', object({ propertyNames: {} }), object({})],
  ['contains that may be missing', list({ contains: text, minContains: 0 }), list({})],
  ['another one', list({ contains: text, minContains: 0 }), list({ contains: { type: 'number' }, minContains: 0 })],
  ['contains anything', list({ contains: true }), list({ minItems: 1 })],
  ['contains needs an item', list({ contains: text }), list({ contains: text, minItems: 1 })],
  ['a required property is one', object({ required: ['a'] }), object({ required: ['a'], minProperties: 1 })],
  ['one item is unique', list({ maxItems: 1, uniqueItems: true }), list({ maxItems: 1 })],
  ['anything by a pattern', { patternProperties: { '^a': {} } }, {}],
  ['nothing evaluated', list({ unevaluatedItems: false }), list({ maxItems: 0 })],
  ['limits that all values keep', { enum: [1, 2] }, { enum: [1, 2], minimum: 0, exclusiveMaximum: 3, maxLength: 1 }],
  ['lengths that all values keep', { ...text, enum: ['a', 'b😀'] }, { ...text, enum: ['a', 'b😀'], maxLength: 2 }],
  ['types with limits of their own', { type: ['string', 'number'], minLength: 1, minimum: 1 }, { anyOf: [{ ...text, minLength: 1 }, { type: 'number', minimum: 1 }] }], // prettier-ignore
  ['types', { type: ['string', 'number'] }, { oneOf: [text, { type: 'number' }] }],
  ['not {}', { not: {} }, false],
  ['limits of nothing', object({ minProperties: 0, required: [], patternProperties: {} }), object({})],
  ['lists of any length', list({ minItems: 0, uniqueItems: false, items: true }), list({})],
  ['texts of any length', { ...text, minLength: 0 }, text],
  ['allOf of one', { allOf: [{ ...text, minLength: 2 }] }, { ...text, minLength: 2 }],
  ['values that the type refuses', { allOf: [text, { enum: ['a', 1] }] }, { ...text, enum: ['a'] }],
  ['not any of', { not: { anyOf: [asks('a'), asks('b')] } }, { allOf: [{ not: asks('a') }, { not: asks('b') }] }],
  ['values that not excludes', { ...text, not: { enum: ['x', 'y'] } }, { ...text, allOf: [{ not: { const: 'y' } }, { not: { const: 'x' } }] }],
  ['a value that not excludes of a list', { enum: ['a', 'b'], not: { const: 'b' } }, { enum: ['a'] }],
  ['one that the list never had', { enum: ['a'], not: { const: 'b' } }, { enum: ['a'], not: { const: 'c' } }],
  ['a property that not excludes', record({ not: asks('a') }), object({ properties: { a: false, b: text, k: text } })],
  ['all types but one', { not: text }, { type: all.slice(1) }],
  ['not null', { not: { type: 'null' } }, { type: all.slice(0, 5) }],
  ['not the empty text', { ...text, not: { const: '' } }, { ...text, minLength: 1 }],
  ['not short', { ...text, not: { maxLength: 2 } }, { ...text, minLength: 3 }],
  ['not short, of any type', { not: { maxLength: 2 } }, { ...text, minLength: 3 }],
  ['not a short text', { not: { ...text, maxLength: 2 } }, { minLength: 3 }],
  ['not large', { type: 'number', not: { minimum: 5 } }, { type: 'number', exclusiveMaximum: 5 }],
  ['not large in 3.0', { type: 'number', not: { minimum: 5 } }, { type: 'number', maximum: 5, exclusiveMaximum: true }, '3.0.3'],
  ['not without items', list({ not: { maxItems: 0 } }), list({ minItems: 1 })],
  ['contains not', list({ not: { contains: { const: 'x' } } }), list({ items: { not: { const: 'x' } } })],
  ['the type of an object that not excludes', record({ not: { type: 'object', ...asks('a') } }), record({ not: asks('a') })],
  ['if with the type of its object', record({ if: { type: 'object', ...tagged('x') }, then: asks('a') }), record({ if: tagged('x'), then: asks('a') })],
  ['then with the type of its object', record({ if: tagged('x'), then: object(asks('a')) }), record({ if: tagged('x'), then: asks('a') })],
  ['if that asks for what is required', record({ ...asks('k'), if: tagged('x'), then: asks('a') }), record({ ...asks('k'), if: { properties: { k: { const: 'x' } } }, then: asks('a') })],
  ['if that asks for the opposite', record({ if: tagged('x'), then: asks('a'), else: asks('b') }), record({ if: { not: tagged('x') }, then: asks('b'), else: asks('a') })],
  ['then in two conditions', record({ if: tagged('x'), then: asks('a', 'b') }), record({ allOf: [{ if: tagged('x'), then: asks('b') }, { if: tagged('x'), then: asks('a') }] })],
  ['if that always matches', record({ if: {}, then: asks('a') }), record(asks('a'))],
  ['if that never matches', record({ if: false, then: asks('a'), else: asks('b') }), record(asks('b'))],
  ['then and else that are the same', record({ if: tagged('x'), then: asks('a'), else: asks('a') }), record(asks('a'))],
  ['then that allows nothing', record({ if: asks('a'), then: false }), record({ not: asks('a') })],
  ['else that allows nothing', record({ if: asks('a'), else: false }), record(asks('a'))],
  ['not a condition', record({ not: { if: asks('a'), then: asks('b') } }), record({ ...asks('a'), not: asks('b') })],
  ['not a condition with else', record({ not: { if: asks('a'), else: asks('b') } }), record({ allOf: [{ not: asks('a') }, { not: asks('b') }] })],
  ['two unions in the other order', record({ allOf: [{ anyOf: [asks('a'), asks('b')] }, { anyOf: [asks('b'), asks('k')] }] }), record({ allOf: [{ anyOf: [asks('k'), asks('b')] }, { anyOf: [asks('b'), asks('a')] }] })],
  ['two unions in one schema', record({ anyOf: [{ not: asks('a') }, asks('b')], oneOf: [{ not: asks('b') }, asks('k')] }), record({ allOf: [{ oneOf: [{ not: asks('b') }, asks('k')] }, { anyOf: [{ not: asks('a') }, asks('b')] }] })],
  ['a condition as alternatives', record({ if: tagged('x'), then: asks('b') }), record({ anyOf: [{ not: tagged('x') }, asks('b')] })],
  ['if that asks for a property', record({ if: asks('a'), then: asks('b') }), record({ dependentRequired: { a: ['b'] } })],
  ['with more than names', record({ if: asks('a'), then: { ...asks('b'), properties: { k: { minLength: 2 } } } }), record({ dependentRequired: { a: ['b'] }, dependentSchemas: { a: { properties: { k: { minLength: 2 } } } } })],
  ['a dependency that is required anyway', record({ ...asks('b'), dependentRequired: { a: ['b'] } }), record(asks('b'))],
  ...[
    ['^[0-9]+$', '^\\d{1,}$'],
    ['^[\\w-]{2,2}$', '^[a-zA-Z0-9_\\-]{2}$'],
    ['^(a|b)[.]$', '^(?:a|b)\\.$'],
    ['a/b', 'a\\/b'],
    ['[^\\d]', '[^0-9]'],
  ].map(([one, other]): [string, Schema, Schema] => [`the pattern ${one}`, { ...text, pattern: one }, { ...text, pattern: other }]),
]; // prettier-ignore
/* oxlint-enable unicorn/no-thenable */

test.each(equal)('%s: the same', (_, one, other, version = '3.1.0') => {
  const verdicts = verdictsOf(one, other, version);
  expect(verdicts).toEqual(Object.fromEntries(Object.keys(verdicts).map((way) => [way, 'none'])));
});

test('texts of constants are texts', () => {
  const [titled] = [{ oneOf: [{ const: 'a', title: 'A', description: 'First.' }, { const: 'b' }] }];
  expect(new Set(Object.values(verdictsOf(titled, { enum: ['a', 'b'] }, '3.1.0')))).toEqual(new Set(['docs']));
});

test.each([
  ['instead of it', { type: 'integer', format: 'int32' }],
  ['beside it', { ...int32, format: 'int32' }],
])('limits %s say what a format says to all but generators of code', (_, formatted) => {
  expect(new Set(Object.values(verdictsOf(formatted, int32, '3.0.3')))).toEqual(new Set(['docs']));
});

/** What a change does to the set of valid values, and the verdicts that follow. */
const of = {
  narrows: { request: 'breaking', 'request back': 'safe', response: 'safe', 'response back': 'breaking' },
  // Readers pass over properties that they do not know.
  closes: { request: 'breaking', 'request back': 'safe', response: 'safe', 'response back': 'risky' },
  changes: { request: 'breaking', 'request back': 'breaking', response: 'breaking', 'response back': 'breaking' },
} as const;

const different: [name: string, one: Schema, other: Schema, effect: keyof typeof of, version?: Version][] = [
  ['0.1 and 0.01', { type: 'number', multipleOf: 0.01 }, { type: 'number', multipleOf: 0.1 }, 'narrows'],
  ['0.3 and 0.1', { type: 'number', multipleOf: 0.1 }, { type: 'number', multipleOf: 0.3 }, 'narrows'],
  ['0.7 and 0.3', { type: 'number', multipleOf: 0.3 }, { type: 'number', multipleOf: 0.7 }, 'changes'],
  ['1e-9 and 1e-7', { type: 'number', multipleOf: 1e-9 }, { type: 'number', multipleOf: 1e-7 }, 'narrows'],
  ['past 2^53', { type: 'number', multipleOf: 3 }, { type: 'number', multipleOf: 27021597764222976 }, 'narrows'],
  ['limits that not all values keep', { enum: [1, 2] }, { enum: [1, 2], exclusiveMaximum: 2 }, 'narrows'],
  [
    'more items that are unique',
    list({ maxItems: 2, uniqueItems: true }),
    list({ maxItems: 1, uniqueItems: true }),
    'narrows',
  ],
  ['no type but null', {}, { type: all.slice(0, 5) }, 'narrows'],
  ['a dependency on nothing', {}, { dependentSchemas: { a: false } }, 'narrows'],
  ['more items', list({ maxItems: 2 }), list({ prefixItems: [true], items: false }), 'narrows'],
  ['a property more than required', object({ required: ['a'] }), object({ required: ['a'], minProperties: 2 }), 'narrows'], // prettier-ignore
  ['a lower limit by required', object({ minProperties: 1 }), object({ minProperties: 1, required: ['a'] }), 'narrows'],
  [
    'items that contains evaluates',
    list({ contains: text, minContains: 0, unevaluatedItems: false }),
    list({ items: false }),
    'narrows',
  ],
  [
    'other items that contains evaluates',
    list({ contains: text, minContains: 0, unevaluatedItems: false }),
    list({ contains: { type: 'number' }, minContains: 0, unevaluatedItems: false }),
    'changes',
  ],
  [
    'items that contains evaluates beside others',
    list({ contains: text, minContains: 0, unevaluatedItems: { type: 'number' } }),
    list({ unevaluatedItems: { type: 'number' } }),
    'narrows',
  ],
  [
    'a part that is closed beside one that is open',
    { allOf: [{ properties: { a: text } }, { additionalProperties: true }] },
    { allOf: [{ properties: { a: text }, unevaluatedProperties: false }, { additionalProperties: true }] },
    'closes',
  ],
  [
    'a part that refuses what another one names',
    { allOf: [object({}), { properties: { a: text } }] },
    { allOf: [object({ unevaluatedProperties: false }), { properties: { a: text } }] },
    'narrows',
  ],
  [
    'properties that an alternative evaluates',
    { anyOf: [{ properties: { a: text } }, { properties: { b: text } }], unevaluatedProperties: false },
    { anyOf: [{ properties: { a: text } }, { properties: { b: text } }], additionalProperties: false },
    'closes',
  ],
  ['the bounds of int32 where formats only describe', { type: 'integer', format: 'int32' }, { ...int32, format: 'int32' }, 'narrows'], // prettier-ignore
];

test.each([
  ['[a-c]', '[a\\-c]'],
  ['(a)\\1', '(?:a)\\1'],
  ['a{2}', 'a{2,}'],
  ['.', '\\.'],
  ['[^a]', '[a]'],
  ['\\s', 's'],
  ['[\\s]', '[s]'],
  ['(?=a)', '(a)'],
  ['[é]', '[e]'],
  ['^a', '\\^a'],
  ['\\é', '\\è'],
  ['[\\\\s]', '[\\s]'],
  ['[48]', '0'],
])('the patterns %s and %s differ', (one, other) => {
  const [before, after] = [one, other].map((pattern) => taking({ ...text, pattern }));
  expect(compare(before!, after!).verdict).toBe('unknown');
});

describe('another set of values', () => {
  test.each(different)('%s', (_, one, other, effect, version = '3.1.0') => {
    const { request, response, ...verdicts } = verdictsOf(one, other, version);
    expect({ request, response, ...verdicts }).toMatchObject(of[effect]);
  });
});
