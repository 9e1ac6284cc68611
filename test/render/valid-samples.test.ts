import { type JsonObject } from '../../src/model/json.ts';
import { expect, test } from 'vitest';
import { sampleOf } from '../../src/render/schema/sample-value.ts';
import { createSchemas } from '../../src/render/schema/schemas.ts';

const schemasOf = (components: object) => createSchemas({ components: { schemas: components } }, 'openapi', 1e6);

test('a sample has what is required, all the way down', () => {
  const message = {
    type: 'object',
    required: ['role', 'content'],
    properties: { role: { enum: ['user'] }, content: { type: 'string' } },
  };
  const deep = (depth: number): object =>
    depth === 0
      ? { $ref: '#/components/schemas/Message' }
      : { type: 'object', required: ['in'], properties: { in: deep(depth - 1), other: {} } };
  const Chat = {
    type: 'object',
    required: ['messages'],
    properties: {
      messages: { type: 'array', minItems: 2, items: { oneOf: [{ $ref: '#/components/schemas/Message' }] } },
      more: {},
    },
  };
  const schemas = schemasOf({ Message: message, Chat });
  expect(sampleOf(schemas, { $ref: '#/components/schemas/Chat' })).toEqual({
    messages: [
      { role: 'user', content: 'string' },
      { role: 'user', content: 'string' },
    ],
  });
  let value = sampleOf(schemas, deep(9)) as JsonObject;
  for (let depth = 0; depth < 9; depth++) value = value['in'] as JsonObject;
  expect(value).toEqual({ role: 'user', content: 'string' });
});

test('what one part of allOf requires may be described by another', () => {
  const schema = {
    allOf: [
      { type: 'object', properties: { names: { type: 'array' }, id: { type: 'integer' } } },
      { required: ['id'] },
    ],
  };
  expect(sampleOf(schemasOf({}), schema)).toEqual({ id: 1 });
});

test('a request has some of what is optional: what is plain, or the author gave', () => {
  const plain = (from: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${from + at}`, { type: 'boolean' }]));
  const properties = {
    list: { type: 'array', items: { type: 'string' } },
    tags: { type: 'array', items: { type: 'string' }, example: ['red'] },
    old: { type: 'string', deprecated: true },
    code: { type: 'string', pattern: '^(?=a)b' },
    id: { type: 'string', readOnly: true },
    size: { type: 'integer', default: 5 },
    name: { type: 'string' },
    inside: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, ...plain(0, 9) } },
    ...plain(10, 20),
  };
  const schema = { type: 'object', required: ['name', 'inside'], properties };
  const sample = sampleOf(schemasOf({}), schema) as { inside: object };
  expect(Object.keys(sample).slice(0, 5)).toEqual(['tags', 'size', 'name', 'inside', 'f10']);
  expect([Object.keys(sample).length, Object.keys(sample.inside).length]).toEqual([12, 6]);
  // One of two alternatives: what it does not require may be the other's.
  const either = { ...schema, oneOf: [{ required: ['size'] }, { required: ['f10'] }] };
  expect(Object.keys(sampleOf(schemasOf({}), either) as object)).toEqual(['size', 'name', 'inside']);
});

test('a text of a format is one', () => {
  const formatted = (format: string) => sampleOf(schemasOf({}), { type: 'string', format });
  expect(['duration', 'uri-reference', 'date'].map(formatted)).toEqual(['PT15M', '/path', '2026-01-31']);
  expect(sampleOf(schemasOf({}), { type: 'string', minLength: 600 })).toHaveLength(600);
});

test('a body that may be any object is not empty', () => {
  expect(sampleOf(schemasOf({}), { type: 'object' })).toEqual({ key: 'string' });
  expect(sampleOf(schemasOf({}), { type: 'object', additionalProperties: false })).toEqual({});
  expect(sampleOf(schemasOf({}), { type: 'object' }, 'response')).toEqual({});
});

test('a sample is not null where it can be something', () => {
  const schema = {
    type: 'object',
    properties: {
      billing: {
        anyOf: [
          { type: 'null' },
          { type: 'object', required: ['plan'], properties: { plan: { enum: [null, 'pro'] } } },
        ],
        default: null,
      },
    },
  };
  expect(sampleOf(schemasOf({}), schema)).toEqual({ billing: { plan: 'pro' } });
});

test('a sample names the alternative that it is', () => {
  const Card = {
    type: 'object',
    required: ['kind', 'number'],
    properties: { kind: { type: 'string' }, number: { type: 'string' } },
  };
  const mapping = { card: '#/components/schemas/Card' };
  const schema = { oneOf: [{ $ref: '#/components/schemas/Card' }], discriminator: { propertyName: 'kind', mapping } };
  expect(sampleOf(schemasOf({ Card }), schema)).toEqual({ kind: 'card', number: 'string' });
});

test('a sample has the value that an alternative gives, before any text', () => {
  const currency = {
    anyOf: [
      { type: 'string', pattern: '^[A-Z]{2}' },
      { enum: ['AED', 'EUR'], default: 'EUR' },
    ],
  };
  expect(sampleOf(schemasOf({}), currency)).toBe('EUR');
  expect(sampleOf(schemasOf({}), { anyOf: [{ type: 'string' }, { enum: ['fast', 'exact'] }] })).toBe('fast');
});

test('a country, a currency and a language are none that nobody knows', () => {
  const text = (more: object = {}) => ({ type: 'string', ...more });
  const properties = {
    country: text({ maxLength: 2 }),
    billingCountryCode: text({ pattern: '^[A-Z]{3}$' }),
    currency: text({ minLength: 3, maxLength: 3 }),
    currency_code: text({ pattern: '^[a-z]{3}$' }),
    language: text({ maxLength: 5 }),
    number_of_countries: text(),
    in_currency: text({ pattern: '^[0-9]{3}$' }),
    account: text({ maxLength: 2 }),
  };
  expect(sampleOf(schemasOf({}), { type: 'object', properties }, 'response')).toEqual({
    country: 'DE',
    billingCountryCode: 'DEU',
    currency: 'EUR',
    currency_code: 'eur',
    language: 'en',
    number_of_countries: 'string',
    in_currency: '000',
    account: 'st',
  });
});
