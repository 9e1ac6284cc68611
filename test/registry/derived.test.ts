import { expect, test } from 'vitest';
import type { Rendered } from '../../src/compile/sandboxes.ts';
import type { Coordinate } from '../../src/model/address.ts';
import { anonymous } from '../../src/model/access.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { renderedMarkdown, renderedOf, renderedPart } from '../../src/registry/derived.ts';
import { grantRead, grantVersion, type GrantedVersion } from '../../src/registry/read.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../server/registry.ts';

const rendered: Rendered = {
  html: '<p>All of it</p>',
  navigation: '',
  markdown: 'All of it',
  truncated: false,
  pages: null,
};
const pay: Coordinate = { org: 'acme', type: 'apis', slug: 'pay' };

/** Long enough that its pages are long work. */
const long = { 'x-long': 'x'.repeat(240_000) };

async function versionsOf(
  registry: TestRegistry,
  count: number,
  { of = pay, document = {} }: { of?: Coordinate; document?: object } = {},
): Promise<GrantedVersion[]> {
  const name = `@${of.org}/${of.type}/${of.slug}`;
  for (let at = 0; at < count; at++) await publishVersion(registry, name, `1.0.${at}`, { document });
  const granted = (await grantRead(registry, anonymous, of))!;
  return granted.resource.versions.map(
    ({ label }) => grantVersion(granted, { kind: 'version', version: label })!.granted,
  );
}

test('a cache entry that a power cut left incomplete is made again', async () => {
  const registry = createTestRegistry();
  const [version] = await versionsOf(registry, 1);
  registry.compiler.render = async () => rendered;
  let torn = '';
  const { put } = registry.cache;
  registry.cache.put = (key, bytes) => put((torn = key), bytes);
  await renderedOf(registry, version!);
  for (const bytes of ['', '{"html":"<p>Al', '\0\0\0']) {
    await put(torn, Buffer.from(bytes));
    expect(await renderedOf(registry, version!)).toEqual(rendered);
  }
});

test('the parts and the Markdown of a long document are kept apart, and made again when they are damaged', async () => {
  const registry = createTestRegistry();
  const [version] = await versionsOf(registry, 1);
  const pages = { overview: '', parts: [{ name: 'a', title: 'A', from: 3, to: 6, anchors: [] }] };
  let times = 0;
  registry.compiler.render = async () => (times++, { ...rendered, pages });
  const kept = new Map<string, Uint8Array>();
  const { put } = registry.cache;
  registry.cache.put = (key, bytes) => (kept.set(key, bytes), put(key, bytes));
  expect(await renderedOf(registry, version!)).toEqual({ ...rendered, pages, html: '', markdown: '' });
  const read = async () => [
    await renderedPart(registry, version!, 'whole'),
    await renderedPart(registry, version!, 'a'),
    (await renderedMarkdown(registry, version!))?.markdown,
  ];
  const whole = ['<p>All of it</p>', 'All', 'All of it'];
  expect([await read(), times]).toEqual([whole, 1]);
  const texts = [...kept].filter(([key]) => key.endsWith('.text'));
  for (const [at, [key, bytes]] of texts.entries())
    await put(key, at === 0 ? bytes.subarray(0, -1) : at === 1 ? new Uint8Array(bytes.length) : new Uint8Array());
  expect([await read(), times]).toEqual([whole, 4]);
  expect([await read(), times]).toEqual([whole, 4]);
});

test('an unreadable and unwritable cache costs only time', async () => {
  const registry = createTestRegistry();
  const [version] = await versionsOf(registry, 1);
  registry.compiler.render = async () => rendered;
  const broken = async () => {
    throw new RegistryError('unavailable', 'The cache folder cannot be written to.');
  };
  Object.assign(registry.cache, { get: broken, put: broken });
  expect(await renderedOf(registry, version!)).toEqual(rendered);
});

test('asking for the pages of many versions keeps few documents in memory and does not delay a publish', async () => {
  const registry = createTestRegistry();
  const versions = await versionsOf(registry, 6, { document: long });
  const lanes = new Set<string>();
  let held = 0;
  let most = 0;
  registry.compiler.render = async (_document, _limits, turn) => {
    lanes.add(`${turn?.lane} ${turn?.org}`);
    most = Math.max(most, ++held);
    await new Promise((resolve) => setImmediate(resolve));
    held--;
    return rendered;
  };
  await Promise.all(versions.map((version) => renderedOf(registry, version)));
  expect(most).toBe(2);
  // Rendering counts for the organization, in a lane of its own beside its publishes.
  expect([...lanes]).toEqual(['read acme']);
});

test('the page of a short document does not wait for those of long ones, whosever they are', async () => {
  const registry = createTestRegistry();
  const longs = ['acme', 'rivals'].map((org) =>
    versionsOf(registry, 2, { of: { ...pay, org, slug: 'long' }, document: long }),
  );
  const [short] = await versionsOf(registry, 1);
  const held = Promise.withResolvers<Rendered>();
  registry.compiler.render = async ({ json }) => (json.byteLength > 240_000 ? held.promise : rendered);
  const waiting = (await Promise.all(longs)).flat().map((version) => renderedOf(registry, version));
  let made: Rendered | null = null;
  const page = renderedOf(registry, short!).then((one) => (made = one));
  await expect.poll(() => made).toEqual(rendered);
  held.resolve(rendered);
  await Promise.all([page, ...waiting]);
});
