import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../../src/config/load-config.ts';
import { changeSite } from '../../../src/sites/registry/site-record.ts';
import { openConnection, type Connection } from '../../server/fast-path/connection.ts';
import type { Answer } from '../../server/http.ts';
import { openServed, type Served } from '../../server/served.ts';
import { author, deploy, handbook, png, writeSite } from './site-world.ts';

const host = 'docs.acme.test';
const secrets = { org: 'acme', slug: 'secrets' };
let served: Served;
let connection: Connection;

beforeAll(async () => {
  const sites = { hosts: { [host]: '@acme/sites/handbook', 'inside.acme.test': '@acme/sites/secrets' } };
  const rateLimit = { key: 1_000_000, address: 1_000_000, failures: 1_000_000 };
  served = await openServed({ sites, rateLimit, proxies: 1 });
  const files = {
    'index.md': '# Home\n\nSee [the guide](guide/start.md).',
    'guide/start.md': '# Start\n\nZebra.',
    'assets/logo.png': png,
  };
  await writeSite(served.registry, files, { theme: { logo: 'assets/logo.png' }, redirects: { old: 'guide/start' } });
  await deploy(served.registry);
  await writeSite(served.registry, { 'index.md': 'Hidden words' }, { visibility: 'private' }, secrets);
  await deploy(served.registry, secrets);
  connection = await openConnection(served.port);
});
afterAll(async () => {
  connection.close();
  await served[Symbol.asyncDispose]();
});

function get(target: string, name = host, more: Record<string, string> = {}): Promise<Answer> {
  return connection.ask({ target, headers: Object.entries({ Host: name, Accept: 'text/html', ...more }) });
}

describe('a site at a host name of its own', () => {
  test('serves its pages, lists and files there, with that host in canonical links', async () => {
    const page = await get('/');
    expect(page.status).toBe(200);
    const text = page.body.toString();
    expect(text).toContain(`<link rel="canonical" href="http://${host}/">`);
    expect(text).toContain('href="/guide/start"');
    expect(text).toContain('src="/assets/logo.png"');
    expect(text).toContain('<a href="http://registry.test/">Stele</a>');
    expect((await get('/guide/start')).body.toString()).toContain('Zebra');
    expect((await get('/guide/start.md')).headers.get('content-type')).toContain('text/markdown');
    expect((await get('/old')).headers.get('location')).toBe('/guide/start');
    expect((await get('/assets/logo.png')).headers.get('content-type')).toBe('image/png');
    expect((await get('/sitemap.xml')).body.toString()).toContain(`<loc>http://${host}/guide/start</loc>`);
    expect((await get('/feed.atom')).body.toString()).toContain(`<id>http://${host}/</id>`);
    expect((await get('/robots.txt')).body.toString()).toContain(`Sitemap: http://${host}/sitemap.xml`);
    const below = await get('/sites/acme/handbook/guide/start', 'registry.test');
    expect(below.body.toString()).toContain(`<link rel="canonical" href="http://${host}/guide/start">`);
  });

  test('has the stylesheets and scripts of its pages', async () => {
    const paths = [...(await get('/')).body.toString().matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:css|js))"/g)];
    expect(paths.length).toBeGreaterThan(3);
    for (const [, path] of paths) expect([path, (await get(path!)).status]).toEqual([path, 200]);
  });

  test('answers 406 where nothing is at an address and the client accepts no coding of the page', async () => {
    const absent = await get('/none', host, { 'Accept-Encoding': 'identity;q=0' });
    expect(absent.status).toBe(406);
    expect((await get('/')).status).toBe(200);
  });

  test('says in its own frame that nothing is at an address', async () => {
    const absent = await get('/none');
    expect(absent.status).toBe(404);
    expect(absent.headers.get('cache-control')).toBe('no-store');
    expect(absent.body.toString()).toContain('<h1>Page not found</h1>');
    expect(absent.body.toString()).toContain('href="/guide/start"');
    const data = await get('/none', host, { Accept: 'application/json' });
    expect([data.status, data.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  });

  test('nothing else of the registry is there, and nothing of it at the root of the registry', async () => {
    const paths = ['/@acme/apis/pay', '/@acme/apis/pay@1.0.0.json', '/@acme', '/v1/me', '/v1/hooks/github', '/search'];
    paths.push('/docs/', '/healthz', '/metrics', '/login', '/account', '/problems', '/v2/', '/sites/acme/handbook/');
    paths.push('/.well-known/api-catalog', '/feed.json', '/previews/x', '/console', '/search/index.json');
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 404]);
    for (const path of ['/guide/start', '/assets/logo.png', '/theme.css'])
      expect([path, (await get(path, 'registry.test')).status]).toEqual([path, 404]);
  });

  test('a document that was sent before, and is answered early, is not sent at the host of a site', async () => {
    const target = '/@acme/apis/pay@1.0.0.json';
    for (let turn = 0; turn < 3; turn++) {
      expect((await get(target, 'registry.test')).status).toBe(200);
      for (const name of [host, host.toUpperCase(), `${host}:8080`, `${host}.`])
        expect([name, (await get(target, name)).status]).toEqual([name, 404]);
    }
  });

  test('the host of a request is that of its target, then Host; nobody else says which it is', async () => {
    for (const name of ['Docs.Acme.TEST', `${host}:7700`, `${host}.`]) expect((await get('/', name)).status).toBe(200);
    expect((await get(`http://${host}/guide/start`, 'registry.test')).body.toString()).toContain('Zebra');
    expect((await get(`http://registry.test/guide/start`)).status).toBe(404);
    for (const field of ['X-Forwarded-Host', 'Forwarded', 'X-Host', 'X-Original-Host']) {
      const value = field === 'Forwarded' ? `host=${host}` : host;
      expect((await get('/guide/start', 'registry.test', { [field]: value })).status).toBe(404);
      const other = field === 'Forwarded' ? 'host=registry.test' : 'registry.test';
      expect((await get('/@acme/apis/pay@1.0.0.json', host, { [field]: other })).status).toBe(404);
    }
  });

  test('a private one is there only for a key that may read it', async () => {
    const inside = 'inside.acme.test';
    for (const path of ['/', '/index.md', '/search.json', '/none'])
      expect([path, (await get(path, inside)).status]).toEqual([path, 404]);
    expect((await get('/', inside)).body.toString()).not.toContain('Handbook');
    expect((await get('/', inside, { Cookie: '__Host-session=x' })).status).toBe(404);
    const seen = await get('/', inside, { Authorization: `Bearer ${served.values['acme']}` });
    expect([seen.status, seen.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
  });

  test('is gone within the next request when it is made private', async () => {
    await changeSite(served.registry, handbook, { visibility: 'private' }, author);
    expect((await get('/')).status).toBe(404);
    await changeSite(served.registry, handbook, { visibility: 'public' }, author);
    expect((await get('/')).status).toBe(200);
  });
});

test('the configuration takes names of hosts and sites, and not the host of the registry', () => {
  const check = (hosts: Record<string, string>) => () =>
    checkConfig({ url: 'https://registry.test', sites: { hosts } }, { base: '/', data: '/x' }).sites.hosts;
  expect(check({ [host]: '@acme/sites/handbook' })()).toEqual({ [host]: handbook });
  expect(check({ 'registry.test': '@acme/sites/handbook' })).toThrow('is the host of the registry itself');
  for (const name of ['Docs.acme.test', 'docs.acme.test:80', 'https://docs.acme.test', '-a.test', ''])
    expect(check({ [name]: '@acme/sites/handbook' }), name).toThrow('sites.hosts');
  for (const site of ['@acme/handbook', 'acme/sites/handbook', '@acme/sites/', '@acme/apis/pay', '@a/sites/b/c'])
    expect(check({ [host]: site }), site).toThrow('sites.hosts');
});
