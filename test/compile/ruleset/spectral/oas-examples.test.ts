import { expect, test } from 'vitest';
import { lintWithSpectral } from '../../../../src/compile/ruleset/spectral/lint.ts';
import { createAjv } from '../../../../src/compile/ruleset/spectral/create-ajv.ts';
import { given } from '../../given.ts';

/** Values that fit for sure are passed over without a validator: its verdicts must stay the same. */

const components = {
  Pet: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, friend: ref('Pet') } },
  Tag: { type: 'string', enum: ['a', 'b'] },
};

const schemas: Record<string, unknown>[] = [
  {},
  ref('Pet'),
  ref('Tag'),
  { type: 'string', minLength: 2, maxLength: 2 },
  { type: 'string', pattern: '^(?:a+)+$' },
  { type: 'string', pattern: '^(?!a)' },
  { type: 'string', pattern: '[\\w-.]' },
  { type: 'string', format: 'date' },
  { type: 'string', nullable: true },
  { type: 'integer', minimum: 1, multipleOf: 2 },
  { oneOf: [{ type: 'number' }, { type: 'integer', pattern: 'a' }, ref('Pet')] },
  { oneOf: [{ type: 'string' }, { type: 'string', pattern: '^a' }] },
  { allOf: [ref('Pet'), { properties: { id: { type: 'integer' } }, required: ['id'] }] },
  { anyOf: [ref('Tag'), { type: 'array', items: ref('Tag'), uniqueItems: true }] },
  { type: 'object', properties: { name: ref('Tag') }, additionalProperties: false },
  { type: 'object', additionalProperties: ref('Tag'), minProperties: 1 },
  { not: { type: 'string' } },
  { const: 'a' },
  { enum: [1, 'a', null, { name: 'a' }] },
  { type: 'object', properties: { friend: ref('Pet') }, required: ['friend'], discriminator: 'name' },
];

const scalars = [null, true, 1, 2, 2.5, '', 'a', 'ab', '👍👍', '2020-02-30', '2020-02-29'];
const objects = [{}, { name: 'a' }, { name: 1 }, { name: 'c', id: 1 }, { friend: { name: 'b' } }];
const values: unknown[] = [...scalars, ...objects, [], ['a'], ['a', 'a'], { friend: { friend: {} } }];

function ref(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

test.each(['3.0.3', '3.1.0'])('OpenAPI %s: the examples that a validator refuses are reported', (openapi) => {
  const contents = schemas.flatMap((schema, at) =>
    values.map((value, index) => [`/${at}/${index}`, { schema, examples: { one: { value } } }] as const),
  );
  const paths = contents.map(([path, content]) => [
    path,
    { get: { responses: { 200: { description: 'A.', content: { 'a/a': content } } } } },
  ]);
  const document = { openapi, paths: Object.fromEntries(paths) as unknown, components: { schemas: components } };
  const ruleset = { extends: [['spectral:oas', 'off']], rules: { 'oas3-valid-media-example': 'error' } };
  const found = lintWithSpectral(given({ 'a.json': document }, 'apis'), { ruleset, name: 'r', find: () => null });
  const refused = contents.filter(([, { schema, examples }]) => {
    const ajv = createAjv(openapi === '3.0.3' ? 'draft4' : 'draft2020-12', false);
    return !ajv.validate({ ...schema, components: { schemas: components } }, examples.one.value);
  });
  expect(refused.length).toBeGreaterThan(150);
  const places = new Set(found.map(({ pointer }) => /^\/paths\/~1(\d+)~1(\d+)\//.exec(pointer)!.slice(1).join('/')));
  expect([...places].sort()).toEqual(refused.map(([path]) => path.slice(1)).sort());
});
