import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lintWithRuleset } from '../../../src/compile/ruleset/ruleset-evaluate.ts';
import { compileRuleset } from '../../../src/compile/ruleset/ruleset.ts';
import { given, lines } from '../given.ts';
import { findingsOf, readCase } from '../openapi/redocly-case.ts';

const fixtures = join(import.meta.dirname, '../../fixtures/rulesets');
const document = { openapi: '3.1.0', info: { title: 'a', version: '1' }, paths: { '/a': { get: { responses: {} } } } };

async function lint(ruleset: unknown, files: Record<string, unknown> = { 'openapi.json': document }) {
  const found = await lintWithRuleset(given(files, 'apis'), {
    json: JSON.stringify(ruleset),
    name: '@acme/rulesets/r',
  });
  return lines(found);
}

describe("Redocly's own cases", () => {
  test.each(['assertions-enum-on-keys-error', 'no-server-trailing-slash-error', 'operation-security-defined-warning'])(
    '%s',
    async (name) => {
      const one = readCase(join(fixtures, name));
      expect(one.expected).toHaveLength(1);
      expect(await findingsOf(one)).toEqual(one.expected);
    },
  );
});

test('a base that cannot be read here is reported, never silently left out', async () => {
  const rule = { subject: { type: 'Info' }, assertions: { required: ['contact'] } };
  const found = await lint({ extends: ['@acme/rulesets/base@1'], rules: { 'rule/contact': rule } });
  expect(found).toContain(
    'openapi.json:1:1 error ruleset-failed: The ruleset @acme/rulesets/r extends @acme/rulesets/base@1, which is not available here.',
  );
  expect(found).toHaveLength(2);
});

test('built-in rulesets, version blocks and severities', async () => {
  const ruleset = {
    extends: ['minimal'],
    rules: { 'operation-summary': 'warn', struct: 'off', 'info-license': 'off' },
    oas3_0Rules: { 'operation-summary': 'error' },
    oas3_1Rules: { 'operation-operationId': 'error' },
  };
  const found = await lint(ruleset);
  expect(found.filter((line) => line.includes(' operation-summary'))).toEqual([
    'openapi.json:9:7 warning operation-summary: Operation object should contain `summary` field.',
  ]);
  expect(found.some((line) => line.includes('error operation-operationId'))).toBe(true);
  expect(found.some((line) => line.includes(' struct'))).toBe(false);
});

test('a finding in another file is reported there', async () => {
  const files = {
    'openapi.yaml': 'openapi: 3.0.3\ninfo: {title: a, version: "1"}\npaths:\n  /a:\n    $ref: paths/a.yaml\n',
    'paths/a.yaml': 'get:\n  responses: {}\n',
  };
  expect(await lint({ rules: { 'operation-summary': 'error' } }, files)).toEqual([
    expect.stringMatching(/^paths\/a\.yaml:1:1 error operation-summary: /),
  ]);
});

test('the message of an assertion has its placeholders filled and no colours', async () => {
  const assertion = {
    subject: { type: 'Info', property: 'title' },
    assertions: { minLength: 5 },
    severity: 'warn',
    reference: 'https://acme.example',
  };
  expect(await lint({ rules: { 'rule/long-title': assertion } })).toEqual([
    "openapi.json:4:14 warning rule/long-title: rule/long-title failed because the Info title didn't meet the assertions: Should have at least 5 characters See https://acme.example.",
  ]);
});

test('what would load code, files or URLs has no effect, also where it was not refused', async () => {
  const ruleset = {
    plugins: ['./plugin.js'],
    extends: ['./other.yaml', 'https://example.com/r.yaml', 'minimal'],
    resolve: { http: { headers: [] } },
    decorators: { 'remove-x-internal': 'on' },
    rules: {
      'rule/a': { subject: { type: 'Info' }, assertions: { schema: { $ref: 'https://example.com/s.json' } } },
      'rule/b': { $ref: './rule.yaml' },
      'no/such': 'error',
      'operation-summary': 'error',
    },
  };
  expect(await lint(ruleset)).toContainEqual(expect.stringContaining(' error operation-summary: '));
});

test('options that no rule can take block, and say so', async () => {
  const found = await lint({ rules: { 'path-segment-plural': { severity: 'warn', exceptions: 5 } } });
  expect(found).toEqual([
    expect.stringMatching(/^openapi\.json:1:1 error ruleset-failed: The ruleset @acme\/rulesets\/r cannot be applied/),
  ]);
});

test('other documents: the report says that no rule applies', async () => {
  expect(
    await lint({ extends: ['minimal'] }, { 'a.json': { $schema: 'http://json-schema.org/draft-07/schema#' } }),
  ).toEqual([expect.stringMatching(/^a\.json:1:1 info ruleset-not-applicable: /)]);
});

test('the built-in style finds what it promises', async () => {
  const text = readFileSync(new URL('../../../content/rulesets/stele.yaml', import.meta.url), 'utf8');
  const { bundle } = await compileRuleset(given({ 'stele.yaml': text }, 'rulesets'));
  const operation = (operationId: string) => ({ operationId, responses: { '200': { description: 'a' } } });
  const api = {
    openapi: '3.1.0',
    info: { title: 'a', version: '1' },
    servers: [{ url: 'http://a.example/' }, { url: 'http://localhost:80' }],
    paths: { '/a/{id}': { get: operation('x') }, '/a/{name}': { get: operation('x') } },
  };
  const rules = (await lint(bundle, { 'a.json': api })).map((line) => line.split(' ').slice(1, 3).join(' '));
  expect(new Set(rules)).toEqual(
    new Set([
      'error operation-operationId-unique:',
      'error path-parameters-defined:',
      'error no-identical-paths:',
      'error security-defined:',
      'warning no-ambiguous-paths:',
      'warning operation-summary:',
      'warning operation-4xx-response:',
      'warning info-license:',
      'warning no-server-trailing-slash:',
      'warning rule/info-description:',
      'warning rule/server-https:',
    ]),
  );
  expect(rules.filter((rule) => rule.endsWith('server-https:'))).toHaveLength(1);
});

test('a finding about a list of many values names three, and the one that was meant', async () => {
  const codes = [...Array.from({ length: 207 }, (_, at) => `A${String(at).padStart(3, '0')}`), 'EUR'];
  const media = (schema: object) => ({ schema, example: { currency: 'EURO' } });
  const body = (values: string[]) => ({
    content: { 'application/json': media({ type: 'object', properties: { currency: { enum: values } } }) },
  });
  const found = async (values: string[]) => {
    const operation = { requestBody: body(values), responses: { 200: { description: 'ok' } } };
    const files = { 'openapi.json': { ...document, paths: { '/a': { post: operation } } } };
    const [line] = await lint({ rules: { 'no-invalid-media-type-examples': 'error' } }, files);
    return line?.replace(/^.*schema: /, '');
  };
  expect(await found(codes)).toBe(
    '`currency` property must be equal to one of the allowed values "A000", "A001", "A002" and 205 more. Did you mean "EUR"?',
  );
  expect(await found(['EUR', 'USD'])).toBe(
    '`currency` property must be equal to one of the allowed values "EUR", "USD". Did you mean "EUR"?',
  );
});
