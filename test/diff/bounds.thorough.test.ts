/* oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema */
// What a comparison of very large documents costs.
import { expect, test } from 'vitest';
import { api, compare, taking, told, type Json } from './given.ts';

const schemas = (A: Json, more: Json = {}, rest: Json = {}) =>
  api({}, { components: { schemas: { A, ...more } }, ...rest });

test('gives up on many schemas that each combine many others', () => {
  const wide = (limit: number): Json => {
    const names = Array.from({ length: 200 }, (_, at) => `P${at}`);
    const parts = names.map((name): [string, Json] => [name, { properties: { [name]: { maxLength: limit } } }]);
    const all = { allOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })) };
    const users = Array.from({ length: 300 }, (_, at): [string, Json] => [`u${at}`, { ...all, title: `${at}` }]);
    return taking({ properties: Object.fromEntries(users) }, { components: { schemas: Object.fromEntries(parts) } });
  };
  expect(compare(wide(1), wide(2)).reason).toBe('The documents are too large to be compared.');
});

test('a schema that no operation uses, in a document with a very long list', () => {
  const long = (type: string) =>
    schemas({ type }, {}, { tags: Array.from({ length: 150_000 }, () => ({ name: 'a' })) });
  expect(told(compare(long('string'), long('integer')))).toEqual(['risky schema-type-changed']);
});

test('a schema that is referred to in many spellings', () => {
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`p${n}`, { type: 'string' }])),
  };
  const spell = (n: number) => (name: string, bit: number) =>
    (n >> bit) & 1 ? `%${name.charCodeAt(0).toString(16)}` : name;
  const uses = Array.from({ length: 256 }, (_, n) => ({
    in: 'query',
    name: `p${n}`,
    schema: { $ref: `#/components/schemas/${[...'ABCDEFGH'].map(spell(n)).join('')}` },
  }));
  const many = (type: string) => ({
    ...api({ parameters: uses }),
    components: { schemas: { A: { type }, ABCDEFGH: wide } },
  });
  expect(told(compare(many('string'), many('integer')))).toEqual(['risky schema-type-changed']);
});

type Name = (at: number) => string;
const anOperation = { responses: { 200: { description: 'Done.' } } };
const bothAre = (_: unknown, documentOf: (name: Name) => Json) =>
  ['a', 'b'].map((start) => documentOf((at) => `${start}${at}`)) as [Json, Json];
const secured = (name: Name, security: Json[]) =>
  api(
    { security },
    { components: { securitySchemes: mapOf(4000, name, (at) => ({ type: 'apiKey', in: 'query', name: name(at) })) } },
  );

test.each<[string, (name: Name) => Json]>([
  ['media types', (name) => api({ requestBody: { content: mapOf(3000, (at) => `text/${name(at)}`) } })],
  ['patterns', (name) => taking({ additionalProperties: false, patternProperties: mapOf(3000, (at) => `^${name(at)}-`) })],
  ['names beside patterns', (name) => taking({ additionalProperties: false, properties: mapOf(1500, name), patternProperties: mapOf(1500, (at) => `^${name(at)}-`) })],
  ['alternatives of who may call', (name) => secured(name, listOf(4000, (at) => ({ [name(at)]: [] })))],
  ['servers of operations', (name) => api({}, { servers: listOf(300, (at) => ({ url: `https://${name(at)}.example` })), paths: mapOf(4000, (at) => `/${name(at)}`, () => ({ get: anOperation })) })],
  ['statuses', (name) => api({ responses: mapOf(2000, (at) => `${name(at) < 'b' ? 4 : 5}${at}`, () => ({ description: 'D' })) })],
  ['exclusions', (name) => taking({ allOf: listOf(1900, (at) => ({ not: { required: [name(at), 'q'] } })) })],
  ['conditions', (name) => taking({ allOf: listOf(1900, (at) => ({ if: { required: [name(at), 'q'] }, then: { required: ['w'] } })) })],
])('gives up on thousands of %s of which none is the same', (...given) => {
  expect(compare(...bothAre(...given)).reason).toBe('The documents are too large to be compared.');
}); // prettier-ignore

test.each<[string, (name: Name) => Json]>([
  ['servers', (name) => api({}, { servers: listOf(3000, (at) => ({ url: `https://${name(at)}.example` })) })],
  ['schemes that are used together', (name) => secured(name, [mapOf(4000, name, () => [])])],
  ['parameters', (name) => api({ parameters: listOf(4000, (at) => ({ in: 'query', name: name(at), schema: {} })) })],
  ['headers', (name) => api({ responses: { 200: { description: 'D', headers: mapOf(4000, name, () => ({ schema: {} })) } } })],
  ['links', (name) => api({ responses: { 200: { description: 'D', links: mapOf(4000, name, () => ({ operationId: 'a' })) } } })],
  ['callbacks', (name) => api({ callbacks: mapOf(4000, name, () => ({ '{$request.body#/a}': { post: anOperation } })) })],
  ['examples', (name) => api({ requestBody: { content: { 'text/plain': { examples: mapOf(4000, name, (at) => ({ value: name(at) })) } } } })],
  ['dependentSchemas', (name) => taking({ dependentSchemas: mapOf(4000, name) })],
  ['values', (name) => taking({ enum: listOf(80_000, name) })],
  ['alternatives', (name) => taking({ oneOf: listOf(4000, (at) => ({ const: name(at) })) })],
  ['unions', (name) => taking({ allOf: listOf(1900, (at) => ({ anyOf: [{ required: [name(at)] }, { required: [`${name(at)}-`] }] })) })],
])('compares thousands of %s of which none is the same', (...given) => {
  expect(compare(...bothAre(...given)).reason).toBeNull();
}); // prettier-ignore

function mapOf(count: number, name: Name, valueOf: (at: number) => unknown = () => ({ minLength: 1 })): Json {
  return Object.fromEntries(listOf(count, (at) => [name(at), valueOf(at)] as const));
}

function listOf<One>(count: number, valueOf: (at: number) => One): One[] {
  return Array.from({ length: count }, (_, at) => valueOf(at));
}
