import { describe, expect, test } from 'vitest';
import { createFitsSurely } from '../../../src/compile/openapi/fits-surely.ts';
import { passOverFitting, type ValidateOptions } from '../../../src/compile/openapi/quick-examples.ts';

/** What is passed over must be what Redocly's own validator accepts: the two are compared. */

const components: Record<string, unknown> = {
  Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, friend: { $ref: '#/Pet' } } },
  Tag: { type: 'string', enum: ['a', 'b'] },
  Bad: { type: 'string', pattern: '(' },
  Loop: { allOf: [{ $ref: '#/Loop' }] },
  Chain: { $ref: '#/Tag' },
};

const schemas: unknown[] = [
  {},
  ...Object.keys(components).map((name) => ({ $ref: `#/${name}` })),
  { $ref: '#/Absent' },
  { $ref: '#/Pet', description: 'A pet.' },
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
  { nullable: false, type: 'null' },
  { enum: [] },
  { enum: [1, 'a', null, { name: 'a' }] },
  { const: 'a' },
  { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2, uniqueItems: true },
  { type: 'array', items: [{ type: 'string' }] },
  { type: 'array', items: { $ref: '#/Pet' } },
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
  { allOf: [{ $ref: '#/Pet' }, { type: 'object', properties: { id: { type: 'integer' } } }] },
  { allOf: [{ $ref: '#/Pet' }], properties: { id: { type: 'integer' } } },
  { anyOf: [{ type: 'string' }, { $ref: '#/Pet' }] },
  { oneOf: [{ type: 'string' }, { type: 'integer' }, { $ref: '#/Pet' }] },
  { oneOf: [{ type: 'number' }, { type: 'integer' }] },
  { oneOf: [{ properties: { name: { type: 'string' } } }, { properties: { id: { type: 'integer' } } }] },
  { not: { type: 'string' } },
  { discriminator: { propertyName: 'name' }, oneOf: [{ $ref: '#/Pet' }] },
  { id: 'x', type: 'string' },
  { 'x-own': true, title: 'T', type: 'boolean' },
  { default: 1, unknownKeyword: 1 },
  { properties: { name: { $ref: '#/Bad' } } },
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

const location = {
  source: { absoluteRef: '/tree/api.yaml' },
  absolutePointer: '/tree/api.yaml#/schema',
  pointer: '#/schema',
};

function resolve({ $ref }: { $ref: string }) {
  let name = $ref.slice(2);
  // As Redocly does it: a reference to a reference is followed to its end.
  if (name === 'Chain') name = 'Tag';
  return name in components ? { node: components[name], location } : { node: undefined };
}

describe.each(['oas3_0', 'oas3_1'] as const)('%s', (specVersion) => {
  test.each([
    [false, undefined],
    [false, 'request'],
    [true, 'response'],
  ] as const)('open: %s, in a %s', async (isOpen, apiContext) => {
    const original = await passOverFitting();
    const { AjvValidator } = (await import(
      new URL('rules/ajv.js', import.meta.resolve('@redocly/openapi-core')).href
    )) as { AjvValidator: new () => object };
    const wrong: unknown[] = [];
    let sure = 0;
    for (const schema of schemas) {
      const follow = (reference: { $ref: string }) => {
        const { node } = resolve(reference);
        return node === undefined ? null : { schema: node, file: '/tree/api.yaml' };
      };
      const dialect = specVersion === 'oas3_0' ? 'draft4' : '2020';
      const fits = createFitsSurely({ dialect, isOpen, context: apiContext ?? null, follow });
      for (const value of values) {
        if (!fits(schema, '/tree/api.yaml', value)) continue;
        sure++;
        const options = {
          schemaLoc: location,
          instancePath: '#/example',
          resolve,
          allowAdditionalProperties: isOpen,
          ...(apiContext && { ajvContext: { apiContext } }),
          specVersion,
        } as unknown as ValidateOptions;
        try {
          if (!original.call(new AjvValidator(), value, schema, options).valid) wrong.push({ schema, value });
        } catch (error) {
          wrong.push({ schema, value, error: String(error) });
        }
      }
    }
    expect(wrong).toEqual([]);
    expect(sure).toBeGreaterThan(100);
  });
});

test('a hostile schema is left to ajv, and costs no more than a walk', () => {
  const wide: Record<string, unknown> = {};
  const follow = ({ $ref }: { $ref: string }) => ({ schema: wide[$ref.slice(2)], file: '/tree/a' });
  for (let index = 0; index < 60; index++) {
    const next = { $ref: `#/S${index + 1}` };
    wide[`S${index}`] = { allOf: [next, next] };
  }
  wide['S60'] = { type: 'object' };
  const fits = createFitsSurely({ dialect: '2020', isOpen: true, context: null, follow });
  const from = process.cpuUsage().user;
  expect(fits({ $ref: '#/S0' }, '/tree/a', {})).toBe(false);
  expect(process.cpuUsage().user - from).toBeLessThan(2_000_000);
});
