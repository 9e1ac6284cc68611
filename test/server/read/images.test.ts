import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSite, type OpenSite } from '../../e2e/browser/site.ts';
import { ask, type Answer } from '../http.ts';
import { svg, text, files } from './images-world.ts';

/** Images that documents show: part of the version, with its access; others only where the organization names their host. */

let site: OpenSite;
beforeAll(async () => {
  site = await openSite({ organizations: { acme: { images: ['cdn.acme.test'] } } });
  await site.publish('@acme/apis/pay', 'docs/api.yaml', text(), { files });
  await site.publish('@shop/apis/pay', 'docs/api.yaml', text(), { files, visibility: 'private' });
});
afterAll(() => site[Symbol.asyncDispose]());

const get = (target: string, accept = 'text/html'): Promise<Answer> =>
  ask(Number(new URL(site.url).port), { target, headers: [['Accept', accept]] });

async function imageOn(page: string): Promise<string> {
  const { body } = await get(page);
  return /<img src="([^"]*\/image-[^"]*)" alt="Flow" width="20" height="10" loading="lazy">/.exec(body.toString())![1]!;
}

test('a page shows the images of its repository, and those of named hosts', async () => {
  const { body, headers } = await get('/@acme/apis/pay');
  const html = body.toString();
  expect(html).toMatch(
    /<img src="\/@acme\/apis\/pay@1\.0\.0\/image-[0-9a-f]{16}\.svg" alt="Flow" width="20" height="10"/,
  );
  expect(html).toContain('<img src="https://cdn.acme.test/a.png" alt="Far"');
  expect(html).toContain('<a href="https://other.test/a.png" class="image"');
  expect(html).not.toContain('alt="Large"');
  expect(html).not.toContain('alt="Page"');
  expect(headers.get('content-security-policy')).toContain("img-src 'self' data: https://cdn.acme.test;");
  const other = await get('/@acme');
  expect(other.headers.get('content-security-policy')).toContain("img-src 'self' data:;");
});

test('a drawing is sent as an image that can do nothing by itself, and never changes', async () => {
  const { status, body, headers } = await get(await imageOn('/@acme/apis/pay'), 'image/avif,image/webp,*/*;q=0.8');
  expect([status, body.toString(), headers.get('content-type')]).toEqual([200, svg, 'image/svg+xml']);
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
  );
  expect(headers.get('cache-control')).toContain('immutable');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('an image has the access of its version', async () => {
  const path = await imageOn('/@acme/apis/pay');
  expect((await get(path.replace('@acme', '@shop'))).status).toBe(404);
  expect((await get(path.replace(/image-.{4}/, 'image-0000'))).status).toBe(404);
  expect((await get('/@acme/apis/pay/image-x.svg')).status).toBe(404);
});

test('a version with another image is another version', async () => {
  const changed = { ...files, 'docs/img/flow.svg': svg.replace('20', '21') };
  expect(await site.publish('@acme/apis/again', 'docs/api.yaml', text(), { files })).toBe('1.0.0');
  expect(await site.publish('@acme/apis/again', 'docs/api.yaml', text(), { files: changed })).not.toBe('1.0.0');
});
