import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import type { UserConfig } from '../../../src/config.ts';
import { publish as publishDocument } from '../../../src/registry/publish.ts';
import { createUpload } from '../../../src/source/upload.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';
import { createTestRepository } from './repository.ts';

/** The gate of design §6 over HTTP, with the compiler as it is. */
const compiler = shareCompiler();

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

  const stricter = style.replace('description: warn', 'description: error');
  expect((await publishRuleset(api, stricter)).status).toBe(201);
  const again = await publish(api, documentWith('summary: List charges.'));
  expect(again.status).toBe(200);
  expect(again.json).toMatchObject({ outcome: 'unchanged', version: '1.0.0', report: { counts: { error: 1 } } });
  expect((await publish(api, documentWith('summary: List all charges.'))).status).toBe(422);
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

test('blockOn decides which findings block, and a ratchet lets pass those of the latest version', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  await api.call('POST', '/v1/apis', {
    body: { name: 'Pay', slug: 'pay', ruleset: '@acme/rulesets/style', blockOn: 'none' },
  });
  const let1 = await publish(api, documentWith('operationId: list'));
  expect(let1.status).toBe(201);
  expect(let1.json['report']).toMatchObject({
    counts: { error: 1, warning: 1 },
    blocking: 0,
    gate: { blockOn: 'none', ruleset: { name: '@acme/rulesets/style@1.0.0' } },
  });

  const changed = await api.call('PATCH', '/v1/apis/pay', { body: { blockOn: 'warn' } });
  expect(changed.json).toMatchObject({ blockOn: 'warn', ratchet: null, compatibility: null });
  const refused = await publish(api, documentWith('operationId: all', '1.1.0'));
  expect([refused.status, refused.json['detail']]).toEqual([422, 'The document has 2 findings that its gate rejects.']);

  await api.call('PATCH', '/v1/apis/pay', { body: { ratchet: true } });
  const known = await publish(api, documentWith('operationId: all', '1.1.0'));
  expect(known.status).toBe(201);
  expect((known.json['report'] as { problems: object[] }).problems).toMatchObject([{ known: true }, { known: true }]);
  const another = documentWith('operationId: all', '1.2.0').replace('/charges:', '/other:');
  expect((await publish(api, another)).status).toBe(422);
});

test('an exemption that ended blocks again, though a ratchet lets pass what the latest version has', async () => {
  const registry = { ...createTestRegistry(unlimited), compiler };
  await using api = await openApi({ ...registry, source: repository.source });
  await publishRuleset(api, style);
  const gate = { ruleset: '@acme/rulesets/style', ratchet: true };
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', ...gate } });
  const publishUntil = (version: string, expires: string) => {
    const at = { file: 'stele.yaml', pointer: '', line: 1, column: 1 };
    return publishDocument(registry, {
      coordinate: { org: 'acme', type: 'apis', slug: 'pay' },
      snapshot: createUpload('pay.yaml', Buffer.from(documentWith('operationId: list', version))),
      entry: 'pay.yaml',
      version: null,
      create: null,
      exemptions: [{ rule: 'operation-summary', reason: 'Old.', expires, at }],
      onConflict: 'reject',
      latest: true,
      dryRun: false,
      author: { actor: 'test', origin: 'test' },
    });
  };
  expect((await publishUntil('1.0.0', '9999-01-01')).outcome).toBe('published');
  expect((await publishUntil('1.1.0', '2000-01-01')).outcome).toBe('rejected');
  expect((await publishUntil('1.1.0', '9999-01-01')).outcome).toBe('published');
});

test('who may not read the ruleset gets the number of its findings', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  await api.call('POST', '/v1/apis', {
    body: { name: 'Pay', slug: 'pay', visibility: 'public', ruleset: '@acme/rulesets/style', blockOn: 'none' },
  });
  await publish(api, documentWith('operationId: list'));
  const report = `${api.url}/@acme/apis/pay@1.0.0/report`;
  const anonymous = await fetch(report);
  const text = await anonymous.text();
  expect(JSON.parse(text)).toMatchObject({ problems: [], hidden: 2, counts: { error: 1, warning: 1 } });
  expect(text).not.toContain('style');
  expect(anonymous.headers.get('vary')).toContain('Authorization');

  const own = await fetch(report, { headers: { authorization: `Bearer ${await api.makeKey({ scopes: ['admin'] })}` } });
  expect(((await own.json()) as { problems: object[] }).problems).toHaveLength(2);
  expect(own.headers.get('cache-control')).toBe('private, no-store');

  const key = await api.makeKey({ scopes: ['publish'], resources: ['apis/*'] });
  const told = await api.call('POST', '/v1/apis/pay/spec', {
    key,
    body: { document: documentWith('x-a: 1', '1.1.0') },
  });
  expect(told.json['report']).toMatchObject({ problems: [], hidden: 2 });

  await api.call('PATCH', '/v1/apis/pay', { body: { blockOn: 'error' } });
  const document = documentWith('x-a: 1', '1.2.0');
  expect((await api.call('POST', '/v1/apis/pay/spec', { key, body: { document } })).json).toMatchObject({
    status: 422,
    detail:
      'The document has 1 error. Findings of a private ruleset are not shown: 2. Ask somebody who may read the ruleset.',
  });

  await api.call('PATCH', '/v1/rulesets/style', { body: { visibility: 'public' } });
  expect(((await (await fetch(report)).json()) as { problems: object[] }).problems).toHaveLength(2);
});

test('a breaking change needs the version, or the exemption, that compatibility asks for', async () => {
  await using api = await open();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', compatibility: 'semver' } });
  expect((await publish(api, documentWith('operationId: list'))).status).toBe(201);
  const renamed = (version: string) => documentWith('operationId: list', version).replace('/charges:', '/other:');
  const refused = await publish(api, renamed('1.1.0'));
  expect(refused.status).toBe(422);
  const findings = refused.json['problems'] as (Finding & { message: string })[];
  // What is gone is at the key that it was under.
  const line =
    1 +
    renamed('1.1.0')
      .split('\n')
      .findIndex((text) => text.startsWith('paths:'));
  expect(line).toBeGreaterThan(1);
  expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([
    { pointer: '/paths/~1charges/get', line, column: 1 },
  ]);
  expect(refused.json['detail']).toBe(
    'Publish it as 2.0.0 instead of 1.1.0, or exempt each change in stele.yaml. It breaks clients of version 1.0.0. The document has 1 error.',
  );
  expect(findings.at(-1)).toMatchObject({
    rule: 'compatibility',
    message:
      'Publish it as 2.0.0 instead of 1.1.0, or exempt each change in stele.yaml. It breaks clients of version 1.0.0.',
  });
  const added = documentWith('operationId: list', '1.1.0').replace('/charges:', "/more: { get: { responses: { '200': { description: ok } } } }\n  /charges:"); // prettier-ignore
  expect((await publish(api, added)).status).toBe(201);
  expect((await publish(api, renamed('2.0.0'))).status).toBe(201);
  await api.call('PATCH', '/v1/apis/pay', { body: { compatibility: 'strict' } });
  expect((await publish(api, documentWith('operationId: list', '3.0.0'))).status).toBe(422);
});

test('who is told of a finding is told of the breaking changes, too', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  const body = { name: 'Pay', slug: 'pay', ruleset: '@acme/rulesets/style', compatibility: 'semver' };
  await api.call('POST', '/v1/apis', { body });
  expect((await publish(api, documentWith('summary: List.'))).status).toBe(201);
  const refused = await publish(api, documentWith('operationId: list', '1.1.0').replace('/charges:', '/other:'));
  expect(refused.status).toBe(422);
  expect((refused.json['problems'] as Finding[]).map(({ rule }) => rule)).toEqual(
    expect.arrayContaining(['operation-summary', 'operation-removed', 'compatibility']),
  );
});

test('a changed gate checks again what it rejected', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  await api.call('POST', '/v1/apis', { body: { name: 'Ex', slug: 'ex', ruleset: '@acme/rulesets/style' } });
  repository.commit({ 'ex.yaml': documentWith('operationId: list') });
  await api.call('PUT', '/v1/apis/ex/connection', { body: { repository: repository.url, path: 'ex.yaml' } });
  const refused = await api.call('POST', '/v1/apis/ex/sync?wait=60');
  expect(refused.json['documents']).toMatchObject([{ outcome: 'rejected' }]);
  await api.call('PATCH', '/v1/apis/ex', { body: { blockOn: 'none' } });
  const passed = await api.call('POST', '/v1/apis/ex/sync?wait=60');
  expect(passed.json['documents']).toMatchObject([{ outcome: 'published' }]);
});

test('the page of a report shows what is exempted, known, and what the gate rejects', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  const body = { name: 'Ig', slug: 'ig', visibility: 'public', ruleset: '@acme/rulesets/style', ratchet: true };
  await api.call('POST', '/v1/apis', { body });
  const files = { '.redocly.lint-ignore.yaml': "ig.yaml:\n  operation-summary: ['#/paths/~1charges/get/summary']\n" };
  repository.commit({ ...files, 'ig.yaml': documentWith('operationId: list') });
  await api.call('PUT', '/v1/apis/ig/connection', { body: { repository: repository.url, path: 'ig.yaml' } });
  const run = await api.call('POST', '/v1/apis/ig/sync?wait=60');
  expect(run.json['documents']).toMatchObject([{ outcome: 'published' }]);
  const headers = { authorization: `Bearer ${api.admin}`, accept: 'text/html' };
  const page = await fetch(`${api.url}/@acme/apis/ig@1.0.0/report`, { headers });
  expect(page.status).toBe(200);
  const text = await page.text();
  expect(text).toContain('listed in .redocly.lint-ignore.yaml');
  expect(text).toContain('exempted in .redocly.lint-ignore.yaml:2:23');
  expect(text).toContain('href="/@acme/rulesets/style@1.0.0"');
  expect(text).toContain('Its errors reject a document.');
});

test('the page of a report shows the lines of its findings, to those who may read these', async () => {
  await using api = await open();
  await publishRuleset(api, style);
  const given = { visibility: 'public', ruleset: '@acme/rulesets/style', blockOn: 'none' };
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', ...given } });
  await publish(api, documentWith("x-a: '</code><script>\\u202e'").replace('x-a:', '# \u202e\n      x-a:'));
  const page = async (headers: Record<string, string>) =>
    (await fetch(`${api.url}/@acme/apis/pay@1.0.0/report`, { headers: { accept: 'text/html', ...headers } })).text();
  const text = await page({ authorization: `Bearer ${api.admin}` });
  expect(text).toContain('&gt; 5 |     get:');
  expect(text).toContain('6 |       # \\u{202e}');
  expect(text).not.toContain('<script>\\u');
  expect(await page({})).not.toContain('5 |');
});

/** Two versions of a ruleset, the newer one stricter, and an API that must pass the latest. */
async function attach(api: Api): Promise<void> {
  await publishRuleset(api, 'rules: { operation-summary: warn }\nx-version: 1.0.0\n');
  await publishRuleset(api, 'rules: { operation-summary: error }\nx-version: 2.0.0\n');
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', ruleset: '@acme/rulesets/style' } });
}

const style1 = '/v1/rulesets/style';
const loosenings: [string, string, string, object][] = [
  ['publishing a weaker version', 'POST', `${style1}/document`, { document: 'rules: {}\nx-version: 3.0.0\n' }],
  ['pinning an older version as the latest', 'PATCH', style1, { latest: '1.0.0' }],
  ['yanking the strict version', 'PATCH', `${style1}/versions/2.0.0`, { status: { state: 'yanked', reason: 'x' } }],
  ['deprecating it', 'PATCH', `${style1}/versions/2.0.0`, { status: { state: 'deprecated', reason: 'x' } }],
  ['withdrawing it', 'PATCH', `${style1}/versions/2.0.0`, { status: { state: 'withdrawn', reason: 'x' } }],
  ['making another ruleset', 'POST', '/v1/rulesets', { name: 'Soft', slug: 'soft' }],
  ['connecting it to a repository', 'PUT', `${style1}/connection`, { repository: repository.url, path: 'style.yaml' }],
  ['attaching another ruleset', 'PATCH', '/v1/apis/pay', { ruleset: '@acme/rulesets/style@1.0.0' }],
  ['detaching it', 'PATCH', '/v1/apis/pay', { ruleset: null }],
  ['letting errors pass', 'PATCH', '/v1/apis/pay', { blockOn: 'none' }],
  ['letting known errors pass', 'PATCH', '/v1/apis/pay', { ratchet: true }],
];

test.for(loosenings)('a key that may publish loosens no gate by %s', async ([, method, path, body]) => {
  await using api = await open();
  await attach(api);
  const key = await api.makeKey({ scopes: ['publish'] });
  const answer = await api.call(method, path, { key, body });
  expect(answer.status).toBe(403);
  const refused = await api.call('POST', '/v1/apis/pay/spec', { key, body: { document: documentWith('x-a: 1') } });
  expect(refused.status).toBe(422);
});

test('a key that names a ruleset, or a glob that covers it, publishes it', async () => {
  await using api = await open();
  await attach(api);
  for (const [index, resources] of [['rulesets/style'], ['rulesets/*'], ['apis/*', '*/st*']].entries()) {
    const key = await api.makeKey({ scopes: ['publish'], resources });
    const document = `rules: { operation-summary: warn }\nx-version: 3.${index}.0\n`;
    expect((await api.call('POST', `${style1}/document`, { key, body: { document } })).status).toBe(201);
  }
  const key = await api.makeKey({ scopes: ['publish'], resources: ['rulesets/other-*'] });
  expect((await api.call('POST', `${style1}/document`, { key, body: { document: style } })).status).toBe(404);
  const detail = { detail: expect.stringContaining('use a key with the scope admin') };
  const unnarrowed = await api.makeKey({ scopes: ['publish'] });
  const told = await api.call('POST', `${style1}/document`, { key: unnarrowed, body: { document: style } });
  expect(told.json).toMatchObject(detail);
});

test('a pin holds whatever becomes of the ruleset: a label, or the digest of a version', async () => {
  await using api = await open();
  await attach(api);
  const strict = (await api.call('GET', `${style1}/versions/2.0.0`)).json['digest'] as string;
  await publishRuleset(api, 'rules: {}\nx-version: 3.0.0\n');
  expect((await publish(api, documentWith('operationId: list'))).status).toBe(201);
  for (const pin of ['2.0.0', strict]) {
    await api.call('PATCH', '/v1/apis/pay', { body: { ruleset: `@acme/rulesets/style@${pin}` } });
    expect((await publish(api, documentWith('operationId: list', '2.0.0'))).status).toBe(422);
  }
});

test('a narrowed key attaches only the rulesets that its globs cover', async () => {
  await using api = await open();
  await attach(api);
  await publishRuleset(api, 'rules: {}\n', 'pay-style');
  const key = await api.makeKey({ scopes: ['admin'], resources: ['apis/pay', 'rulesets/pay-*'] });
  const change = (ruleset: string) => api.call('PATCH', '/v1/apis/pay', { key, body: { ruleset, name: 'Payments' } });
  expect((await change('@acme/rulesets/style@1.0.0')).status).toBe(403);
  expect((await change('@other/rulesets/open')).status).toBe(403);
  // What is not there is told as what is not covered.
  expect((await change('@acme/rulesets/absent')).status).toBe(403);
  expect((await change('@acme/rulesets/style')).status, 'as it is already').toBe(200);
  expect((await change('@acme/rulesets/pay-style')).status).toBe(200);
  const wide = await api.makeKey({ scopes: ['admin'], resources: ['apis/*'] });
  const body = { name: 'New', slug: 'new', ruleset: '@acme/rulesets/pay-style' };
  expect((await api.call('POST', '/v1/apis', { key: wide, body })).status).toBe(403);
  expect((await api.call('POST', '/v1/apis', { body })).status).toBe(201);
});

test('a ruleset that checks something is deleted only by force, and the error names what the caller may read', async () => {
  await using api = await open({ organizations: { acme: { defaults: { ruleset: '@acme/rulesets/style@^2' } } } });
  await attach(api);
  await api.call('PATCH', style1, { body: { visibility: 'public' } });
  const foreign = await api.makeKey({ org: 'other' });
  const body = { name: 'Theirs', slug: 'theirs', ruleset: '@acme/rulesets/style@2.0.0' };
  expect((await api.call('POST', '/v1/apis', { key: foreign, body })).status).toBe(201);

  const refused = await api.call('DELETE', style1);
  expect(refused.status).toBe(409);
  expect(refused.json).toMatchObject({ attached: ['the default of acme', '@acme/apis/pay'], others: 1 });
  expect(refused.json['detail']).toContain('is attached to the default of acme, @acme/apis/pay and 1 other.');
  expect(refused.text).not.toContain('theirs');
  const narrowed = await api.makeKey({ scopes: ['admin'], resources: ['rulesets/style'] });
  const counted = await api.call('DELETE', style1, { key: narrowed });
  expect(counted.json).toMatchObject({ status: 409, attached: [], others: 3 });
  expect((await api.call('DELETE', `${style1}?force=false`)).status).toBe(409);
  expect((await api.call('DELETE', `${style1}?force=maybe`)).status).toBe(400);
  expect((await api.call('DELETE', '/v1/apis/pay?force')).status, 'for rulesets alone').toBe(400);
  expect((await api.call('DELETE', `${style1}?force`)).status).toBe(204);
  expect((await publish(api, documentWith('summary: List.'))).status).toBe(422);
});

test('a ruleset that checks nothing is deleted', async () => {
  await using api = await open();
  await attach(api);
  await api.call('PATCH', '/v1/apis/pay', { body: { ruleset: null } });
  expect((await api.call('DELETE', style1)).status).toBe(204);
});

test.for([
  ['plugins', 'rules: {}\nplugins:\n  - ./evil.js\n', 2],
  ['a file to extend', 'extends:\n  - ./other.yaml\nrules: {}\n', 2],
  ['a URL to extend', 'extends:\n  - https://evil.example/rules.yaml\nrules: {}\n', 2],
  ['decorators', 'rules: {}\ndecorators:\n  remove-x-internal: on\n', 2],
  ['how to resolve', 'rules: {}\nresolve:\n  http:\n    headers: []\n', 2],
  ['an unknown rule', 'rules:\n  operation-sumary: error\n', 2],
] as const)('a ruleset with %s is rejected with the line', async ([, document, line]) => {
  await using api = await open();
  const { status, json } = await publishRuleset(api, document);
  expect(status).toBe(422);
  const [finding] = json['problems'] as Finding[];
  expect(finding).toMatchObject({ severity: 'error', line: expect.any(Number) });
  expect(finding!.line).toBeGreaterThanOrEqual(line);
});
