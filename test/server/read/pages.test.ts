import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf } from '../../../src/model/digest.ts';
import { repositoryId, repositoryRef } from '../../../src/model/connection.ts';
import { createKey } from '../../../src/registry/keys/keys.ts';
import { createResource } from '../../../src/registry/change-resource.ts';
import { createApp } from '../../../src/server/app.ts';
import type { Login } from '../../../src/server/server-context.ts';
import { listen } from '../../../src/server/listen.ts';
import { anonymise, ask, type Answer } from '../http.ts';
import { changeResource, createTestQueue, createTestRegistry, publishVersion, setStatus } from '../registry.ts';
import { openServed, type Served } from '../served.ts';

const html: [string, string] = ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'];
const pay = '/@acme/apis/pay';

let served: Served;
beforeAll(async () => {
  served = await openServed({ organizations: { acme: { name: 'Acme & Sons' } } });
});
afterAll(() => served[Symbol.asyncDispose]());

const get = (target: string, ...headers: [string, string][]): Promise<Answer> => ask(served.port, { target, headers });
const authorized = (): [string, string] => ['Authorization', `Bearer ${served.values['acme']}`];

describe('who gets a page', () => {
  test.for([
    [html[1], 'text/html; charset=utf-8'],
    ['text/html', 'text/html; charset=utf-8'],
    ['text/html, */*;q=0.1', 'text/html; charset=utf-8'],
    ['TEXT/HTML', 'text/html; charset=utf-8'],
    ['*/*', 'application/json'],
    ['text/html;q=0.5, application/json', 'application/json'],
    ['text/html;q=0, */*', 'application/json'],
    ['application/json, text/html', 'application/json'],
    ['application/yaml, text/html;q=0.9', 'application/yaml'],
  ])('%s → %s', async ([accept, type]) => {
    const answer = await get(pay, ['Accept', accept!]);
    expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({ status: 200, type });
    expect(answer.headers.get('vary')).toContain('Accept');
  });

  test('a format in the URL wins over what a browser prefers', async () => {
    expect((await get(`${pay}.json`, html)).headers.get('content-type')).toBe('application/json');
    expect((await get(`${pay}?format=yaml`, html)).headers.get('content-type')).toMatch(/yaml/);
    expect((await get(`${pay}@1.1.0.yaml`, html)).headers.get('content-type')).toMatch(/yaml/);
  });

  test('whoever asks for index.html, and index.md gives the same in Markdown', async () => {
    const page = await get(`${pay}/index.html`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.body.equals((await get(pay, html)).body)).toBe(true);
    const markdown = await get(`${pay}@1.1.0/index.md`, ['Accept', '*/*']);
    expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
    expect(markdown.body.toString()).toMatch(/^# pay 1\.1\.0\n\n- Coordinate: `@acme\/apis\/pay@1\.1\.0`\n/);
  });

  test('a range leads to the page of the version that it means', async () => {
    const answer = await get('/@acme/apis/pay@1/index.html', html);
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/@acme/apis/pay@1.1.0/index.html']);
  });

  test('only APIs can be tried', async () => {
    expect((await get(`${pay}/try`)).status).toBe(200);
    expect((await get('/@acme/schemas/order/try')).status).toBe(404);
  });
});

describe('a page', () => {
  test('is the same for latest and for its version', async () => {
    const [latest, pinned] = await Promise.all([get(pay, html), get(`${pay}@1.1.0`, html)]);
    expect(latest.body.equals(pinned.body)).toBe(true);
    expect(latest.headers.get('content-location')).toBe('/@acme/apis/pay@1.1.0/index.html');
    expect(pinned.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
  });

  test('has the digest of its bytes for a tag, which answers 304', async () => {
    const page = await get(pay, html);
    const tag = `"${digestOf(page.body)}"`;
    expect(page.headers.get('etag')).toBe(tag);
    const same = await get(pay, html, ['If-None-Match', tag]);
    expect({ status: same.status, body: same.body.toString(), tag: same.headers.get('etag') }).toEqual({
      status: 304,
      body: '',
      tag,
    });
    expect((await get(pay, html, ['If-Match', '"another"'])).status).toBe(412);
    expect((await get(pay, html, ['If-None-Match', '"another"'])).status).toBe(200);
  });

  test('comes in every coding, each with a tag of its own', async () => {
    const plain = (await get(pay, html)).body;
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };
    const tags = new Set<string>();
    for (const [coding, decode] of Object.entries(decoders)) {
      const answer = await get(pay, html, ['Accept-Encoding', coding]);
      expect(answer.headers.get('content-encoding')).toBe(coding);
      expect(answer.headers.get('content-length')).toBe(String(answer.body.byteLength));
      expect(decode(answer.body).equals(plain)).toBe(true);
      tags.add(answer.headers.get('etag')!);
      expect(
        (await get(pay, html, ['Accept-Encoding', coding], ['If-None-Match', answer.headers.get('etag')!])).status,
      ).toBe(304);
    }
    expect(tags.size).toBe(3);
    expect((await get(pay, html, ['Accept-Encoding', '*;q=0'])).status).toBe(406);
  });

  test('has a head without a body', async () => {
    const [whole, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => ask(served.port, { method, target: pay, headers: [html] })),
    );
    expect(head!.body.byteLength).toBe(0);
    expect(head!.head.replace(/\r\nDate: .*/, '')).toBe(whole!.head.replace(/\r\nDate: .*/, ''));
  });

  test.for([
    '/',
    '/@acme',
    '/@acme/apis',
    pay,
    '/@acme/rulesets/style',
    '/problems',
    '/problems/gone',
    '/@acme/apis/absent',
    '/absent',
    `${pay}@1.0.3`,
  ])('%s runs its own scripts alone, loads nothing from elsewhere, and is not framed', async (target) => {
    const { headers } = await get(target, html);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('says what has become of its version, and follows when that changes', async () => {
    const old = await get(`${pay}@1.0.1`, html);
    expect(old.headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(old.body.toString()).toContain('This version is deprecated');
    expect(old.body.toString()).toContain('<a href="/@acme/apis/pay@1.1.0"');
    expect((await get(`${pay}@1.0.2`, html)).body.toString()).toContain('This version is yanked');
    await publishVersion(served.registry, '@acme/apis/fresh', '1.0.0');
    const before = await get('/@acme/apis/fresh@1.0.0', html);
    expect(before.body.toString()).not.toContain('Newer version:');
    await publishVersion(served.registry, '@acme/apis/fresh', '1.0.1');
    const after = await get('/@acme/apis/fresh@1.0.0', html);
    expect(after.body.toString()).toContain('Newer version:');
    expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  });

  test('shows six versions, newest first, and folds the rest', async () => {
    for (let patch = 0; patch < 23; patch++) await publishVersion(served.registry, '@acme/apis/many', `1.0.${patch}`);
    const text = (await get('/@acme/apis/many', html)).body.toString();
    const labels = [...text.matchAll(/<li[^>]*><a href="\/@acme\/apis\/many@(1\.0\.\d+)"/g)].map(([, label]) => label);
    expect(labels).toEqual(Array.from({ length: 23 }, (_, index) => `1.0.${22 - index}`));
    expect(text.slice(0, text.indexOf('<summary>17 older</summary>'))).toContain('many@1.0.17"');
    expect(text.slice(text.indexOf('<summary>17 older</summary>'))).toContain('many@1.0.16"');
  });

  test('of a withdrawn version is 410, with the reason and the way to the others', async () => {
    const gone = await get(`${pay}@1.0.3`, html);
    expect(gone.status).toBe(410);
    expect(gone.headers.get('cache-control')).toBe('no-store');
    expect(gone.body.toString()).toContain('leaked a name');
    expect(gone.body.toString()).toContain('href="http://registry.test/@acme/apis/pay/versions"');
  });

  test('of an organization has its name, escaped', async () => {
    const { body } = await get('/@acme', html);
    expect(body.toString()).toContain('<h1>Acme &amp; Sons</h1>');
    expect(body.toString()).not.toContain('secret');
  });

  test('of a ruleset names no user that its reader may not see', async () => {
    const style = '@acme/rulesets/style';
    await publishVersion(served.registry, '@acme/apis/unseen', '1.0.0', { visibility: 'private' });
    for (const name of ['@acme/apis/unseen', '@acme/apis/pay']) {
      await changeResource(served.registry, name, (resource) => ({ ...resource, ruleset: style }));
    }
    const everybody = await get(`/${style}`, html);
    expect(everybody.body.toString()).toContain('@acme/apis/pay');
    expect(everybody.body.toString()).not.toContain('unseen');
    expect(everybody.headers.get('vary')).toBe('Accept, Accept-Encoding, Authorization, Cookie');
    const own = await get(`/${style}`, html, authorized());
    expect(own.body.toString()).toContain('@acme/apis/unseen');
    expect(own.headers.get('cache-control')).toBe('private, no-store');
  });
});

describe('the records of a version', () => {
  test.for([
    [`${pay}/versions`, 'Versions of'],
    [`${pay}@1.1.0/report`, 'Checks of'],
    [`${pay}@1.1.0/provenance`, 'comes from'],
  ])('%s is a page for people and JSON for programs', async ([target, title]) => {
    const [page, data, asked] = await Promise.all([
      get(target!, html),
      get(target!),
      get(`${target}?format=json`, html),
    ]);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('vary')).toContain('Accept');
    expect(page.body.toString()).toContain(title);
    expect(page.body.toString()).toContain(`href="${target}?format=json"`);
    for (const answer of [data, asked]) expect(answer.headers.get('content-type')).toBe('application/json');
    expect((await get(target!, html, ['If-None-Match', page.headers.get('etag')!])).status).toBe(304);
  });

  test('say who wrote the commit, what changed, what was found and how to subscribe', async () => {
    const note = { author: 'Ana <b>', subject: 'Add refunds' };
    const document = { paths: { '/refunds': { get: { responses: { 200: { description: 'All' } } } } } };
    await publishVersion(served.registry, '@acme/apis/told', '1.0.0');
    await publishVersion(served.registry, '@acme/apis/told', '2.0.0', { note, document });
    const versions = (await get('/@acme/apis/told/versions', html)).body.toString();
    expect(versions).toContain('Add refunds <span class="quiet">by Ana &lt;b&gt;</span>');
    expect(versions).toContain('href="/@acme/apis/told@2.0.0/diff"');
    expect(versions).toContain('href="/feeds/acme/apis/told.atom"');
    expect((await get('/@acme/apis/told/provenance', html)).body.toString()).toContain('Ana &lt;b&gt;');
    const { items } = JSON.parse((await get('/@acme/apis/told/versions')).body.toString()) as { items: object[] };
    expect(items[0]).toMatchObject({ version: '2.0.0', commit: note });
    expect(items[1]).not.toHaveProperty('commit');
  });
});

test('a list has what documents say of themselves, owners, lifecycles, topics and what changed', async () => {
  const about = { info: { title: 'listed', version: '1.0.0', description: 'Takes money.' } };
  await publishVersion(served.registry, '@acme/apis/listed', '1.0.0', { document: about });
  const change = { owner: 'Team <Pay>', lifecycle: 'experimental', topics: ['money'] } as const;
  await changeResource(served.registry, '@acme/apis/listed', (resource) => ({
    ...resource,
    ...change,
    topics: [...change.topics],
  }));
  const row = /<li class="row"(?:(?!<\/li>).)*@acme\/apis\/listed.*?<\/li>/s.exec(
    (await get('/@acme', html)).body.toString(),
  )![0];
  for (const part of ['Takes money.', 'Team &lt;Pay&gt;', '>experimental<', '>money</a>']) expect(row).toContain(part);
  const page = (await get('/@acme/apis/listed', html)).body.toString();
  for (const part of ['Team &lt;Pay&gt;', '>experimental<', '>money</a>'])
    expect(page.slice(page.indexOf('<h1>'))).toContain(part);
  const { items } = JSON.parse((await get('/@acme/apis')).body.toString()) as { items: { slug: string }[] };
  expect(items.find(({ slug }) => slug === 'listed')).toMatchObject({ description: 'Takes money.', ...change });
});

test('a credential that is not valid is a page to a browser, too', async () => {
  const answer = await get(pay, html, ['Authorization', `Bearer ${served.values['revoked']}`]);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="stele"');
  expect(answer.body.toString()).toContain('<h1>Authentication required</h1>');
});

describe('what is private', () => {
  test('is a page for its readers, kept by nobody', async () => {
    const answer = await get('/@acme/apis/secret', html, authorized());
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Encoding, Authorization, Cookie');
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });

  test.for(['', '@1.0.0', '@1.0.3', '/index.html', '/index.md', '/try', '@1.0.0/index.html', '@9/try'])(
    'looks to a browser as if it were absent, byte for byte: %s',
    async (suffix) => {
      const login: Login = {
        router: ((_request: unknown, _response: unknown, next: () => void) => next()) as unknown as Login['router'],
        readSession: async () => null,
        signInUrl: (path) => `/login?returnTo=${encodeURIComponent(path)}`,
      };
      const answers: string[] = [];
      for (const isThere of [true, false]) {
        const registry = createTestRegistry();
        await publishVersion(registry, '@acme/apis/other', '1.0.0');
        if (isThere) {
          await publishVersion(registry, '@acme/apis/thing', '1.0.0', { visibility: 'private' });
          await publishVersion(registry, '@acme/apis/thing', '1.0.3', { visibility: 'private' });
          await setStatus(registry, '@acme/apis/thing', '1.0.3', {
            state: 'withdrawn',
            reason: 'hush',
            since: '2026-01-01T00:00:00.000Z',
          });
        }
        const context = {
          registry,
          queue: createTestQueue(registry),
          url: 'http://registry.test',
          isReady: () => true,
          login,
        };
        const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
        answers.push(anonymise(await ask(listening.port, { target: `/@acme/apis/thing${suffix}`, headers: [html] })));
        await listening.close(1000);
      }
      expect(answers[0]).toBe(answers[1]);
      expect(answers[0]).toMatch(/^HTTP\/1\.1 404 /);
      expect(answers[0]).toContain('href="/login?returnTo=');
    },
  );

  test('is on no list of those who may not read it', async () => {
    for (const target of ['/', '/@acme', '/@acme/apis']) {
      const { body } = await get(target, html);
      expect(body.toString()).not.toMatch(/apis\/secret|@hidden/);
      const own = await get(target, html, authorized());
      // The home page has five resources of each organization.
      if (target !== '/') expect(own.body.toString()).toContain('@acme/apis/secret');
      expect(own.headers.get('cache-control')).toBe('private, no-store');
    }
  });
});

test('search engines and previews of links read the words of lists, not Markdown', async () => {
  const info = { title: 'Told', version: '1.0.0', description: 'Pays people.' };
  await publishVersion(served.registry, '@acme/apis/in-words', '1.0.0', { document: { info } });
  const page = (await get('/@acme/apis/in-words', html)).body.toString();
  expect(page).toContain('<meta name="description" content="Pays people.">');
  expect(page).toContain('<meta property="og:description" content="Pays people.">');
  expect(page).toContain('"description":"Pays people."');
});

describe('assets', () => {
  const pathIn = (page: Answer, name: string) =>
    new RegExp(`"(/assets/${name}\\.[0-9a-f]{8}\\.[a-z]+)"`).exec(page.body.toString())![1]!;

  test('are named by their content and kept for ever', async () => {
    const page = await get(pay, html);
    for (const [name, type] of [
      ['style', 'text/css; charset=utf-8'],
      ['page', 'text/javascript; charset=utf-8'],
      ['favicon', 'image/svg+xml'],
    ] as const) {
      const path = pathIn(page, name);
      const asset = await get(path);
      expect([asset.status, asset.headers.get('content-type')]).toEqual([200, type]);
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(path).toContain(digestOf(asset.body).slice('sha256:'.length, 'sha256:'.length + 8));
      const stale = await get(path.replace(/[0-9a-f]{8}/, '00000000'));
      expect([stale.status, stale.headers.get('cache-control')]).toEqual([200, 'public, max-age=60']);
    }
  });

  test('of a package import each other by names that hold', async () => {
    const page = await get('/@acme/schemas/order', html);
    const path = /data-module="([^"]+)"/.exec(page.body.toString())![1]!;
    const index = await get(path);
    expect(index.status).toBe(200);
    const [, sibling] = /from '\.\/([a-z-]+\.js)'/.exec(index.body.toString())!;
    expect((await get(path.replace('index.js', sibling!))).status).toBe(200);
  });

  test.for([
    '/assets/',
    '/assets/style.css',
    '/assets/none.00000000.css',
    '/assets/..%2f..%2fpackage.00000000.json',
    '/assets/../layout.00000000.eta',
    '/assets/json-schema.00000000/..%2findex.js',
    '/assets/constructor.00000000.js',
  ])('%s is none', async (target) => {
    expect((await get(target)).status).toBe(404);
  });
});

test("an operator's template and stylesheet take the place of ours", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-templates-'));
  try {
    await mkdir(join(folder, 'assets'));
    await writeFile(
      join(folder, 'message.eta'),
      '<% layout(\'layout\') %><main id="content"><h1>Ours: <%= it.title %></h1></main>',
    );
    await writeFile(join(folder, 'assets', 'style.css'), 'h1 { color: tomato }');
    await using other = await openServed({ templates: folder });
    const page = await ask(other.port, { target: '/nothing', headers: [html] });
    expect(page.body.toString()).toContain('<h1>Ours: Not found</h1>');
    const [, path] = /href="(\/assets\/style\.[0-9a-f]{8}\.css)"/.exec(page.body.toString())!;
    expect((await ask(other.port, { target: path! })).body.toString()).toBe('h1 { color: tomato }');
    expect((await ask(other.port, { target: '/@acme', headers: [html] })).body.toString()).toContain('<h1>acme</h1>');
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the account page is there where people can sign in, and says who they are and what they may do', async () => {
  expect((await get('/account', html)).status).toBe(404);
  const registry = createTestRegistry();
  const login: Login = {
    router: ((_request: unknown, _response: unknown, next: () => void) => next()) as unknown as Login['router'],
    readSession: async ({ headers }) => {
      if (headers.cookie !== 'session=ann') return null;
      const organizations = { acme: [{ scopes: ['publish'] as const, resources: ['apis/pay-*'] }] };
      const principal = { kind: 'user' as const, id: 'https://id.test#1', organizations };
      return { principal, name: 'Ann <b>', token: 't', expiresAt: '2030-01-01T00:00:00Z' };
    },
    signInUrl: () => '/login',
  };
  const context = {
    registry,
    queue: createTestQueue(registry),
    url: 'http://registry.test',
    isReady: () => true,
    login,
  };
  const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
  const open = (...headers: [string, string][]) =>
    ask(listening.port, { target: '/account', headers: [html, ...headers] });
  const [stranger, ann] = await Promise.all([open(), open(['Cookie', 'session=ann'])]);
  const home = await ask(listening.port, { target: '/', headers: [html] });
  await listening.close(1000);
  expect(stranger.body.toString()).toContain('href="/login?returnTo=%2Faccount"');
  expect(ann.body.toString()).toContain('<form method="post" action="/logout" class="sign-out">');
  expect(ann.body.toString()).toContain('Ann &lt;b&gt;');
  expect(ann.body.toString()).not.toContain('id.test');
  expect(ann.body.toString()).toContain('<strong>@acme</strong></a> <span class="quiet">publish, on apis/pay-*</span>');
  expect(ann.headers.get('cache-control')).toBe('private, no-store');
  expect(home.body.toString()).toContain('<a class="account" href="/account">');
});

describe('a resource without a latest version', () => {
  const canonical = (body: string) => /<link rel="canonical" href="([^"]*)"/.exec(body)?.[1];

  test('has a page that says so, the same to nobody as to a member of somewhere else', async () => {
    const page = await get('/@acme/apis/empty', html);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-location')).toBe('/@acme/apis/empty/index.html');
    expect(page.headers.get('vary')).toBe('Accept, Accept-Encoding, Authorization, Cookie');
    const text = page.body.toString();
    expect(text).toContain('No version has been published yet.');
    expect(text).toContain('noindex');
    expect(text).not.toContain('not connected');
    expect((await get('/@acme/apis/empty/index.html')).body.toString()).toBe(text);
    expect((await get('/@acme/apis/empty')).status).toBe(404);
    expect((await get('/@acme/apis/empty/index.md')).status).toBe(404);
    expect((await get('/@acme/apis/empty/report', html)).status).toBe(404);
  });

  test('shows its members why, and nobody else', async () => {
    const registry = createTestRegistry();
    const author = { actor: 'operator:test', origin: null };
    const key = await createKey(registry, { org: 'acme', name: 'test', scopes: ['read'] }, author);
    const make = (slug: string) =>
      createResource(registry, { org: 'acme', type: 'apis', slug }, { name: slug, visibility: 'public' }, author);
    const url = 'https://git.test/acme/pay.git';
    const follow = (branch: string, more: object) =>
      registry.refs.update(repositoryRef('acme', repositoryId(url, branch)), () => ({
        value: { org: 'acme', url, branch, detail: null, commit: null, syncedAt: null, documents: {}, ...more },
        change: { ...author, action: 'test' },
      }));
    const connect = (slug: string, branch: string) =>
      changeResource(registry, `@acme/apis/${slug}`, (resource) => ({
        ...resource,
        connection: {
          repository: url,
          branch,
          path: `${slug}.yaml`,
          tags: null,
          onConflict: 'revise',
          credential: null,
        },
      }));
    for (const slug of ['new', 'waiting', 'refused', 'broken', 'gone']) await make(slug);
    await follow('waiting', { state: 'new' });
    const refused = { resource: '@acme/apis/refused', outcome: 'rejected', detail: 'There are 3 errors.', label: null };
    await follow('refused', { state: 'following', commit: 'c0ffee', documents: { 'refused.yaml': refused } });
    await follow('broken', { state: 'failed', detail: `${url} asks for a credential.` });
    for (const slug of ['waiting', 'refused', 'broken']) await connect(slug, slug);
    await publishVersion(registry, '@acme/apis/gone', '1.0.0');
    await setStatus(registry, '@acme/apis/gone', '1.0.0', {
      state: 'withdrawn',
      reason: 'It named a person.',
      since: '2026-03-01T12:00:00.000Z',
    });
    const queue = createTestQueue(registry);
    const app = createApp({ registry, queue, url: 'http://registry.test', isReady: () => true });
    const listening = await listen(app, { host: '127.0.0.1', port: 0 });
    try {
      const said = {
        new: 'The resource is not connected to a repository, and no version was uploaded.',
        waiting: 'The repository has not been synced yet.',
        refused: 'The document was rejected.',
        broken: 'The last sync failed.',
      };
      for (const [slug, why] of Object.entries(said)) {
        const target = `/@acme/apis/${slug}`;
        const theirs = await ask(listening.port, { target, headers: [html, ['Authorization', `Bearer ${key.text}`]] });
        expect(theirs.body.toString(), slug).toContain(why);
        expect(theirs.headers.get('cache-control')).toBe('private, no-store');
        const others = (await ask(listening.port, { target, headers: [html] })).body.toString();
        expect(others, slug).toContain('No version has been published yet.');
        for (const each of [why, '3 errors', 'git.test', 'credential']) expect(others).not.toContain(each);
      }
      const withdrawn = await ask(listening.port, { target: '/@acme/apis/gone', headers: [html] });
      expect(withdrawn.status).toBe(200);
      expect(withdrawn.body.toString()).toContain('All versions were withdrawn.');
      expect(withdrawn.body.toString()).toContain('It named a person.');
      const program = await ask(listening.port, { target: '/@acme/apis/gone' });
      expect([program.status, program.body.toString()]).toEqual([404, expect.stringContaining('were withdrawn')]);
    } finally {
      await listening.close(100);
    }
  });

  test('and of a version that is not there: the page leads to those that are', async () => {
    const { status, body } = await get(`${pay}@9.9.9`, html);
    expect(status).toBe(404);
    expect(body.toString()).toMatch(
      /Versions: .*<a href="[^"]*\/@acme\/apis\/pay@1\.1\.0"><code>1\.1\.0<\/code><\/a>, <a/,
    );
  });

  test('is in the lists of its members alone', async () => {
    for (const target of ['/', '/@acme', '/@acme/apis', '/llms.txt', '/sitemap.xml', '/search/index.json'])
      expect((await get(target, html)).body.toString(), target).not.toContain('apis/empty');
    expect((await get('/@acme')).body.toString()).not.toContain('apis/empty');
    for (const target of ['/', '/@acme'])
      expect((await get(target, html, authorized())).body.toString(), target).toContain('apis/empty');
  });

  test('and one with versions: the page and its Link field name the same canonical address', async () => {
    for (const [target, address] of [
      [pay, pay],
      [`${pay}@1.1.0`, pay],
      [`${pay}@1.0.0`, `${pay}@1.0.0`],
    ] as const) {
      const page = await get(target, html);
      expect(canonical(page.body.toString()), target).toBe(`http://registry.test${address}`);
      expect(page.headers.get('link'), target).toMatch(new RegExp(`^<${address}>; rel="canonical"`));
    }
  });
});
