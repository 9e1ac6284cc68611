import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import type { UserConfig } from '../../../src/config.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';

/** What changes nothing: the replay of a ruleset, and the comparison with an uploaded document. */
const compiler = shareCompiler();
const open = (user: UserConfig = {}) => openApi({ ...createTestRegistry({ ...unlimited, ...user }), compiler });

const lax = 'rules: { operation-summary: warn }\n';
const strict = 'rules: { operation-summary: error, operation-description: warn }\n';
const document = (operation: string) =>
  `openapi: 3.1.0\ninfo: { title: Pay, version: 1.0.0 }\npaths: { /a: { get: { ${operation}, responses: { '200': { description: A. } } } } }\n`;

async function make(api: Api, slug: string, operation: string, settings: object): Promise<void> {
  await api.call('POST', '/v1/apis', { body: { name: slug, slug, ...settings } });
  const made = await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: document(operation) } });
  expect(made.status).toBe(201);
}

async function makeRuleset(api: Api, slug: string, text: string): Promise<void> {
  await api.call('POST', '/v1/rulesets', { body: { name: slug, slug } });
  expect((await api.call('POST', `/v1/rulesets/${slug}/document`, { body: { document: text } })).status).toBe(201);
}

interface Replay {
  items: { version: string; newlyBlocked: boolean; problems: { rule: string }[] }[];
  totals: object;
  next: string | null;
}

test('a replay lists what a candidate would reject, also through a ruleset that extends it, and stores nothing', async () => {
  await using api = await open();
  await makeRuleset(api, 'style', lax);
  await makeRuleset(api, 'house', "extends: ['@acme/rulesets/style']\nrules: { info-contact: off }\n");
  await makeRuleset(api, 'other', lax);
  const style = { ruleset: '@acme/rulesets/style' };
  await make(api, 'bad', 'operationId: a', style);
  await make(api, 'good', 'summary: A.', style);
  await make(api, 'held', 'operationId: a', { ...style, ratchet: true });
  await make(api, 'indirect', 'operationId: a', { ruleset: '@acme/rulesets/house' });
  await make(api, 'unrelated', 'operationId: a', { ruleset: '@acme/rulesets/other' });

  const ask = (query = '', body: object = { document: strict }) =>
    api.call('POST', `/v1/rulesets/style/replay${query}`, { body });
  const { json } = await ask();
  const { items, totals, next } = json as unknown as Replay;
  expect(items.map(({ version, newlyBlocked }) => [version, newlyBlocked])).toEqual([
    ['@acme/apis/bad@1.0.0', true],
    ['@acme/apis/good@1.0.0', false],
    ['@acme/apis/held@1.0.0', false],
    ['@acme/apis/indirect@1.0.0', true],
  ]);
  expect(items[0]).toMatchObject({
    ruleset: '@acme/rulesets/style',
    current: { error: 0, warning: 1, blocking: 0 },
    proposed: { error: 1, warning: 1, blocking: 1 },
    added: 2,
    removed: 1,
    problems: [{ rule: 'operation-summary' }, { rule: 'operation-description' }],
  });
  expect(totals).toEqual({ checked: 4, newlyBlocked: 2, unblocked: 0, others: 0 });
  expect(next).toBeNull();
  expect((await api.call('GET', '/v1/rulesets/style/versions')).json['items']).toHaveLength(1);

  const pages: string[] = [];
  let cursor: string | null = '';
  let last: Replay | null = null;
  while (cursor !== null) {
    last = (await ask(`?limit=3${cursor && `&cursor=${cursor}`}`)).json as unknown as Replay;
    pages.push(last.items.map(({ version }) => version).join());
    cursor = last.next;
    if (cursor !== null) expect((await ask(`?cursor=${cursor}`, { document: lax })).status).toBe(400);
  }
  expect(pages).toHaveLength(2);
  expect(last!.totals).toEqual(totals);

  expect((await ask('', { document: 'rules: { no-such-rule: error }' })).status).toBe(422);
  expect((await ask('', {})).status).toBe(400);
  const same = (await ask('', { version: '1.0.0' })).json as unknown as Replay;
  expect(same.totals).toMatchObject({ checked: 4, newlyBlocked: 0 });
  expect((await ask('', { version: '9.0.0' })).status).toBe(422);
});

test('a replay names only what the key may read, and counts the rest', async () => {
  await using api = await open({ organizations: { acme: { defaults: { ruleset: '@acme/rulesets/style' } } } });
  await makeRuleset(api, 'style', lax);
  await make(api, 'seen', 'operationId: a', {});
  await make(api, 'secret', 'operationId: a', {});
  const key = await api.makeKey({ scopes: ['publish'], resources: ['rulesets/style', 'apis/seen'] });
  const answer = await api.call('POST', '/v1/rulesets/style/replay', { key, body: { document: strict } });
  expect(answer.text).not.toContain('secret');
  expect(answer.json).toMatchObject({
    items: [{ version: '@acme/apis/seen@1.0.0', newlyBlocked: true }],
    totals: { checked: 1, others: 1 },
  });
});

test('a version is compared with an uploaded document, which is stored nowhere', async () => {
  await using api = await open();
  await make(api, 'pay', 'summary: A.', {});
  const ask = (body: object) => api.call('POST', '/v1/apis/pay/diff', { body });
  const none = await ask({ document: document('summary: A.') });
  expect(none.json).toMatchObject({ from: '1.0.0', verdict: 'none', changes: [] });
  const gone = 'openapi: 3.1.0\ninfo: { title: Pay, version: 2.0.0 }\npaths: {}\n';
  const broken = await ask({ document: gone, from: '1' });
  expect(broken.json).toMatchObject({ from: '1.0.0', verdict: 'breaking', counts: { breaking: 1 } });
  const asText = async (accept: string) =>
    api.call('POST', '/v1/apis/pay/diff', { body: { document: gone }, headers: { accept } });
  const markdown = await asText('text/markdown, application/json;q=0.5');
  expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
  expect(markdown.text).toContain('# What changes after @acme/apis/pay@1.0.0\n\n1 breaking.\n\n**Breaking: 1**');
  const page = await asText('text/html,*/*;q=0.8');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect(page.text).toContain('What changes in your document');
  expect(page.text).toContain('href="/@acme/apis/pay@1.0.0"');
  expect((await asText('*/*')).json['verdict']).toBe('breaking');
  expect((await ask({ document: gone, from: '9' })).status).toBe(404);
  expect((await ask({ document: gone, from: '../x' })).status).toBe(400);
  expect((await ask({ document: 'openapi: [' })).status).toBe(422);
  expect((await api.call('GET', '/v1/apis/pay/versions')).json['items']).toHaveLength(1);
});

test('a dry run of a deletion or of a status says whom it touches, and changes nothing', async () => {
  await using api = await open();
  await makeRuleset(api, 'base', `${lax}version: 1.0.0\n`);
  await makeRuleset(api, 'house', "extends: ['@acme/rulesets/base@^1']\nrules: { info-contact: off }\n");
  const uses = { range: '^1', version: '1.0.0', how: 'extends' };
  const dependants = [{ coordinate: '@acme/rulesets/house', version: '1.0.0', uses, behind: 0 }];

  const listed = await api.call('GET', '/v1/rulesets/base/dependants');
  expect(listed).toMatchObject({ status: 200, json: { items: dependants, next: null } });
  const deleted = await api.call('DELETE', '/v1/rulesets/base?dryRun=true');
  expect(deleted).toMatchObject({ status: 200, json: { dryRun: true, dependants } });
  const version = '/v1/rulesets/base/versions/1.0.0';
  const body = { status: { state: 'yanked', reason: 'Wrong.' } };
  const yanked = await api.call('PATCH', `${version}?dryRun=true`, { body });
  expect(yanked).toMatchObject({
    status: 200,
    json: { dryRun: true, dependants, status: { state: 'yanked' }, latest: false },
  });
  expect(await api.call('PATCH', '/v1/rulesets/base/versions/9.9.9?dryRun=true', { body })).toMatchObject({
    status: 404,
  });

  expect((await api.call('GET', version)).json).toMatchObject({ status: { state: 'active' }, latest: true });
  expect((await api.call('PATCH', version, { body })).json).not.toHaveProperty('dependants');
});
