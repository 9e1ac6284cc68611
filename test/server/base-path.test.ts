import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAnswers } from '../../src/server/app.ts';
import { belowBase } from '../../src/server/server-context.ts';
import { resolveReturnTo } from '../../src/server/login/same-site.ts';
import { createSite } from '../../src/site/site.ts';
import { ask } from './http.ts';
import { createTestQueue } from './registry.ts';
import { openServed, type Served } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed({}, { url: 'http://registry.test/contracts' });
});
afterAll(() => served[Symbol.asyncDispose]());

const get = (target: string, ...headers: [string, string][]) => ask(served.port, { target, headers });

test('a registry below a path answers there, and nowhere else', async () => {
  expect((await get('/contracts/@acme/apis/pay@1.1.0')).status).toBe(200);
  expect((await get('/contracts')).status).toBe(200);
  for (const target of ['/', '/@acme/apis/pay@1.1.0', '/docs/', '/contractsx/@acme/apis/pay', '/Contracts/'])
    expect(await get(target), target).toMatchObject({ status: 404 });
  const missing = await get('/@acme/apis/pay');
  expect(JSON.parse(missing.body.toString())).toMatchObject({
    type: 'http://registry.test/contracts/problems/not_found',
    detail: 'This registry is at /contracts/.',
  });
});

test('probes, metrics and what clients look for at the root of a host are answered there too', async () => {
  for (const target of ['/healthz', '/readyz', '/.well-known/api-catalog', '/contracts/healthz'])
    expect(await get(target), target).toMatchObject({ status: 200 });
  expect((await get('/v2/acme/apis/pay/tags/list')).status).toBe(200);
  // This Host is not one of loopback.
  expect((await get('/metrics')).status).toBe(404);
});

test('a build below a path finds its pages', async () => {
  const { registry } = served;
  const site = createSite(registry, 'http://registry.test/contracts');
  const answers = openAnswers(registry, site, createTestQueue(registry));
  expect((await answers.ask({ path: '/problems', accept: 'application/json' })).status).toBe(200);
  expect((await answers.ask({ path: '/' })).status).toBe(200);
  await answers.close();
});

test('a range is redirected to a version below the path', async () => {
  const answer = await get('/contracts/@acme/apis/pay@1.0');
  expect(answer.status).toBe(307);
  expect(answer.headers.get('location')).toMatch(/^\/contracts\/@acme\/apis\/pay@1\.0\./);
});

test('every link of every page leads to a place below the path that answers', async () => {
  const seen = new Set<string>();
  const broken: string[] = [];
  const queue = ['/contracts/', '/contracts/@acme/apis/pay@1.1.0', '/contracts/docs/'];
  for (let target = queue.shift(); target !== undefined; target = queue.shift()) {
    if (seen.has(target) || seen.size > 150) continue;
    seen.add(target);
    const { status, headers, body } = await get(target, ['Accept', 'text/html, */*;q=0.1']);
    if (status >= 400 && status !== 410) broken.push(`${status} ${target}`);
    if (!headers.get('content-type')?.startsWith('text/html')) continue;
    for (const [, link = ''] of body.toString().matchAll(/ (?:href|src|action|data-[a-z-]+)="(\/[^"]*)"/g)) {
      const path = link.replaceAll('&amp;', '&').replace(/#.*$/, '');
      if (!path.startsWith('/contracts/')) broken.push(`${path} on ${target}`);
      // Documentation pages show paths of examples.
      else if (!target.startsWith('/contracts/docs/') || path.startsWith('/contracts/docs/')) queue.push(path);
    }
  }
  expect(broken).toEqual([]);
  expect(seen.size).toBeGreaterThan(30);
});

test('the path is cut once, and only as a whole', () => {
  expect(belowBase('/a/a/x?y', '/a')).toBe('/a/x?y');
  expect(belowBase('/a?x', '/a')).toBe('/?x');
  expect(belowBase('/a', '/a')).toBe('/');
  expect(belowBase('/ab', '/a')).toBe(null);
  expect(belowBase('/x', '')).toBe('/x');
});

test('after sign-in one returns below the path only', () => {
  const url = 'https://registry.test/contracts';
  expect(resolveReturnTo('/contracts/@acme', url)).toBe(`${url}/@acme`);
  for (const path of ['/', '/elsewhere', '/contracts/../elsewhere', '/healthz', '/contracts/login'])
    expect(resolveReturnTo(path, url), path).toBe(null);
});
