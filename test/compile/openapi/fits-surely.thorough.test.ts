import { createConfig, lintDocument } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { passOverFitting } from '../../../src/compile/openapi/quick-examples.ts';
import { createTree } from '../../../src/compile/openapi/redocly.ts';
import { given } from '../given.ts';
import { components } from './fits-surely-world.ts';

/** What is passed over must be what Redocly's own rule accepts: its findings are compared. */

const schemas: unknown[] = [
  {},
  ...Object.keys(components).map((name) => ({ $ref: `#/components/schemas/${name}` })),
  { $ref: '#/components/schemas/Absent' },
  { $ref: '#/components/schemas/Pet', description: 'A pet.' },
  { type: 'string', minLength: 2, maxLength: 3 },
  { type: 'string', format: 'date' },
  { type: 'string', format: 'date-time', nullable: true },
  { type: 'string', format: 'own' },
  { type: 'string', format: 'toString' },
  { type: 'string', pattern: '^\\p{L}+$' },
  { type: 'string', pattern: '(' },
  { type: 'integer', minimum: 1, maximum: 3 },
  { type: 'integer', minimum: 1, exclusiveMinimum: true },
  { type: 'number', exclusiveMaximum: 3 },
  { type: 'number', format: 'int32', multipleOf: 2 },
  { type: ['string', 'null'] },
  { type: 'text' },
  { nullable: true },
  { nullable: true, enum: ['a'] },
  { nullable: true, description: 'Anything.' },
  { nullable: true, readOnly: true, 'x-own': 1 },
  { type: 'object', properties: { name: { nullable: true, allOf: [{ $ref: '#/components/schemas/Tag' }] } } },
  { type: 'object', properties: { name: { nullable: true, title: 'T' } } },
  { nullable: false, allOf: [{ $ref: '#/components/schemas/Bad' }] },
  {
    type: 'object',
    properties: { friend: { $ref: '#/components/schemas/Pet' }, id: { type: 'string', readOnly: true } },
    required: ['id', 'friend'],
  },
  { type: 'object', additionalProperties: { $ref: '#/components/schemas/Tag' } },
  {
    type: 'object',
    properties: { name: { $ref: '#/components/schemas/Tag' }, other: { anyOf: [{ type: 'string' }] } },
    allOf: [{ type: 'object', properties: { id: { type: 'integer' }, friend: { type: 'object' } } }],
  },
  { nullable: false, type: 'null' },
  { enum: [] },
  { enum: [1, 'a', null, { name: 'a' }] },
  { const: 'a' },
  { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true },
  { type: 'array', items: [{ type: 'string' }] },
  { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
  { type: 'object', properties: { name: { type: 'string' } } },
  { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: true },
  { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: { type: 'integer' } },
  { type: 'object', additionalProperties: false },
  { type: 'object', properties: { id: { type: 'string', readOnly: true } }, required: ['id'] },
  { type: 'object', properties: { id: { type: 'string', writeOnly: true } }, required: ['id'] },
  { type: 'object', properties: { constructor: { type: 'string' } } },
  { type: 'object', required: ['constructor'] },
  { type: 'object', required: true },
  { type: 'object', minProperties: 1, maxProperties: 1 },
  { type: 'object', patternProperties: { '^n': { type: 'string' } } },
  { allOf: [{ $ref: '#/components/schemas/Pet' }, { type: 'object', properties: { id: { type: 'integer' } } }] },
  { allOf: [{ $ref: '#/components/schemas/Pet' }], properties: { id: { type: 'integer' } } },
  { anyOf: [{ type: 'string' }, { $ref: '#/components/schemas/Pet' }] },
  { oneOf: [{ type: 'string' }, { type: 'integer' }, { $ref: '#/components/schemas/Pet' }] },
  { oneOf: [{ type: 'number' }, { type: 'integer' }] },
  { oneOf: [{ properties: { name: { type: 'string' } } }, { properties: { id: { type: 'integer' } } }] },
  { not: { type: 'string' } },
  { discriminator: { propertyName: 'name' }, oneOf: [{ $ref: '#/components/schemas/Pet' }] },
  { id: 'x', type: 'string' },
  { 'x-own': true, title: 'T', type: 'boolean' },
  { default: 1, unknownKeyword: 1 },
  { properties: { name: { $ref: '#/components/schemas/Bad' } } },
];

const values: unknown[] = [
  null,
  true,
  0,
  1,
  3,
  2.5,
  2 ** 40,
  'a',
  'ab',
  '👍👍',
  '2020-02-30',
  '2020-02-29',
  '2020-02-29T10:00:00Z',
  '',
  [],
  ['a'],
  ['a', 'a'],
  [{ name: 'a' }],
  {},
  { name: 'a' },
  { name: 1 },
  { name: 'a', other: 1 },
  { name: 'a', id: 1 },
  { id: 'a' },
  { name: 'a', friend: { name: 'b', friend: { name: 'c' } } },
  { name: 'a', friend: { name: 'b', odd: 1 } },
];

/** Values by the names of examples, as those that are referenced have them. */
const named = Object.fromEntries(values.map((value, index) => [`v${index}`, index % 5 ? { value } : value]));

/** How a media type holds a value: in itself, or behind a reference, alone or among others. */
function holding(value: unknown, at: number): Record<string, unknown> {
  const reference = { $ref: `#/components/examples/v${values.indexOf(value)}` };
  if (at % 4 === 1) return { examples: { one: reference, own: { value: 'a', dataValue: value } } };
  if (at % 4 === 2) return { example: reference };
  if (at % 4 === 3) return { examples: { one: { $ref: '#/components/examples/absent' }, own: { value } } };
  return { example: value };
}

/** Each schema with each value, as requests and as responses. */
function documentWith(openapi: string): Record<string, unknown> {
  const pairs = schemas.flatMap((schema, at) =>
    values.map(
      (value, index) => [`/${at}/${index}`, { 'application/json': { schema, ...holding(value, at + index) } }] as const,
    ),
  );
  const isRequest = (path: string) => path.length % 2 === 0;
  const paths = pairs.map(([path, content]) => [
    path,
    {
      post: isRequest(path)
        ? { requestBody: { content }, responses: { 200: { description: 'A.' } } }
        : { responses: { 200: { description: 'A.', content } } },
    },
  ]);
  return {
    openapi,
    info: { title: 'A', version: '1' },
    paths: Object.fromEntries(paths) as unknown,
    components: { schemas: components, examples: named },
  };
}

test.each([
  ['3.0.3', false],
  ['3.1.0', true],
])('OpenAPI %s, objects open: %s: the same findings as without it', async (openapi, allowAdditionalProperties) => {
  const { entry, files } = given({ 'api.json': documentWith(openapi) }, 'apis');
  const find = async (isQuick: boolean) => {
    const rules = { 'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties } } as const;
    const config = await createConfig({ rules });
    const tree = createTree({ files });
    const found = await lintDocument({
      document: tree.documentOf(entry.path),
      config: isQuick ? passOverFitting(config) : config,
      externalRefResolver: tree.resolver,
    });
    return found.map(({ message, location }) => `${location[0]!.pointer} ${message}`);
  };
  const slow = await find(false);
  expect(slow.length).toBeGreaterThan(500);
  expect(await find(true)).toEqual(slow);
});
