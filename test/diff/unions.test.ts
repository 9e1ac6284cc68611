import { describe, expect, test } from 'vitest';
import { api, compare, giving, taking, told, type Json } from './given.ts';

const [string, integer, number, none] = ['string', 'integer', 'number', 'null'].map((type) => ({ type }));
const requests = (before: Json, after: Json) => told(compare(taking(before), taking(after)));
const responses = (before: Json, after: Json) => told(compare(giving(before), giving(after)));
const messages = (before: Json, after: Json) =>
  compare(taking(before), taking(after)).changes.map(({ message }) => message);
const kind = (name: string, more: Json = {}): Json => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { const: name }, ...more },
});

describe('oneOf refuses what several alternatives allow, so', () => {
  const unclear: [string, Json[], Json[]][] = [
    ['an integer is a number', [string!, integer!], [string!, integer!, number!]],
    ['a branch that grows into its sibling', [integer!, { const: 'a' }], [integer!, { enum: ['a', 1] }]],
    ['a number beside an integer', [integer!], [integer!, number!]],
    [
      'ranges that begin to overlap',
      [
        { type: 'integer', maximum: 5 },
        { type: 'integer', minimum: 6 },
      ],
      [
        { type: 'integer', maximum: 7 },
        { type: 'integer', minimum: 6 },
      ],
    ],
    ['objects without a tag', [kind('a')], [kind('a'), { type: 'object', required: ['more'] }]],
  ];
  test.each(unclear)('%s: a request cannot be judged', (_, before, after) => {
    expect(compare(taking({ oneOf: before }), taking({ oneOf: after })).verdict).toBe('unknown');
    expect(compare(taking({ anyOf: before }), taking({ anyOf: after })).verdict).toBe('safe');
  });
  test.each(unclear)('%s: nor can a response, the other way round', (_, before, after) => {
    expect(compare(giving({ oneOf: after }), giving({ oneOf: before })).verdict).toBe('unknown');
    expect(compare(giving({ anyOf: after }), giving({ anyOf: before })).verdict).toBe('safe');
  });

  test.each<[string, Json[], Json[]]>([
    ['types', [string!, integer!], [string!, integer!, { type: 'boolean' }]],
    ['constants', [{ const: 'a' }], [{ const: 'a' }, { const: 'b' }]],
    ['tags', [kind('a'), kind('b')], [kind('a'), kind('b', { more: string }), kind('c')]],
    [
      'ranges',
      [
        { type: 'integer', maximum: 5 },
        { type: 'integer', minimum: 9 },
      ],
      [
        { type: 'integer', maximum: 7 },
        { type: 'integer', minimum: 9 },
      ],
    ],
    [
      'ranges that touch',
      [
        { type: 'number', exclusiveMaximum: 5 },
        { type: 'number', minimum: 6 },
      ],
      [
        { type: 'number', exclusiveMaximum: 5 },
        { type: 'number', minimum: 5 },
      ],
    ],
    ['null', [string!, integer!], [string!, integer!, none!]],
  ])('alternatives with other %s are judged', (_, before, after) => {
    expect(compare(taking({ oneOf: before }), taking({ oneOf: after })).verdict).toBe('safe');
  });
});

describe('a breaking change is one:', () => {
  test.each<[string, Json, Json, string[]]>([
    [
      'an alternative beside null',
      { anyOf: [string, none] },
      { anyOf: [string, integer, none] },
      ['safe request-body-any-of-added'],
    ],
    [
      'a nullable list becomes one of several',
      { type: ['array', 'null'], items: string },
      { oneOf: [{ type: 'array', items: string }, string, none] },
      ['safe request-body-one-of-added'],
    ],
    ['null in a list of types', { anyOf: [string, none] }, { type: ['string', 'null'] }, []],
    ['null in an enum', { enum: ['a', null] }, { anyOf: [{ enum: ['a'] }, none] }, []],
    [
      'a title that moves to the parent',
      {
        oneOf: [
          { type: 'object', title: 'T' },
          { type: 'array', title: 'U' },
        ],
      },
      { title: 'T', oneOf: [{ type: 'object' }, { type: 'array' }] },
      ['docs body-title-changed', 'docs body-title-changed', 'docs body-title-changed'],
    ],
    ['types that one branch lists', { anyOf: [string, number] }, { type: ['string', 'number'] }, []],
    [
      'an alternative that another one covers',
      { anyOf: [integer, number] },
      { anyOf: [number, string] },
      ['safe request-body-any-of-added'],
    ],
    ['a limit of another type', { type: 'integer' }, { type: 'integer', maxLength: 5 }, []],
    ['the next integer', { type: 'integer', exclusiveMinimum: 0 }, { type: 'integer', minimum: 1 }, []],
    ['the integer before', { type: 'integer', maximum: 2 }, { type: 'integer', exclusiveMaximum: 3 }, []],
    [
      'a limit between two multiples',
      { type: 'integer', minimum: 1, maximum: 9, multipleOf: 4 },
      { type: 'integer', minimum: 4, maximum: 8, multipleOf: 4 },
      [],
    ],
    [
      'a required property of what is no object',
      { oneOf: [string, { const: 5 }] },
      { oneOf: [string, { const: 5 }], required: ['a'] },
      [],
    ],
    [
      'what "not" excludes of another type',
      { type: 'integer' },
      { type: 'integer', not: { type: 'string', maxLength: 3 } },
      [],
    ],
    [
      'a change in an alternative whose values another one allows',
      { anyOf: [{ type: 'boolean' }, { anyOf: [string, integer] }, { enum: ['y'] }] },
      { anyOf: [{ type: 'boolean' }, { oneOf: [{ type: ['string', 'integer'] }, none] }, { enum: ['y'] }] },
      [
        'safe request-body-became-enum',
        'safe request-body-became-nullable',
        'safe request-body-open-enum-value-removed',
        'safe request-body-type-generalized',
      ],
    ],
    [
      'an item beyond the longest list',
      { type: 'array', maxItems: 1, prefixItems: [string, string] },
      { type: 'array', maxItems: 1, prefixItems: [string, integer] },
      [],
    ],
    [
      'an item that no list had',
      { type: 'array', maxItems: 1, prefixItems: [string, string] },
      { type: 'array', maxItems: 2, prefixItems: [string, integer] },
      ['safe request-body-max-items-increased'],
    ],
    ['a restriction of another type', { type: 'string' }, { type: 'string', contains: integer }, []],
    [
      'a union that allows what the type allowed',
      { type: 'integer', minimum: 1 },
      { minimum: 1, anyOf: [integer, string] },
      ['safe request-body-any-of-set', 'safe request-body-type-generalized'],
    ],
    [
      'what no value could be',
      { type: 'string', minLength: 5, maxLength: 4, pattern: 'a' },
      { type: 'integer' },
      ['safe request-body-became-possible'],
    ],
  ])('%s is none', (_, before, after, expected) => {
    expect(requests(before, after)).toEqual(expected);
  });

  test.each<[string, Json, Json, string]>([
    [
      'the next integer but one',
      { exclusiveMinimum: 0 },
      { minimum: 2 },
      'has minimum 2 instead of exclusiveMinimum 0',
    ],
    [
      'the integer before the last',
      { exclusiveMaximum: 3 },
      { maximum: 1 },
      'has maximum 1 instead of exclusiveMaximum 3',
    ],
    ['an exclusive limit', { exclusiveMinimum: 1 }, { exclusiveMinimum: 2 }, 'has exclusiveMinimum 2 instead of 1'],
    [
      'the same limit, exclusive',
      { maximum: 3 },
      { exclusiveMaximum: 3 },
      'has exclusiveMaximum 3 instead of maximum 3',
    ],
    ['a multiple fewer', { minimum: 1, multipleOf: 4 }, { minimum: 5, multipleOf: 4 }, 'has minimum 5 instead of 1'],
    [
      'a multiple of both',
      { multipleOf: 4 },
      { allOf: [{ multipleOf: 4 }, { multipleOf: 6 }] },
      'must be a multiple of 12 instead of 4',
    ],
  ])('%s of an integer is one', (_, before, after, says) => {
    const { changes } = compare(taking({ type: 'integer', ...before }), taking({ type: 'integer', ...after }));
    expect(changes.map(({ verdict, message }) => `${verdict}: ${message}`)).toEqual([
      `breaking: The request body ${says}.`,
    ]);
  });

  test('a wider format is none, and a narrower one is', () => {
    const [short, long] = [{ format: 'int32' }, { format: 'int64' }];
    expect(requests(short, long)).toEqual(['safe request-body-format-changed']);
    expect(requests(long, short)).toEqual(['breaking request-body-format-changed']);
  });

  test('a property that a closed request gains is none', () => {
    const closed = (properties: Json) => ({ type: 'object', additionalProperties: false, properties });
    expect(requests(closed({}), closed({ a: string }))).toEqual(['safe request-property-added']);
    expect(responses(closed({}), closed({ a: string }))).toEqual(['risky response-property-added']);
  });

  test('null that two alternatives of oneOf allow is not valid', () => {
    expect(requests({ oneOf: [string, none] }, { oneOf: [string, none, none] })).toEqual([
      'breaking request-body-became-not-nullable',
    ]);
  });

  test('an alternative of oneOf that changes to other values may meet its sibling', () => {
    const among = (multipleOf: number) => ({ oneOf: [{ type: 'integer', multipleOf }, { const: 3 }] });
    expect(told(compare(taking(among(2)), taking(among(3))))).toContain('unknown request-body-one-of-overlap-changed');
  });

  test('what oneOf refuses because another alternative allows it, is not passed over', () => {
    const among = (type: string[]) => ({ oneOf: [{ type: ['string', 'boolean'] }, { type }] });
    expect(compare(taking(among(['string', 'integer'])), taking(among(['string', 'boolean']))).verdict).not.toBe(
      'safe',
    );
  });

  test('a pattern of a text of one length is one', () => {
    const fixed = { type: 'string', minLength: 3, maxLength: 3 };
    expect(requests(fixed, { ...fixed, pattern: '^a' })).toEqual(['breaking request-body-pattern-set']);
  });

  test('what "not" excludes is one unless its values were not valid anyway', () => {
    const excluding = (not: Json) => compare(taking({ type: 'string' }), taking({ type: 'string', not })).verdict;
    expect(excluding({ enum: ['a'] })).toBe('breaking');
    expect(excluding({ type: 'string', minLength: 5 })).toBe('breaking');
    const both = { type: 'string', allOf: [{ not: integer }, { not: { enum: ['a'] } }] };
    expect(compare(taking({ type: 'string' }), taking(both)).verdict).toBe('breaking');
    const limited = (not: Json) =>
      compare(taking({ type: 'string', maxLength: 3 }), taking({ type: 'string', maxLength: 3, not })).verdict;
    expect(limited({ type: 'string', pattern: 'a' })).toBe('breaking');
    expect(limited({ type: 'integer', minimum: 9 })).toBe('safe');
  });

  test('"not" that excludes null is one, also beside nullable', () => {
    const old = (schema: Json) => taking({ type: 'string', nullable: true, ...schema }, { openapi: '3.0.3' });
    const excluding = (not: Json, more: Json = {}) => told(compare(old(more), old({ ...more, not })));
    expect(excluding({ enum: [null] })).toContain('breaking request-body-became-not-nullable');
    expect(excluding({ enum: [null] }, { enum: ['a', null] })).toContain('breaking request-body-became-not-nullable');
    expect(excluding({ type: 'object' })).toEqual([]);
  });

  test.each<[string, Json, Json?]>([
    ['additionalProperties: true', { additionalProperties: true }],
    ['one in allOf', { allOf: [{ additionalProperties: {} }] }],
    ['unevaluatedProperties: true in allOf', { allOf: [{ unevaluatedProperties: true }] }],
    ['an alternative that another one covers', { anyOf: [true, { properties: { a: true } }] }],
    ['"if" alone', { if: { properties: { a: true } } }],
    ['"if" alone in allOf', { allOf: [{ if: { properties: { a: true } } }] }],
    ['another "if" alone', { if: { properties: { a: true } } }, { if: { properties: { b: true } } }],
    ['dependentSchemas', { dependentSchemas: { b: { properties: { a: true } } } }],
    ['items: true', { items: true }],
    ['items: true in allOf', { allOf: [{ items: true }] }],
    ['contains without a minimum', { contains: string, minContains: 0 }],
  ])('what only unevaluated… sees and is gone is one: %s', (_, before, after = {}) => {
    const closed = { unevaluatedProperties: false, unevaluatedItems: false };
    expect(compare(taking({ ...before, ...closed }), taking({ ...after, ...closed })).verdict).toBe('breaking');
    expect(compare(giving({ ...after, ...closed }), giving({ ...before, ...closed })).verdict).toMatch(
      /risky|breaking/,
    );
  });

  test('a reference beside null keeps both', () => {
    const rest = { components: { schemas: { Cat: kind('cat'), Dog: kind('dog') } } };
    const [cat, dog] = ['Cat', 'Dog'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const { changes } = compare(taking({ anyOf: [cat, none] }, rest), taking({ anyOf: [cat, dog, none] }, rest));
    expect(changes.map(({ verdict, message }) => `${verdict}: ${message}`)).toEqual([
      'safe: The request body also allows the alternative Dog.',
    ]);
  });

  test('null that is no longer allowed is said once', () => {
    expect(messages({ anyOf: [string, none] }, { anyOf: [string, integer] })).toEqual([
      'The request body no longer allows null.',
      'The request body also allows the alternative integer.',
    ]);
    expect(messages({ oneOf: [string, none] }, { oneOf: [string, { type: ['integer', 'null'] }, none] })).toEqual([
      'The request body no longer allows null.',
      'The request body also allows the alternative integer.',
    ]);
  });
});

describe('values', () => {
  const open = (...values: string[]): Json => ({ anyOf: [string, { type: 'string', enum: values }] });

  test('that a response gains are risky, or breaking where that is wanted', () => {
    const [before, after] = [giving({ enum: ['a'] }), giving({ enum: ['a', 'b'] })];
    expect(told(compare(before, after))).toEqual(['risky response-body-enum-value-added']);
    expect(told(compare(before, after, 'openapi', { enums: 'breaking' }))).toEqual([
      'breaking response-body-enum-value-added',
    ]);
  });

  test('that replace all others break', () => {
    expect(responses({ const: 'a' }, { const: 'b' })).toContain('breaking response-body-enum-value-added');
  });

  test('with descriptions are values, too', () => {
    const described = (...values: string[]) => ({ oneOf: values.map((value) => ({ const: value, title: value })) });
    expect(responses(described('a', 'b'), described('a', 'b', 'c'))).toEqual(['risky response-body-one-of-added']);
  });

  test('of an open enum may be added and removed', () => {
    expect(responses(open('a'), open('a', 'b'))).toEqual(['safe response-body-open-enum-value-added']);
    expect(requests(open('a', 'b'), open('a'))).toEqual(['safe request-body-open-enum-value-removed']);
  });

  test('that were all there are, and now are only known ones, break readers', () => {
    expect(responses({ type: 'string', enum: ['a'] }, open('a'))).toContain('breaking response-body-enum-removed');
  });
});

// A property that was described as a string is a number now, and was said to be "added", which is safe.
test('what alternatives say of a property that the schema names itself afterwards is not passed over', () => {
  const needs = (name: string): Json => ({ required: [name], properties: { [name]: string } });
  const union = { type: 'object', anyOf: [needs('k'), needs('y')] };
  const whole = { type: 'object', properties: { k: number } };
  expect(compare(taking(union), taking(whole)).verdict).toBe('breaking');
  expect(messages(union, whole)).toContain('Property "k" of the request body has type number instead of string.');
  expect(compare(taking(union), taking({ type: 'object', properties: { k: string } })).verdict).toBe('safe');
  expect(compare(giving(whole), giving(union)).verdict).not.toBe('safe');
  // Other properties have nothing to do with the alternatives.
  const other = { type: 'object', properties: { z: number } };
  expect(compare(taking(union), taking(other)).verdict).toBe('safe');
});

// "Property "a" allows only string; it allowed any type", although the alternatives still say what they said.
test.each(['anyOf', 'oneOf'])('a property that says nothing beside alternatives of %s may go and come', (keyword) => {
  const union = { type: 'object', [keyword]: [{ properties: { a: string } }, { properties: { b: number } }] };
  for (const nothing of [true, {}, { description: 'D' }]) {
    const named = { ...union, properties: { a: nothing } };
    for (const [before, after] of [
      [named, union],
      [union, named],
    ] as const) {
      // prettier-ignore
      expect(compare(taking(before), taking(after)).verdict).not.toBe('breaking');
      expect(compare(giving(before), giving(after)).verdict).not.toBe('breaking');
    }
  }
  // What it says itself counts.
  const named = { ...union, properties: { a: number } };
  expect(compare(taking(union), taking(named)).verdict).toBe('breaking');
});

const beside = (keyword: string, ...all: Json[]): Json => ({ type: 'object', properties: { id: { type: 'string' } }, [keyword]: all }); // prettier-ignore
const paid = (by: string): Json => ({
  type: 'object',
  required: ['by', by],
  properties: { by: { const: by }, [by]: { type: 'string' } },
});

test.each(['anyOf', 'oneOf'])('a second alternative of %s beside properties refuses nothing that the first one allowed', (keyword) => {
  const [one, two] = [beside(keyword, paid('card')), beside(keyword, paid('card'), paid('iban'))];
  expect(compare(taking(one), taking(two)).verdict).toBe('safe');
  expect(compare(giving(one), giving(two)).verdict).toBe('breaking');
  expect(compare(taking(two), taking(one)).verdict).toBe('breaking');
  expect(compare(giving(two), giving(one)).verdict).toBe('safe');
  // Another one than the first, and one that restricts what the first one allowed.
  const others = beside(keyword, paid('cash'), paid('iban'));
  expect(compare(taking(one), taking(others)).verdict).toBe('breaking');
  expect(compare(giving(others), giving(one)).verdict).toBe('breaking');
}); // prettier-ignore

test('a second alternative of oneOf that the first one overlaps breaks', () => {
  const of = (...all: Json[]) => beside('oneOf', ...all.map((one): Json => ({ ...one, properties: {} })));
  expect(compare(taking(of(paid('card'))), taking(of(paid('card'), paid('iban')))).verdict).toBe('breaking');
});

test('alternatives are found again by a constant behind a reference', () => {
  const either = (one: unknown, other: unknown) => ({
    oneOf: [
      { type: 'object', required: ['kind'], properties: { kind: one, size: { type: 'string' } } },
      { type: 'object', required: ['kind'], properties: { kind: other, size: { type: 'integer' } } },
    ],
  });
  const A = { type: 'string', enum: ['a'] };
  const components = { components: { schemas: { A } } };
  const inline = either(A, { type: 'integer', maximum: 5 });
  const referring = either({ $ref: '#/components/schemas/A' }, { type: 'integer' });
  expect(compare(taking(inline), taking(referring, components)).verdict).toBe('safe');
  expect(compare(giving(referring, components), giving(inline)).verdict).toBe('safe');
});

test('alternatives with a property that is always null are found again in 3.1', () => {
  const either = (nothing: Json, some: Json) => ({
    oneOf: [{ properties: { a: { type: 'string' }, b: nothing } }, { properties: { a: { type: 'integer' }, b: some } }],
  });
  const old = { ...giving(either({ enum: [null] }, { type: 'string', nullable: true })), openapi: '3.0.3' };
  const current = giving(either({ type: 'null' }, { type: ['string', 'null'] }));
  expect(told(compare(old, current))).toEqual(['docs specification-changed']);
});

test('a property that all alternatives describe need not be named beside them', () => {
  const either = (properties: Json, more: Json[] = []) => ({
    properties,
    anyOf: [{ properties: { c: { type: 'string' } } }, { properties: { c: { type: 'integer' } } }, ...more],
  });
  const [named, not] = [either({ c: true, d: true }), either({ d: true })];
  expect(compare(taking(named), taking(not)).verdict).toBe('none');
  expect(compare(giving(not), giving(named)).verdict).toBe('none');
  // Beside an alternative that does not describe it, it had any value.
  const open = [{ required: ['d'] }];
  expect(compare(taking(either({ c: { const: 'x' } }, open)), taking(either({}, open))).verdict).not.toBe('none');
});

test('a text that may be empty anyway is no other alternative', () => {
  const values = (more: Json) => ({ oneOf: [{ type: 'string', enum: ['a', 'b'], ...more }, { type: 'string', enum: ['c'], ...more }] }); // prettier-ignore
  expect(told(compare(giving(values({})), giving(values({ minLength: 0 }))))).toEqual([]);
});

test('alternatives that allow anything but null break who sent it', () => {
  const exact = { anyOf: [{ oneOf: [{}, { type: 'null' }] }, { type: 'integer' }] };
  expect(compare(taking({ anyOf: [{}, { type: 'integer' }] }), taking(exact)).verdict).toBe('breaking');
  expect(compare(giving(exact), giving({}))).toMatchObject({ verdict: 'breaking' });
});

test('what an alternative says of the values that another one allows anyway is compared', () => {
  const open = (more: Json) => ({ anyOf: [string, { type: 'string', enum: ['a', 'b'], ...more }] });
  expect(requests(open({ description: 'A' }), open({ description: 'B' }))).toEqual(['docs body-description-changed']);
  expect(requests(open({ default: 'a' }), open({ default: 'b' }))).toEqual(['risky request-body-default-changed']);
});

test('one of two unions that is gone is not said of the other one', () => {
  const asks = (...names: string[]) => names.map((name) => ({ required: [name] }));
  const [both, left] = [{ anyOf: asks('a', 'b'), oneOf: asks('c', 'd') }, { oneOf: asks('c', 'd') }];
  expect(told(compare(taking(both), taking(left)))).toEqual(['safe request-body-any-of-unset']);
  expect(told(compare(taking(left), taking(both)))).toEqual(['breaking request-body-any-of-set']);
});

test.each(['anyOf', 'oneOf'])('alternatives of %s that refer to alternatives forty times are compared', (keyword) => {
  const chain = (last: Json) => {
    const refer = (at: number) => ['x', 'y'].map((title) => ({ $ref: `#/components/schemas/L${at + 1}`, title }));
    const levels = Array.from({ length: 40 }, (_, at): [string, Json] => [`L${at}`, { [keyword]: refer(at) }]);
    return { components: { schemas: { ...Object.fromEntries(levels), L40: last } } };
  };
  const root = { $ref: '#/components/schemas/L0' };
  const lists = [{ enum: ['a'] }, { enum: ['b'] }].map((last) => taking(root, chain(last)));
  expect(compare(lists[0]!, lists[1]!).reason).toBe(null);
});

test('a schema that is an alternative of itself is compared', () => {
  const list = (value: number) =>
    taking(
      { $ref: '#/components/schemas/A' },
      { components: { schemas: { A: { anyOf: [{ $ref: '#/components/schemas/A' }, { const: value }] } } } },
    );
  expect(compare(list(1), list(2)).verdict).toBe('breaking');
});

test('what breaks nobody beside an alternative that allows anything breaks where there is none', () => {
  const document = (maxLength: number) => {
    const [A, other] = [{ $ref: '#/components/schemas/A' }, { type: 'string', minLength: 0 }];
    const [open, closed] = [{ anyOf: [A, other] }, A].map(
      (schema) => Object.values(taking(schema)['paths'] as Json)[0],
    );
    return api({}, { paths: { '/a': open, '/b': closed }, components: { schemas: { A: { type: 'string', maxLength } } } }); // prettier-ignore
  };
  const { changes } = compare(document(2), document(1));
  expect(changes.map(({ verdict, operations }) => `${verdict} ${operations.join()}`)).toEqual([
    'breaking POST /b',
    'safe POST /a',
  ]);
});
