import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Comparison } from '../../../src/model/comparison.ts';
import { changeStatus } from '../../../src/registry/change-version.ts';
import { outlineDocument } from '../../../src/render/render.ts';
import { ask } from '../http.ts';
import { publishVersion } from '../registry.ts';
import { openServed, type Served } from '../served.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed();
  served.registry.compiler.outline = async (document) => outlineDocument(document);
  const operation = { responses: {} };
  const before = { paths: { '/a': { get: operation }, '/b': { get: operation }, '/c': { get: operation } } };
  const after = {
    paths: {
      '/a': { get: operation },
      '/b': { get: { ...operation, summary: '<b>new</b>' } },
      '/d': { post: operation },
    },
  };
  await publishVersion(served.registry, '@acme/apis/shop', '1.0.0', { document: before });
  await publishVersion(served.registry, '@acme/apis/shop', '2.0.0', { document: after });
});
afterAll(() => served[Symbol.asyncDispose]());

async function diff(
  query: string,
  accept = 'application/json',
  suffix = '',
): Promise<{ status: number; type: string; body: string }> {
  const { status, headers, body } = await ask(served.port, {
    target: `/@acme/apis/shop/diff${suffix}${query}`,
    headers: [['Accept', accept]],
  });
  return { status, type: headers.get('content-type')!, body: body.toString() };
}

const forward = ['breaking operation-removed', 'safe operation-added', 'docs operation-summary-changed'];
const back = ['breaking operation-removed', 'safe operation-added', 'docs operation-summary-changed'];

test.each([
  ['', '1.0.0', '2.0.0', 'breaking', forward],
  ['?from=1.0.0&to=2.0.0', '1.0.0', '2.0.0', 'breaking', forward],
  ['?from=1&to=latest', '1.0.0', '2.0.0', 'breaking', forward],
  ['?from=2.0.0&to=1.0.0', '2.0.0', '1.0.0', 'breaking', back],
  ['?from=2.0.0&to=2.0.0', '2.0.0', '2.0.0', 'none', []],
])('what changed, %j', async (query, from, to, verdict, changes) => {
  const { status, body } = await diff(query);
  const found = JSON.parse(body) as Comparison & { from: string; to: string };
  expect([status, found.from, found.to, found.verdict]).toEqual([200, from, to, verdict]);
  expect(found.changes.map((change) => `${change.verdict} ${change.code}`)).toEqual(changes);
});

test('the page says what was before and after, where, and in which versions to read it', async () => {
  const { body } = await diff('', 'text/html');
  expect(body).toContain(
    '<dt>1.0.0</dt><dd>none</dd></div><div><dt>2.0.0</dt><dd><ins>&quot;&lt;b&gt;new&lt;/b&gt;&quot;</ins></dd>',
  );
  expect(body).toMatch(/Read it in <a href="[^"]*shop@1\.0\.0#[^"]*">1\.0\.0<\/a> and <a [^>]*>2\.0\.0<\/a>/);
  expect(body).toContain('At <code>/paths/~1d/post</code></p></details>');
  expect(body).toContain('<li><p>GET /c was removed.</p><details class="fold place">');
});

test('the versions page has the date of a commit, and leads to what changed since an imported version', async () => {
  await publishVersion(served.registry, '@acme/apis/late', '2.0.0');
  await publishVersion(served.registry, '@acme/apis/late', '1.0.0', { committedAt: '2019-05-01T00:00:00.000Z' });
  const headers: [string, string][] = [['Accept', 'text/html']];
  const { body } = await ask(served.port, { target: '/@acme/apis/late/versions', headers });
  expect(body.toString()).toContain('<a href="/@acme/apis/late@2.0.0/diff" rel="nofollow">changes since 1.0.0</a>');
  expect(body.toString()).toContain('<time datetime="2019-05-01T00:00:00.000Z">1 May 2019</time>, published <time');
});

test('there is nothing before the first version', async () => {
  const { body } = await diff('?to=1.0.0');
  expect(JSON.parse(body)).toEqual({
    from: null,
    to: '1.0.0',
    verdict: null,
    counts: null,
    changes: null,
    truncated: false,
    reason: null,
  });
  expect((await diff('?to=1.0.0', 'text/html')).body).toContain('There is no earlier version.');
});

test('a version has the comparison with its predecessor below its own address', async () => {
  const get = (target: string, accept = 'application/json') =>
    ask(served.port, { target: `/@acme/apis/shop@${target}`, headers: [['Accept', accept]] });
  const same = await diff('?from=1.0.0&to=2.0.0');
  for (const target of ['2.0.0/diff', '2.0.0/diff.json', 'latest/diff'])
    expect((await get(target)).body.toString()).toBe(same.body);
  const page = (await get('2.0.0/diff', 'text/html')).body.toString();
  expect(page).toBe((await diff('?from=1.0.0&to=2.0.0', 'text/html')).body);
  expect(page).toContain('href="/@acme/apis/shop@2.0.0/diff.md"');
  expect((await get('2.0.0/diff.md')).body.toString()).toBe((await diff('', 'text/markdown')).body);
  expect(JSON.parse((await get('1.0.0/diff')).body.toString())).toMatchObject({ from: null, to: '1.0.0' });
  const reverse = JSON.parse((await get('1.0.0/diff?from=2.0.0')).body.toString()) as object;
  expect(reverse).toMatchObject({ from: '2.0.0', to: '1.0.0', verdict: 'breaking' });
  expect((await get('2.0.0/diff?to=1.0.0')).status).toBe(400);
  expect((await get('9.0.0/diff')).status).toBe(404);
  expect((await get('^1/diff.md')).headers.get('location')).toBe('/@acme/apis/shop@1.0.0/diff.md');
});

describe('the form of the answer', () => {
  test.each([
    ['', 'application/json', '', 'application/json'],
    ['', 'text/html', '', 'text/html; charset=utf-8'],
    ['', 'text/markdown', '', 'text/markdown; charset=utf-8'],
    ['', 'text/html', '.json', 'application/json'],
    ['', 'text/html', '.md', 'text/markdown; charset=utf-8'],
    ['?format=html', 'application/json', '.json', 'text/html; charset=utf-8'],
    ['?format=md', '*/*', '', 'text/markdown; charset=utf-8'],
    ['', '*/*', '', 'application/json'],
  ])('%s %s %s: %s', async (query, accept, suffix, type) => {
    expect(await diff(query, accept, suffix)).toMatchObject({ status: 200, type });
  });

  test('no other', async () => {
    expect((await diff('', 'image/png')).status).toBe(406);
    expect((await diff('?format=pdf')).status).toBe(406);
  });
});

test('the page shows what broke first, with links to the operations of both versions, and no markup of theirs', async () => {
  const { body } = await diff('', 'text/html');
  expect(body.indexOf('GET /c was removed.')).toBeGreaterThan(0);
  expect(body.indexOf('GET /c was removed.')).toBeLessThan(body.indexOf('POST /d was added.'));
  expect(body).toContain('href="/@acme/apis/shop@1.0.0#operation/get-c"');
  expect(body).toContain('href="/@acme/apis/shop@2.0.0#operation/get-b"');
  expect(body).not.toContain('<b>new</b>');
  // Without a column, the text touches the edge of the window.
  expect(body).toContain('<main id="content" class="column wide">');
});

test('the page says what was compared with what, and why', async () => {
  const { body } = await diff('', 'text/html');
  expect(body).toContain('2.0.0 is compared with 1.0.0, the highest release below it.');
  expect((await diff('?from=2.0.0&to=1.0.0', 'text/html')).body).toContain(
    '1.0.0 is compared with 2.0.0, as you chose.',
  );
  expect(body).toMatch(/<h2 class="weight error">Breaking changes <span class="count">/);
  // Whoever reads it may choose other versions, also where nobody signs in.
  expect(body).toContain('<form class="compare" action="/@acme/apis/shop/diff">');
});

test('Markdown names the verdicts', async () => {
  expect((await diff('', 'text/markdown')).body).toContain('**Breaking: 1**\n\n- GET /c was removed.');
});

test('a version lists the verdict, and a withdrawn one takes its comparisons along', async () => {
  const coordinate = { org: 'acme', type: 'apis', slug: 'notes' } as const;
  const told = (text: string) => ({ paths: { '/a': { get: { summary: text, responses: {} } } } });
  for (const [label, text] of [
    ['1.0.0', 'a'],
    ['1.1.0', 'secret'],
    ['1.2.0', 'c'],
  ] as const)
    await publishVersion(served.registry, '@acme/apis/notes', label, { document: told(text) });
  const versions = await ask(served.port, { target: '/@acme/apis/notes/versions' });
  const { items } = JSON.parse(versions.body.toString()) as { items: { changes?: object }[] };
  expect(items.map(({ changes }) => changes)).toEqual([
    {
      from: '1.1.0',
      why: 'the highest release below it',
      verdict: 'docs',
      counts: { breaking: 0, unknown: 0, risky: 0, safe: 0, docs: 1 },
    },
    {
      from: '1.0.0',
      why: 'the highest release below it',
      verdict: 'docs',
      counts: { breaking: 0, unknown: 0, risky: 0, safe: 0, docs: 1 },
    },
    undefined,
  ]);
  const resource = (await served.registry.refs.read<{ versions: { changes?: { digest: `sha256:${string}` } }[] }>(
    'resources/acme/apis/notes',
  ))!.value;
  const kept = resource.versions.flatMap(({ changes }) => (changes ? [changes.digest] : []));
  await changeStatus(
    served.registry,
    coordinate,
    '1.1.0',
    { state: 'withdrawn', reason: 'a leak' },
    { actor: 'test', origin: null },
  );
  for (const digest of kept) expect(await served.registry.objects.get(digest)).toBeNull();
  const answer = await ask(served.port, { target: '/@acme/apis/notes/diff?to=1.2.0' });
  expect(JSON.parse(answer.body.toString())).toMatchObject({ from: '1.0.0', to: '1.2.0', verdict: 'docs' });
  expect((await ask(served.port, { target: '/@acme/apis/notes/diff?from=1.1.0' })).status).toBe(410);
});
