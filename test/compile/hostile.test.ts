import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CompileKind } from '../../src/compile/kind.ts';
import { compileJsonSchema } from '../../src/compile/schema/json-schema.ts';
import { compileOpenapi } from '../../src/compile/openapi/openapi.ts';
import { compileRuleset } from '../../src/compile/ruleset/ruleset.ts';
import { digestOf } from '../../src/model/digest.ts';
import { given } from './given.ts';
import { run } from './run.ts';
import { timesAsMany } from '../sample.ts';

const words = {
  schema:
    '$schema $id id $ref $anchor $dynamicAnchor $dynamicRef $recursiveRef $recursiveAnchor $defs definitions properties patternProperties additionalProperties items prefixItems contains allOf anyOf not if then dependencies enum const default type pattern required format nullable $async $vocabulary discriminator unevaluatedProperties __proto__ constructor toString',
  ruleset:
    'extends rules oas2Rules oas3_1Rules plugins decorators apis resolve rule/a operation-summary struct path-segment-plural subject assertions where property pattern notPattern casing type severity message given then function functionOptions aliases overrides files formats functions except parserOptions match schema $ref __proto__ constructor toString',
};

const texts = [
  '#',
  '#/',
  '#/definitions/a',
  '#a',
  'a.json',
  'b.json#/items',
  '../x',
  '%zz',
  'https://[',
  'urn:a:b',
  '//x',
  '\0',
  '',
  '(',
  '[',
  '/(/',
  '$',
  '$..[?(@.a',
  '#Alias', // prettier-ignore
  'http://json-schema.org/draft-04/schema#',
  'http://json-schema.org/draft-07/schema#',
  'https://json-schema.org/draft/2019-09/schema',
  'https://json-schema.org/draft/2020-12/schema', // prettier-ignore
  'object',
  'string',
  'error',
  'warn',
  'off',
  'Operation',
  'Root',
  'truthy',
  'recommended',
  'spectral:oas',
];

function documents(keys: string): fc.Arbitrary<Record<string, unknown>> {
  const key = fc.constantFrom(...keys.split(' '));
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.oneof(fc.constantFrom(...texts), fc.integer(), fc.boolean(), fc.constant(null)),
      fc.dictionary(key, tie('tree'), { maxKeys: 6 }),
      fc.array(tie('tree'), { maxLength: 3 }),
    ),
  }));
  return fc.dictionary(key, tree, { minKeys: 1, maxKeys: 8, noNullPrototype: true });
}

test.each<[string, CompileKind, 'schemas' | 'rulesets', string]>([
  ['schemas', compileJsonSchema, 'schemas', words.schema],
  ['rulesets', compileRuleset, 'rulesets', words.ruleset],
])('%s of any content get a result: a document or a reason', async (_, compileKind, type, keys) => {
  await fc.assert(
    fc.asyncProperty(documents(keys), documents(keys), fc.boolean(), async (document, other, strict) => {
      const before = JSON.stringify(document);
      const input = given({ 'a.json': document, 'b.json': other }, type, strict ? 'strict' : 'lenient');
      const { bundle, problems } = await compileKind(input);
      const refused = problems.some(({ severity }) => severity === 'error');
      expect(bundle !== null || refused).toBe(true);
      expect(JSON.stringify(input.entry.value)).toBe(before);
      for (const { file, line, column, message } of problems) {
        expect(['a.json', 'b.json']).toContain(file);
        expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
        expect(message).not.toMatch(/\[object|stele\.invalid/);
      }
    }),
    { numRuns: 100 * timesAsMany, seed: 20261121 },
  );
});

const names = 'valueOf toString constructor hasOwnProperty toJSON length then isPrototypeOf __proto__ $ref a';

/** Rules that look at every value: by each kind of function that compares, and by filters of paths. */
const everywhere = `{"rules": {
  "schema": {"given": "$..*", "then": {"function": "schema", "functionOptions": {"schema": {"anyOf": [{"const": {"a": 1}}, {"enum": [{"a": [1]}, 1]}, {"type": "array", "uniqueItems": true}]}}}},
  "field": {"given": "$..[?(@.a || @property.match(/a/))]", "then": {"field": "toString", "function": "truthy"}},
  "filter": {"given": "$..[?(@.valueOf == 1 || @ == 'a' || @.length > 3)]~", "then": {"function": "casing", "functionOptions": {"type": "camel"}}},
  "order": {"given": "$..*", "then": {"function": "alphabetical", "functionOptions": {"keyedBy": "toString"}}},
  "listed": {"given": "$..*", "then": {"function": "typedEnum"}}
}}`;

test.each([
  ['its own rules', everywhere],
  ['all rules of Spectral', '{"extends": [["spectral:oas", "all"]]}'],
])('documents whose members are named like those of JavaScript get a result under %s', async (_, rules) => {
  const json = JSON.stringify(rules);
  const ruleset = { digest: digestOf(json), name: '@acme/rulesets/r', json };
  await fc.assert(
    fc.asyncProperty(documents(names), documents(names), async (one, other) => {
      const api = {
        openapi: '3.1.0',
        info: { title: 'a', version: '1', 'x-a': [one, other, one] },
        paths: { '/a': { get: { parameters: [one], responses: { 200: one }, ...other } } },
        components: { schemas: { a: one, b: { enum: [one, other], example: other, properties: other } } },
      };
      const { artifact, report } = await run(
        { 'a.json': JSON.stringify(api) },
        { type: 'apis', validation: 'lenient', ruleset },
      );
      expect(artifact !== null || report.counts.error > 0).toBe(true);
    }),
    { numRuns: 30 * timesAsMany },
  );
});

const methods = { toString: 'a', valueOf: 1, constructor: {} };

test('members that are named like methods are members', async () => {
  const schema = { $schema: 'http://json-schema.org/draft-04/schema#', enum: [methods, { ...methods }, methods] };
  const found = await compileJsonSchema(given({ 'a.json': schema }, 'schemas'));
  expect(found.problems.map(({ rule, pointer }) => [rule, pointer])).toEqual([['schema', '/enum']]);
  const named = { ...schema, enum: [methods, { ...methods, toString: 'b' }], properties: { constructor: {} } };
  expect((await compileJsonSchema(given({ 'a.json': named }, 'schemas'))).problems).toEqual([]);

  const parameters = ['a', 'b'].map((name) => ({ name, in: 'query', schema: {}, 'x-a': methods }));
  const api = {
    openapi: '3.0.3',
    info: { title: 'a', version: '1' },
    paths: { '/a': { get: { parameters, responses: { '200': { description: 'a' } } } } },
  };
  expect((await compileOpenapi(given({ 'a.json': api }, 'apis'))).problems).toEqual([]);
});
