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

test.each([
  ['media types', (name: (at: number) => string) => api({ requestBody: { content: mapOf(3000, (at) => `text/${name(at)}`) } })],
  ['patterns', (name: (at: number) => string) => taking({ additionalProperties: false, patternProperties: mapOf(3000, (at) => `^${name(at)}-`) })],
  ['names beside patterns', (name: (at: number) => string) => taking({ additionalProperties: false, properties: mapOf(1500, name), patternProperties: mapOf(1500, (at) => `^${name(at)}-`) })],
])('gives up on thousands of %s of which none is the same', (_, documentOf) => {
  const [before, after] = ['a', 'b'].map((start) => documentOf((at) => `${start}${at}`));
  expect(compare(before!, after!).reason).toBe('The documents are too large to be compared.');
}); // prettier-ignore

function mapOf(count: number, name: (at: number) => string): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [name(at), { minLength: 1 }]));
}
