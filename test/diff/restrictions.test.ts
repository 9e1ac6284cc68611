/* oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema */
// What schemas exclude, or restrict in some cases only: "not", "if", "dependentSchemas", "contains", and what stands beside them.
import { expect, test } from 'vitest';
import { api, compare, giving, only, taking, told, type Json } from './given.ts';

const inRequests = (before: unknown, after: unknown) => compare(taking(before), taking(after));
const inResponses = (before: unknown, after: unknown) => compare(giving(before), giving(after));

test.each<[says: string, before: Json, after: Json, request: string, response: string]>([
  ['a longer text', { maxLength: 3 }, { maxLength: 5 }, 'breaking', 'safe'],
  ['a shorter text', { maxLength: 5 }, { maxLength: 3 }, 'safe', 'breaking'],
  ['one more value', { enum: ['a'] }, { enum: ['a', 'b'] }, 'breaking', 'safe'],
  ['another value', { enum: ['a'] }, { enum: ['b'] }, 'breaking', 'breaking'],
  ['a property less', { required: ['a', 'b'] }, { required: ['a'] }, 'breaking', 'safe'],
  ['a constant of a property', { required: ['a'] }, { required: ['a'], properties: { a: { const: 1 } } }, 'safe', 'breaking'], // prettier-ignore
  ['an optional property', { type: 'object' }, { type: 'object', properties: { a: { const: 1 } } }, 'safe', 'breaking'],
  ['what is excluded in it', { type: 'object', properties: { a: { not: { maxLength: 3 } } } }, { type: 'object', properties: { a: { not: { maxLength: 5 } } } }, 'safe', 'breaking'], // prettier-ignore
  ['another pattern', { pattern: 'a' }, { pattern: 'b' }, 'unknown', 'unknown'],
  ['another text for people', { type: 'string', title: 'A' }, { type: 'string', title: 'B' }, 'docs', 'docs'],
])('excluding %s by "not" does the opposite of allowing it', (_, before, after, request, response) => {
  expect(inRequests({ not: before }, { not: after }).verdict).toBe(request);
  expect(inResponses({ not: before }, { not: after }).verdict).toBe(response);
});

test('a change within "not" says what changed there', () => {
  const change = only(inRequests({ not: { maxLength: 3 } }, { not: { maxLength: 5 } }));
  expect(change.code).toBe('request-body-not-changed');
  expect(change.message).toBe(
    'The request body excludes more values by "not"; The request body (not) has maxLength 5 instead of 3.',
  );
});

test('several "not" exclude together', () => {
  const excluding = (...all: number[]) => ({ allOf: all.map((maximum) => ({ not: { maximum } })) });
  expect(inRequests(excluding(1, 5), excluding(2, 6)).verdict).toBe('breaking');
  expect(inRequests(excluding(2, 6), excluding(1, 5)).verdict).toBe('safe');
});

test('what "not" excludes now and the type never allowed breaks nobody', () => {
  const excluding = (type: string) => ({ type: 'string', not: { type, title: 'x' } });
  expect(inRequests(excluding('integer'), excluding('number')).verdict).toBe('safe');
});

test.each([
  ['a{9}', 'safe'],
  ['^[^x]{2}\\d+$', 'breaking'],
  ['^[^x]{2}\\d{2,}$', 'safe'],
  ['^(?:b|c{9})$', 'breaking'],
  ['a{9}?|b', 'breaking'],
  ['a{3}b*c?', 'breaking'],
])('a short text is excluded by "not" where it matches the pattern %s: %s', (pattern, verdict) => {
  const text = { type: 'string', maxLength: 3 };
  const excluding = { ...text, not: { pattern } };
  expect(inRequests(text, excluding).verdict).toBe(verdict);
  expect(inResponses(excluding, text).verdict).toBe(verdict);
});

test.each([
  [['a', 'b'], '^[ab]$', 'none'],
  [['a', 1, null], 'a', 'none'],
  [['a', 'b'], '^a$', 'breaking'],
  [['a', 'b'], '^(?:a|b)$', 'breaking'],
  [['a'], '[z-a]', 'breaking'],
])('a pattern beside %j that each of them matches restricts nothing: %s', (values, pattern, verdict) => {
  const [listed, both] = [{ enum: values }, { enum: values, pattern }];
  expect(inRequests(listed, both).verdict).toBe(verdict);
  expect(inResponses(both, listed).verdict).toBe(verdict);
  expect(inRequests({ type: 'string' }, both).verdict).toBe('breaking');
});

test.each([
  ['"then"', (schema: Json) => ({ if: { required: ['a'] }, then: schema })],
  ['"else"', (schema: Json) => ({ if: { required: ['a'] }, else: schema })],
  ['"dependentSchemas"', (schema: Json) => ({ dependentSchemas: { a: schema } })],
  ['"contains"', (schema: Json) => ({ type: 'array', contains: schema })],
])('what narrows the schema of %s narrows its own', (_, within) => {
  const [wide, narrow] = [within({ minProperties: 1 }), within({ minProperties: 2 })];
  expect([inRequests(wide, narrow), inRequests(narrow, wide)].map(({ verdict }) => verdict)).toEqual([
    'breaking',
    'safe',
  ]);
  expect([inResponses(wide, narrow), inResponses(narrow, wide)].map(({ verdict }) => verdict)).toEqual([
    'safe',
    'breaking',
  ]);
});

test('what "if" matches more often restricts more by "then", and less by "else"', () => {
  const [few, many] = [{ if: { minimum: 5 } }, { if: { minimum: 3 } }];
  const then = { multipleOf: 2 };
  expect(inRequests({ ...few, then }, { ...many, then }).verdict).toBe('breaking');
  expect(inRequests({ ...many, then }, { ...few, then }).verdict).toBe('safe');
  const other = { else: { maximum: 4 } };
  expect(inRequests({ ...few, ...other }, { ...many, ...other }).verdict).toBe('safe');
  expect(inRequests({ ...many, ...other }, { ...few, ...other }).verdict).toBe('breaking');
  const [both, fewer] = [many, few].map((given) => ({ ...given, then, ...other }));
  expect(inRequests(both, fewer).verdict).toBe('breaking');
  expect(inRequests(fewer, both).verdict).toBe('breaking');
});

test('what "else" restricts is what "if" does not match, so another type that "if" names does not excuse it', () => {
  const text = (...type: string[]) => ({ type: 'string', if: { type }, else: false });
  expect(inRequests(text('string', 'integer'), text('integer')).verdict).toBe('breaking');
  expect(inResponses(text('integer'), text('string', 'integer')).verdict).toBe('breaking');
  expect(inRequests(text('boolean', 'integer'), text('integer')).verdict).toBe('safe');
});

test('what surrounds a shared condition in one operation decides nothing for another one', () => {
  const document = (condition: Json) => {
    const body = (more: Json) => taking({ type: 'object', allOf: [{ $ref: '#/components/schemas/C' }], ...more });
    const [one, other] = [body({ required: ['k'] }), body({})].map(({ paths }) => Object.values(paths as Json)[0]);
    return api({}, { paths: { '/a': one, '/b': other }, components: { schemas: { C: { if: condition, then: { required: ['a'] } } } } }); // prettier-ignore
  };
  const { changes } = compare(document({ required: ['k'], maxProperties: 5 }), document({ maxProperties: 4 }));
  expect(changes.map(({ verdict, operations }) => `${verdict} ${operations.join()}`)).toEqual([
    'breaking POST /b',
    'safe POST /a',
  ]);
});

test('contains with maxContains cannot be judged', () => {
  const list = (minimum: number) => ({ type: 'array', contains: { minimum }, maxContains: 2 });
  expect(inRequests(list(1), list(2)).verdict).toBe('unknown');
});

test.each(['anyOf', 'oneOf', 'then', 'dependentSchemas'])(
  'a property that %s restricts now, and that was named beside it, breaks',
  (keyword) => {
    const named = (properties: Json) => {
      const [one, other] = [{ required: ['a'], ...properties }, { required: ['b'] }];
      const restricting: Json =
        keyword === 'then' ? { if: other, then: one } : keyword === 'dependentSchemas' ? { [keyword]: { a: one } } : { [keyword]: [one, other] }; // prettier-ignore
      return { type: 'object', properties: { c: { type: 'string' }, a: true, b: { type: 'object', properties: { d: true } } }, ...restricting }; // prettier-ignore
    };
    const constant = named({ properties: { c: { const: 'x' } } });
    expect(inRequests(named({}), constant).verdict).toBe('breaking');
    expect(inResponses(constant, named({})).verdict).toBe('breaking');
    const deep = (properties: Json) => named({ properties: { b: { properties } } });
    expect(inRequests(deep({}), deep({ d: { const: 1 } })).verdict).toBe('breaking');
    // What nothing named is new. Without anything else, so is the restriction.
    if (keyword === 'dependentSchemas') return;

    expect(inRequests(named({}), named({ properties: { z: { const: 1 } } })).verdict).toMatch('safe');
  },
);

test('items that an alternative restricts now, and that were described beside it, break', () => {
  const list = (items: Json) => ({
    type: 'array',
    items: { type: 'object', properties: { c: { type: 'string' } } },
    anyOf: [{ items }, { maxItems: 0 }],
  });
  const constant = list({ properties: { c: { const: 'x' } } });
  expect(inRequests(list({ minProperties: 0 }), constant).verdict).toBe('breaking');
  expect(inResponses(constant, list({ minProperties: 0 })).verdict).toBe('breaking');
});

test.each([{ additionalProperties: { type: 'string' } }, { patternProperties: { '^x': { type: 'string' } } }])(
  'a property that an alternative restricts now, and that %j described beside it, breaks',
  (around) => {
    const either = (more: Json) => ({ type: 'object', ...around, anyOf: [{ required: ['a'], ...more }, { required: ['b'] }] }); // prettier-ignore
    expect(inRequests(either({}), either({ properties: { xa: { const: 'q' } } })).verdict).toBe('breaking');
  },
);

test('the first server of one path is risky where the document names none', () => {
  const document = api();
  const paths = { '/things': { ...(document['paths'] as Record<string, Json>)['/things'], servers: [{ url: '/v2' }] } };
  expect(told(compare(document, { ...document, paths }))).toEqual(['risky server-added']);
});

test('a limit that only other multiples move is not said to be another one', () => {
  const stepped = (multipleOf: number) => ({ type: 'number', maximum: 6, multipleOf });
  expect(told(inRequests(stepped(2), stepped(4)))).toEqual(['breaking request-body-multiple-of-changed']); // prettier-ignore
});

test('an alternative whose optional property is new refuses nothing that another one allowed', () => {
  const either = (more: Json) => ({ oneOf: [{ ...more }, { type: 'string' }] });
  const [open, named] = [either({}), either({ properties: { a: { type: 'string' } } })];
  expect(told(inRequests(open, named))).toEqual(['safe request-property-added']);
  expect(told(inResponses(named, open))).toEqual(['risky response-property-optional-removed']);
});

test('what an alternative evaluates that another one covers counts where unevaluated members are refused', () => {
  const listing = (contains: unknown) => ({ unevaluatedItems: { type: 'boolean' }, anyOf: [{ contains }, true] });
  const [before, after] = [listing({ type: 'object' }), listing({})];
  expect(told(compare(giving(before), giving(after)))).toEqual(['unknown response-body-evaluates-other']);
  expect(told(compare(taking(after), taking(before)))).toEqual(['unknown request-body-evaluates-other']);
});
