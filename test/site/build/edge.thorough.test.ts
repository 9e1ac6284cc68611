import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { comparedFields, crawl, offersToCompare, withoutOffer, withoutProof } from '../../e2e/static-world.ts';
import { ask } from '../../server/http.ts';
import { openServed } from '../../server/served.ts';
import { sampleOf } from '../../sample.ts';
import { build, filesIn, openFolder, textOf } from './build-world.ts';

/** The function that answers for a build on hosts without rules, beside the server. */

const accepts = [
  undefined,
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'application/json',
  'application/vnd.oai.openapi+json;q=0.9, application/yaml;q=0.1',
  'text/yaml',
  '*/*',
];

const more = ['@^1', '@latest', '@9.9.9', '@1.0.2/report', '@^1/report', '/nothing', '?format=yaml', '?format=x'];
const odd = ['/%40acme/apis/pay', '/@Acme/apis/pay', '/@acme/apis/none', '/nothing', '/%41', '/@acme//apis'];

test('the function answers every public URL as the server does, and no file names what is private', async () => {
  await using served = await openServed({ url: 'http://registry.test' });
  await using folder = await openFolder();
  const out = folder.path;
  await build(served.registry, join(out, 'site'), { host: 'cloudflare', precompressed: 'none' });
  const { default: worker } = (await import(pathToFileURL(join(out, 'site/_worker.js')).href)) as {
    default: { fetch(request: Request, env: object): Promise<Response> };
  };
  const ASSETS = { fetch: (url: URL) => fileOf(join(out, 'site'), url.pathname) };
  const paths = [...(await crawl(served.port, '')), ...more.map((end) => `/@acme/apis/pay${end}`), ...odd];
  expect(paths.length).toBeGreaterThan(200);
  const found: string[] = [];
  for (const [turn, path] of paths.entries()) {
    for (const accept of sampleOf(accepts, 3, turn)) {
      // A search that programs ask for is work, and files do none.
      if (path === '/search' && !accept?.includes('html')) continue;
      const headers: [string, string][] = accept === undefined ? [] : [['Accept', accept]];
      const theirs = await ask(served.port, { target: path, headers });
      const ours = await worker.fetch(new Request(`http://registry.test${path}`, { headers }), { ASSETS });
      const say = (field: string, seen: unknown, wanted: unknown) =>
        seen === wanted || found.push(`${path} as ${accept}: ${field}: ${String(seen)}, not ${String(wanted)}`);
      say('status', ours.status, theirs.status);
      if (theirs.status >= 400 || ours.status >= 400) continue;
      for (const field of comparedFields)
        say(field, ours.headers.get(field) ?? undefined, withoutProof(theirs.headers.get(field)));
      const body = Buffer.from(await ours.arrayBuffer());
      if (offersToCompare(path)) say('page', withoutOffer(theirs.body, undefined) === String(body), true);
      else say('body', body.equals(theirs.body), true);
    }
  }
  expect(found).toEqual([]);

  for (const path of await filesIn(join(out, 'site')))
    expect(`${path} ${await textOf(join(out, 'site'), path)}`, path).not.toMatch(/apis\/secret|@hidden|hidden\/apis/);

  const tagged = await worker.fetch(new Request('http://registry.test/@acme/apis/pay.json'), { ASSETS });
  const again = { headers: { 'If-None-Match': `"x", W/${tagged.headers.get('etag')}` } };
  const known = await worker.fetch(new Request('http://registry.test/@acme/apis/pay.json', again), { ASSETS });
  expect([known.status, await known.text()]).toEqual([304, '']);
  const posted = await worker.fetch(new Request('http://registry.test/@acme', { method: 'POST' }), { ASSETS });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
});

test(`each host gets the function in its own form and keeps its own state; a build without a host has none`, async () => {
  await using served = await openServed();
  await using folder = await openFolder();
  const out = join(folder.path, 'site');
  await build(served.registry, out, { host: 'netlify', precompressed: 'none' });
  expect(await textOf(out, 'netlify/edge-functions/stele.js')).toContain("export const config = { path: '/*' };");
  await mkdir(join(out, '.netlify/a'), { recursive: true });
  await writeFile(join(out, '.netlify/a/state.json'), '{}');
  await build(served.registry, out, { precompressed: 'none' });
  expect(await textOf(out, '.netlify/a/state.json')).toBe('{}');
  await rm(join(out, '.netlify'), { recursive: true });
  expect((await filesIn(out)).filter((path) => /edge|_worker|netlify|wrangler/.test(path))).toEqual([]);
});

/** A file of a build as a host's store of files gives it. */
async function fileOf(out: string, path: string): Promise<Response> {
  const bytes = await readFile(join(out, path)).catch(() => null);
  return bytes === null ? new Response(null, { status: 404 }) : new Response(new Uint8Array(bytes));
}
