import { siteCoordinate } from '../../../src/sites/model/documentation-site.ts';
import { deleteRecord } from '../../../src/registry/lives.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collectGarbage } from '../../../src/registry/maintenance/gc.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { deleteDraft } from '../../../src/sites/registry/drafts.ts';
import { sentFiles } from '../../../src/sites/registry/publish-site.ts';
import { previewSite } from '../../../src/sites/registry/site-preview.ts';
import { changeSite } from '../../../src/sites/registry/site-record.ts';
import { listAll } from '../../../src/store/bucket.ts';
import { copyStore } from '../../../src/store/copy-store.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import { sweepPreviews, trimPreviews } from '../../../src/store/previews.ts';
import { publishVersion } from '../../server/registry.ts';
import { openServed, type Served } from '../../server/served.ts';
import { author, deploy, handbook, png, writeSite } from './site-world.ts';

let served: Served;
const secrets = { org: 'acme', slug: 'secrets' };

beforeAll(async () => {
  served = await openServed({ url: 'http://registry.test' });
  await writeSite(served.registry, {
    'index.md': '# Home\n\nSee [the guide](guide/start.md).\n\n![](logo.png)',
    'guide/start.md': '# Start\n\nFirst. Zebra.\n\n::reference @acme/apis/secret\n',
    'logo.png': png,
  });
  await writeSite(served.registry, { 'index.md': 'Hidden words' }, { visibility: 'private' }, secrets);
});
afterAll(() => served[Symbol.asyncDispose]());

async function preview(registry: Registry = served.registry, site = handbook) {
  const sent = await sentFiles(registry, site);
  return previewSite(registry, { site, ...sent, reader: { kind: 'operator', id: 'test' }, by: author.actor });
}

async function get(path: string, key?: string, method = 'GET') {
  const headers = { accept: 'text/html', ...(key !== undefined && { authorization: `Bearer ${key}` }) };
  const answer = await fetch(`http://127.0.0.1:${served.port}${path}`, { method, redirect: 'manual', headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const keysOf = ({ bucket }: Registry) => Array.fromAsync(listAll(bucket, 'previews/'));

describe('the preview of a site', { shuffle: false }, () => {
  test('shows what is not published, which nobody keeps, lists or tells of', async () => {
    const { token } = await preview();
    const at = `/previews/${token}/`;
    for (const path of ['', 'guide/start', 'guide/start.md', 'logo.png', 'theme.css', 'search.json', 'llms.txt']) {
      const { status, headers } = await get(at + path);
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get('cache-control')).toBe('private, no-store');
      expect(headers.get('x-robots-tag')).toBe('noindex');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
    }
    const { text } = await get(at);
    expect(text).toContain('<strong>Preview.</strong> Nothing here is published.');
    expect(text).toContain('<meta name="robots" content="noindex">');
    expect(text).toContain(`href="${at}guide/start"`);
    expect(text).not.toContain('rel="canonical"');
    expect((await get(at.slice(0, -1))).headers.get('location')).toBe(at);
    expect((await get(`${at}guide/start.html`)).headers.get('cache-control')).toBe('private, no-store');
    for (const path of ['none', 'sitemap.xml', 'robots.txt', 'feed.atom', '../x', '..%2fx', 'guide//start'])
      expect([path, (await get(at + path)).status]).toEqual([path, 404]);
    expect((await get('/sites/acme/handbook/')).status).toBe(404);
    expect((await get(at, undefined, 'POST')).status).toBe(405);
    // A list of keys reveals no address.
    for (const key of await keysOf(served.registry)) expect(key).not.toContain(token.slice(10));
  });

  test('shows references to those who may read them, and says nothing of them to others', async () => {
    const { token } = await preview();
    await publishVersion(served.registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' }).catch(() => null);
    const hidden = (await get(`/previews/${token}/guide/start`)).text;
    expect(hidden).toContain('This reference is not available here.');
    expect(hidden).not.toContain('secret');
  });

  test('of a private site needs a reader of it, and the token', async () => {
    const { token } = await preview(served.registry, secrets);
    const absent = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    const without = (text: string) => text.replaceAll(/[0-9a-f-]{36}|[0-9a-z]{9}-[0-9a-f]{32}/g, '');
    for (const key of [undefined, served.values['other']])
      for (const path of ['/', '/none', '']) {
        const [hidden, none] = [
          await get(`/previews/${token}${path}`, key),
          await get(`/previews/${absent}${path}`, key),
        ];
        expect([hidden.status, without(hidden.text)]).toEqual([404, without(none.text)]);
      }
    expect((await get(`/previews/${token}/`, served.values['acme'])).text).toContain('Hidden words');
  });

  test('stays as it was when the drafts change, garbage is collected and the site is published', async () => {
    const { registry } = served;
    const { token } = await preview();
    await writeSite(registry, { 'index.md': '# Other', 'logo.png': Buffer.concat([png, png]) });
    await deploy(registry);
    await deleteDraft(registry, handbook, 'guide/start.md', author);
    await deploy(registry);
    for (let run = 0; run < 3; run++) await collectGarbage(registry, { grace: 0, quarantine: 0 });
    expect((await get(`/previews/${token}/guide/start`)).text).toContain('Zebra');
    expect((await get(`/previews/${token}/logo.png`)).status).toBe(200);
    expect((await get(`/previews/${token}/`)).text).toContain('<h1>Home</h1>');
    // What did not change is read from the deployment.
    const before = await keysOf(registry);
    const again = await preview();
    const added = (await keysOf(registry)).filter((key) => !before.includes(key));
    expect(added).toHaveLength(4);
    expect(again.rendered).toBe(0);
  });

  test('is made whatever its report finds, unless there is nothing to show', async () => {
    const { registry } = served;
    const strict = { org: 'acme', slug: 'strict' };
    await writeSite(registry, {}, { blockOn: 'warn', visibility: 'public' }, strict);
    await expect(preview(registry, strict)).rejects.toMatchObject({
      code: 'refused',
      problems: [{ rule: 'site-empty' }],
    });
    await writeSite(registry, { 'index.md': '[a](gone.md)' }, {}, strict);
    const { token, report } = await preview(registry, strict);
    expect(report.problems.map(({ rule }) => rule)).toEqual(['site-link-broken']);
    expect((await get(`/previews/${token}/`)).status).toBe(200);
    await changeSite(registry, strict, { visibility: 'private' }, author);
    expect((await get(`/previews/${token}/`)).status).toBe(404);
    await deleteRecord(registry, siteCoordinate(strict), author);
    expect((await get(`/previews/${token}/`, served.values['acme'])).status).toBe(404);
  });

  test('expires, is then deleted with its parts, and is bounded as those of pull requests', async () => {
    const { registry } = served;
    const then = { ...registry, expiryTime: () => new Date(Date.now() - 8 * 24 * 60 * 60_000) };
    const old = await preview(then);
    expect((await get(`/previews/${old.token}/`)).status).toBe(404);
    const before = (await keysOf(registry)).length;
    await sweepPreviews(registry);
    expect((await keysOf(registry)).length).toBeLessThan(before - 1);
    const { token } = await preview();
    await trimPreviews(registry, 'acme', { count: 1, bytes: Number.MAX_SAFE_INTEGER });
    const [head, ...parts] = await keysOf(registry);
    expect(parts.every((key) => key.startsWith(`${head}-`))).toBe(true);
    expect((await get(`/previews/${token}/`)).status).toBe(200);
    await trimPreviews(registry, 'acme', { count: 1, bytes: 10 });
    expect(await keysOf(registry)).toEqual([]);
  });

  test('is copied with the store, and a damaged one is told of and not served', async () => {
    const { registry } = served;
    await writeSite(registry, { 'fresh.md': 'Fresh' });
    const { token } = await preview();
    const into = createMemoryBucket();
    expect((await copyStore(registry.bucket, into)).damages).toEqual([]);
    const part = (await Array.fromAsync(listAll(into, 'previews/'))).at(-1)!;
    expect(part.split('-')).toHaveLength(5);
    const parts = (await keysOf(registry)).filter((key) => key.split('-').length === 5);
    for (const key of parts) {
      await registry.bucket.delete(key);
      await registry.bucket.putIfAbsent(key, Buffer.from('other bytes'));
    }
    expect((await copyStore(registry.bucket, createMemoryBucket())).damages).toHaveLength(parts.length);
    expect((await get(`/previews/${token}/fresh`)).status).toBe(503);
    await trimPreviews(registry, 'acme', { count: 0, bytes: 0 });
  });

  test('is not made where the configuration turns previews off', async () => {
    const { registry } = served;
    const off = { ...registry, config: { ...registry.config, sites: { ...registry.config.sites, previewDays: 0 } } };
    await expect(preview(off)).rejects.toMatchObject({ code: 'forbidden' });
  });
});
