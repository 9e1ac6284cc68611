import { describe, expect, it } from 'vitest';
import { kindOf } from '../../src/compile/detect.ts';
import { mayBeDocument } from '../../src/model/kinds.ts';

describe('kindOf', () => {
  it.each([
    ['OpenAPI 3', { openapi: '3.1.0', info: { title: 'Pets' } }, { type: 'apis', kind: 'openapi', title: 'Pets' }],
    ['Swagger', { swagger: '2.0' }, { type: 'apis', kind: 'openapi', title: null }],
    ['Swagger without quotes', { swagger: 2 }, { type: 'apis', kind: 'openapi', title: null }],
    [
      'an OpenAPI document that also names a schema',
      { openapi: '3.0.0', $schema: 'x' },
      { type: 'apis', kind: 'openapi', title: null },
    ],
    [
      'a JSON Schema',
      { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Pet' },
      { type: 'schemas', kind: 'json-schema', title: 'Pet' },
    ],
    [
      'a newer one',
      { $schema: 'https://json-schema.org/draft/2020-12/schema' },
      { type: 'schemas', kind: 'json-schema', title: null },
    ],
    [
      'a Spectral ruleset',
      JSON.parse('{"rules": {"a": {"given": "$", "then": {}}}}') as unknown,
      { type: 'rulesets', kind: 'spectral-ruleset', title: null },
    ],
    ['one that extends', { extends: ['spectral:oas'] }, { type: 'rulesets', kind: 'spectral-ruleset', title: null }],
    [
      'one that extends with severity',
      { extends: [['spectral:oas', 'all']] },
      { type: 'rulesets', kind: 'spectral-ruleset', title: null },
    ],
    [
      'a Redocly ruleset',
      { extends: ['recommended'], rules: { 'operation-summary': 'error' } },
      { type: 'rulesets', kind: 'redocly-ruleset', title: null },
    ],
    [
      'Redocly assertions',
      { rules: { 'rule/a': { subject: { type: 'Operation' }, assertions: {} } } },
      { type: 'rulesets', kind: 'redocly-ruleset', title: null },
    ],
  ])('%s', (_, document, found) => {
    expect(kindOf(document)).toEqual(found);
  });

  it.each([
    [
      'a Kubernetes CRD',
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', spec: { openAPIV3Schema: {} } },
    ],
    ['a Kubernetes role', { kind: 'Role', rules: [{ apiGroups: [''] }] }],
    ['AsyncAPI', { asyncapi: '2.6.0', info: { title: 'x' } }],
    ['Arazzo', { arazzo: '1.0.1', info: { title: 'x' } }],
    [
      'a Backstage entity',
      { apiVersion: 'backstage.io/v1alpha1', kind: 'API', spec: { definition: { $openapi: './a.yaml' } } },
    ],
    ['package.json', { name: 'x', openapi: './spec.yaml', scripts: {} }],
    [
      'tsconfig.json',
      { $schema: 'https://json.schemastore.org/tsconfig', extends: './base.json', compilerOptions: {} },
    ],
    [
      'an ESLint configuration',
      { extends: ['eslint:recommended'], rules: { 'no-unused-vars': 'error', semi: ['error', 'always'] } },
    ],
    ['a stylelint configuration', { extends: 'stylelint-config-standard', rules: { 'color-no-hex': true } }],
    ['a markdownlint configuration', { extends: null, default: true, MD013: false }],
    ['a GitHub workflow', { name: 'CI', on: { push: {} }, jobs: { a: { steps: [] } } }],
    ['Firebase rules', { rules: { '.read': true, '.write': false } }],
    [
      'a Renovate configuration',
      { $schema: 'https://docs.renovatebot.com/renovate-schema.json', extends: ['config:recommended'] },
    ],
    ['data with an openapi object', { openapi: { info: {} } }],
    ['a list', [{ openapi: '3.0.0' }]],
    ['a text', 'openapi: 3.0.0'],
  ])('%s is none of ours', (_, document) => {
    expect(kindOf(document)).toBeNull();
  });
});

describe('mayBeDocument', () => {
  it.each([
    ['a.yaml', 'x: 1\nopenapi: 3.0.0', true],
    ['a.YML', 'swagger: "2.0"', true],
    ['a.json', '{"$schema": 1}', true],
    ['a.json', '{"a": 1}', false],
    ['a.md', 'openapi: 3.0.0', false],
    ['a/.spectral.cjs', 'x', true],
    ['a/spectral.js', 'export default { rules: {} }', false],
  ])('%s with %j: %s', (path, text, expected) => {
    expect(mayBeDocument(path, Buffer.from(text))).toBe(expected);
  });
});
