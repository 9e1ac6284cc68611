import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Rendered } from '../../../src/compile/sandboxes.ts';
import { checkConfig } from '../../../src/config/load-config.ts';
import { digestOf } from '../../../src/model/digest.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { codedPage } from '../../../src/server/send-page.ts';
import { ask } from '../http.ts';
import { changeResource, createTestRegistry, publishVersion } from '../registry.ts';
import { openServed } from '../served.ts';

const html: [string, string] = ['Accept', 'text/html'];
const pay = '/@acme/apis/pay';
const style = '@acme/rulesets/style';

const rendered: Rendered = {
  html: '<p>All of it</p>',
  navigation: '',
  markdown: 'All of it',
  truncated: false,
  pages: null,
};

/** Empties the cache, and the memory of pages' bytes as if others had taken their place. */
async function forget({ cache, answers }: Registry): Promise<void> {
  await cache.clear();
  answers.content = async (_key, make) => make();
}

test('what is public does not tell the name of the private ruleset that it is checked by', async () => {
  await using served = await openServed();
  const { registry, port, values } = served;
  const page = async (target: string, ...headers: [string, string][]) =>
    (await ask(port, { target, headers: [html, ...headers] })).body.toString();
  const key: [string, string] = ['Authorization', `Bearer ${values['acme']}`];
  for (const name of ['@acme/apis/pay', '@acme/apis/secret'])
    await changeResource(registry, name, (resource) => ({ ...resource, ruleset: style }));
  expect(await page(pay)).toContain(style);
  await changeResource(registry, style, (resource) => ({ ...resource, visibility: 'private' }));
  expect(await page(pay)).not.toContain(style);
  // What anybody may keep says the same to everybody; what nobody keeps tells members all.
  expect(await page(pay, key)).not.toContain(style);
  expect(await page('/@acme/apis/secret', key)).toContain(style);
});

test('the default ruleset of an organization is shown, too', async () => {
  await using served = await openServed();
  const organizations = { acme: { defaults: { ruleset: style } } };
  Object.assign(served.registry, { config: checkConfig({ organizations }, { base: '/', data: '/nowhere' }) });
  const { body } = await ask(served.port, { target: pay, headers: [html] });
  expect(body.toString()).toContain(`href="/${style}"`);
});

test('a page whose document could not be read is not kept for ever: a sandbox may die for reasons of its own', async () => {
  await using served = await openServed();
  const { registry, port } = served;
  let renders = 0;
  let time = 0;
  registry.monotonic = () => time;
  registry.compiler.render = async () => (renders++ === 0 ? null : rendered);
  const page = async () => (await ask(port, { target: pay, headers: [html] })).body.toString();
  expect(await page()).not.toContain('All of it');
  // Whoever asks again at once has it tried again by nobody: a document that kills sandboxes would keep them busy.
  expect(await page()).not.toContain('All of it');
  expect(renders).toBe(1);
  time += 61_000;
  expect(await page()).toContain('All of it');
  time += 3_600_000;
  expect(await page()).toContain('All of it');
  expect(renders).toBe(2);
});

test('a large page that left the cache is not sent as another one under its tag', async () => {
  await using served = await openServed();
  const { registry, port } = served;
  let size = 40_000;
  registry.compiler.render = async () => ({ ...rendered, html: `<p>${'x'.repeat(size)}</p>` });
  const first = await ask(port, { target: pay, headers: [html] });
  await forget(registry);
  size = 50_000;
  // Nobody is told that this is what the tag stands for, and nothing waits for itself.
  expect((await ask(port, { target: pay, headers: [html] })).status).toBe(503);
  const second = await ask(port, { target: pay, headers: [html] });
  expect(second.status).toBe(200);
  expect(second.body.length).toBe(first.body.length + 10_000);
  expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'));
});

test.for(['identity', 'br', 'gzip', 'zstd'])('a large page that left the cache is made again: %s', async (coding) => {
  await using served = await openServed();
  const { registry, port } = served;
  registry.compiler.render = async () => ({ ...rendered, html: `<p>${'x'.repeat(40_000)}</p>` });
  const page = () => ask(port, { target: pay, headers: [html, ['Accept-Encoding', coding]] });
  const first = await page();
  await forget(registry);
  const second = await page();
  expect([second.status, second.headers.get('etag')]).toEqual([200, first.headers.get('etag')]);
  expect(second.body.equals(first.body)).toBe(true);
});

test('a small page is compressed once for all its readers', async () => {
  const bytes = Buffer.from('<p>small</p>'.repeat(100));
  const page = { digest: digestOf(bytes), size: bytes.byteLength };
  let opened = 0;
  const open = async () => (opened++, bytes);
  const memory = createTestRegistry();
  const [first, second] = await Promise.all([1, 2].map(() => codedPage(memory, page, 'br', open)));
  expect(second).toBe(first);
  expect(brotliDecompressSync(first!).equals(bytes)).toBe(true);
  expect(opened).toBe(1);
});

test('what stays the same until the next update is compressed further than a page', async () => {
  const bytes = readFileSync(new URL('../../../templates/assets/reference.js', import.meta.url));
  const size = bytes.byteLength;
  const [page, lasting] = await Promise.all(
    [false, true].map((isLasting) => {
      const digest = digestOf(Buffer.concat([bytes, Buffer.from(String(isLasting))]));
      return codedPage(createTestRegistry(), { digest, size, isLasting }, 'br', async () => bytes);
    }),
  );
  expect(lasting!.byteLength).toBeLessThan(0.95 * page!.byteLength);
  expect(brotliDecompressSync(lasting!).equals(bytes)).toBe(true);
});

test('a ruleset is not put together again for each reader', async () => {
  await using served = await openServed();
  const { registry, port } = served;
  await publishVersion(registry, '@acme/rulesets/large', '1.0.0');
  let reads = 0;
  registry.compiler.render = async () => rendered;
  const { get } = registry.cache;
  registry.cache.get = (key) => {
    if (key.startsWith('rendered/')) reads++;
    return get(key);
  };
  const page = () => ask(port, { target: '/@acme/rulesets/large', headers: [html] });
  expect((await page()).body.toString()).not.toContain('@acme/apis/pay');
  await page();
  expect(reads).toBe(1);
  await changeResource(registry, '@acme/apis/pay', (resource) => ({ ...resource, ruleset: '@acme/rulesets/large' }));
  expect((await page()).body.toString()).toContain('@acme/apis/pay');
});

test('the page of a short document is waited for', async () => {
  await using served = await openServed({}, { pagePatience: 0 });
  const { registry, port } = served;
  registry.compiler.render = async () => {
    await new Promise((resolve) => void setTimeout(resolve, 20));
    return rendered;
  };
  const first = await ask(port, { target: pay, headers: [html] });
  expect(first.status).toBe(200);
  expect(first.body.toString()).toContain('All of it');
});

test('a reader who comes before the page of a long document is made sees that it is being made, and gets it later', async () => {
  await using served = await openServed({}, { pagePatience: 0 });
  const { registry, port } = served;
  await publishVersion(registry, '@acme/apis/pay', '1.2.0', { document: { tags: 'x'.repeat(250_000) } });
  const made = Promise.withResolvers<Rendered>();
  registry.compiler.render = () => made.promise;
  const early = await ask(port, { target: pay, headers: [html] });
  expect(early.status).toBe(503);
  expect(early.headers.get('retry-after')).toBe('3');
  expect(early.headers.get('cache-control')).toBe('private, no-store');
  expect(early.body.toString()).toContain('This page is being made');
  expect(early.body.toString()).toContain('data-reload="3"');
  const program = await ask(port, { target: `${pay}/index.md` });
  expect([program.status, program.headers.get('retry-after')]).toEqual([503, '3']);
  expect(program.headers.get('content-type')).toBe('application/problem+json');
  made.resolve(rendered);
  await expect
    .poll(async () => (await ask(port, { target: pay, headers: [html] })).body.toString())
    .toContain('All of it');
});
