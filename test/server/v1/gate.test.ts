import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Compiler } from '../../../src/compile/compile.ts';
import { openCompiler } from '../../../src/compile/sandbox/sandbox.ts';
import type { UserConfig } from '../../../src/config.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';
import { createTestRepository } from './repository.ts';

/** The gate of design §6 over HTTP, with the compiler as it is. */
let compiler: Compiler;
beforeAll(() => {
  compiler = openCompiler({ children: 1 });
});
afterAll(() => compiler.close());

const repository = createTestRepository('https://github.com/acme/contracts');
const open = (user: UserConfig = {}) =>
  openApi({ ...createTestRegistry({ ...unlimited, ...user }), compiler, source: repository.source });

const style = 'extends: []\nrules:\n  operation-summary: error\n  operation-description: warn\n';

function documentWith(operation: string, version = '1.0.0'): string {
  return `openapi: 3.1.0
info: { title: Pay, version: ${version} }
paths:
  /charges:
    get:
      ${operation}
      responses:
        '200': { description: Charges. }
`;
}

async function publishRuleset(api: Api, document: string, slug = 'style') {
  await api.call('POST', '/v1/rulesets', { body: { name: slug, slug } });
  return api.call('POST', `/v1/rulesets/${slug}/document`, { body: { document } });
}

const publish = (api: Api, document: string) => api.call('POST', '/v1/apis/pay/spec', { body: { document } });
type Finding = { rule: string; severity: string; pointer: string; line: number };

test('a finding of severity error blocks, with the whole report; a warning stays in it', async () => {
  await using api = await open();
  expect((await publishRuleset(api, style)).status).toBe(201);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', ruleset: '@acme/rulesets/style' } });

  const refused = await publish(api, documentWith('operationId: list'));
  expect(refused.status).toBe(422);
  const findings = refused.json['problems'] as Finding[];
  expect(findings.map(({ rule, severity }) => `${rule} ${severity}`)).toEqual([
    'operation-summary error',
    'operation-description warning',
  ]);
  expect(findings[0]!.pointer).toContain('/paths/~1charges/get');
  expect(findings[0]!.line).toBe(5);

  const published = await publish(api, documentWith('summary: List charges.'));
  expect(published.status).toBe(201);
  expect(published.json['report']).toMatchObject({ counts: { error: 0, warning: 1 } });
});

test('the ruleset is pinned at each publish: a newer one counts from then on, and what is published stays', async () => {
  await using api = await open();
  const first = await publishRuleset(api, 'rules: { operation-summary: warn }\nx-version: 1.0.0\n');
  await api.call('POST', '/v1/apis', {
    body: { name: 'Pay', slug: 'pay', visibility: 'public', ruleset: '@acme/rulesets/style' },
  });
  expect((await publish(api, documentWith('operationId: list'))).status).toBe(201);
  const config = async () =>
    (await (await fetch(`${api.url}/@acme/apis/pay@1.0.0/provenance`)).json()) as { ruleset: string };
  expect((await config()).ruleset).toBe(first.json['digest']);
  await publishRuleset(api, 'rules: { operation-summary: error }\nx-version: 2.0.0\n');
  expect((await publish(api, documentWith('operationId: list', '1.1.0'))).status).toBe(422);
  expect((await config()).ruleset).toBe(first.json['digest']);
  await api.call('PATCH', '/v1/apis/pay', { body: { ruleset: '@acme/rulesets/style@1' } });
  expect((await publish(api, documentWith('operationId: list', '1.1.0'))).status).toBe(201);
});

test("without a ruleset of its own, an API is checked by its organization's", async () => {
  await using api = await open({ organizations: { acme: { defaults: { ruleset: '@acme/rulesets/style' } } } });
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const shut = await publish(api, documentWith('summary: List.'));
  expect([shut.status, shut.json['detail']]).toEqual([422, expect.stringContaining('@acme/rulesets/style')]);
  await publishRuleset(api, style);
  expect((await publish(api, documentWith('operationId: list'))).status).toBe(422);
  expect((await publish(api, documentWith('summary: List.'))).status).toBe(201);
});

test('what is synced goes through the same gate', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', ruleset: '@acme/rulesets/style' } });
  repository.commit({ 'pay.yaml': documentWith('operationId: list') });
  await api.call('PUT', '/v1/apis/pay/connection', { body: { repository: repository.url, path: 'pay.yaml' } });
  const refused = await api.call('POST', '/v1/apis/pay/sync?wait=60');
  expect(refused.json['documents']).toMatchObject([
    { outcome: 'rejected', report: { problems: [{ rule: 'operation-summary' }, { rule: 'operation-description' }] } },
  ]);
  await api.call('PATCH', '/v1/apis/pay', { body: { ruleset: null } });
  const passed = await api.call('POST', '/v1/apis/pay/sync?wait=60');
  expect(passed.json['documents']).toMatchObject([{ outcome: 'published', version: '1.0.0' }]);
});

test.for([
  ['plugins', 'rules: {}\nplugins:\n  - ./evil.js\n', 2],
  ['a file to extend', 'extends:\n  - ./other.yaml\nrules: {}\n', 2],
  ['a URL to extend', 'extends:\n  - https://evil.example/rules.yaml\nrules: {}\n', 2],
  ['decorators', 'rules: {}\ndecorators:\n  remove-x-internal: on\n', 2],
  ['how to resolve', 'rules: {}\nresolve:\n  http:\n    headers: []\n', 2],
  ['an unknown rule', 'rules:\n  operation-sumary: error\n', 2],
] as const)('a ruleset with %s is refused, and told where', async ([, document, line]) => {
  await using api = await open();
  const { status, json } = await publishRuleset(api, document);
  expect(status).toBe(422);
  const [finding] = json['problems'] as Finding[];
  expect(finding).toMatchObject({ severity: 'error', line: expect.any(Number) });
  expect(finding!.line).toBeGreaterThanOrEqual(line);
});
