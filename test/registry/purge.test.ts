import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { digestOf } from '../../src/model/digest.ts';
import { draftRef, type Draft } from '../../src/sites/model/documentation-site.ts';
import { fsck } from '../../src/registry/fsck.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { entryKey, parseEntryKey } from '../../src/store/log/entry.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

/** Two resources have the same bytes, a third has the same report. `one` is withdrawn before or while `two` is published. */
const author = { actor: 'operator:test', origin: null };
const info = { title: 'Same', version: '1.0.0' };
/** Its plain bytes are too large for the pack. */
const document = { info, 'x-long': 'y'.repeat(2_200_000) };
const publishTo = (registry: Registry, slug: string) =>
  publishVersion(registry, `@acme/apis/${slug}`, '1.0.0', { document });
const withdraw = (registry: Registry) =>
  changeStatus(
    registry,
    parseCoordinate('@acme/apis/one')!.coordinate,
    '1.0.0',
    { state: 'withdrawn', reason: 'x' },
    author,
  );

const damages = async (registry: Registry) => (await fsck(registry)).damages;

test('a publish stores its bytes again if a purge deleted them before its commit', async () => {
  const registry = createTestRegistry();
  await publishTo(registry, 'one');
  let isFirst = true;
  const refs: Registry['refs'] = {
    ...registry.refs,
    async update(name, decide) {
      if (name === 'resources/acme/apis/two' && isFirst) {
        isFirst = false;
        await withdraw(registry);
      }
      return registry.refs.update(name, decide);
    },
  };
  await publishTo({ ...registry, refs }, 'two');
  expect(isFirst).toBe(false);
  expect(await damages(registry)).toEqual([]);
});

test.for([1, 2, 5])('a publish just before deletion number %i of a purge loses no bytes', async (number) => {
  const registry = createTestRegistry();
  await publishTo(registry, 'one');
  await publishVersion(registry, '@acme/apis/three', '1.0.0', { document: { info } });
  let deletions = 0;
  const objects: Registry['objects'] = {
    ...registry.objects,
    async delete(digest) {
      if (++deletions === number) await publishTo(registry, 'two');
      await registry.objects.delete(digest);
    },
  };
  await withdraw({ ...registry, objects });
  expect(deletions).toBeGreaterThan(number);
  expect(await damages(registry)).toEqual([]);
});

test('what was derived from a withdrawn document leaves the cache', async () => {
  const registry = createTestRegistry();
  await publishTo(registry, 'one');
  await registry.cache.put('pages/one', Buffer.from('its text'));
  await withdraw(registry);
  expect(await registry.cache.get('pages/one')).toBeNull();
});

test('repeating a purge that was interrupted finishes it', async () => {
  const registry = createTestRegistry();
  await publishTo(registry, 'one');
  let deletions = 0;
  const objects: Registry['objects'] = {
    ...registry.objects,
    async delete(digest) {
      if (++deletions === 4) throw new Error('The power is gone.');
      await registry.objects.delete(digest);
    },
  };
  await expect(withdraw({ ...registry, objects })).rejects.toThrow('power');
  await withdraw(registry);
  expect(await Array.fromAsync(registry.objects.list())).toEqual([]);
  expect(await Array.fromAsync(registry.objects.listPacks())).toEqual([]);
});

test('a damaged log, which may name more versions, stops a purge before it deletes anything', async () => {
  const registry = createTestRegistry();
  await publishTo(registry, 'one');
  const objects = await Array.fromAsync(registry.objects.list());
  await publishVersion(registry, '@other/apis/two', '1.0.0', { document });
  const [newest] = await registry.bucket.list('log/@other/', { limit: 1 });
  const { sequence } = parseEntryKey(newest!)!;
  await registry.bucket.putIfAbsent(entryKey('@other', sequence + 1), Buffer.from('no entry'));
  await expect(withdraw(registry)).rejects.toMatchObject({ code: 'corrupt' });
  expect(await Array.fromAsync(registry.objects.list())).toEqual(expect.arrayContaining(objects));
});

test('a purge leaves bytes that a file of a site is made of', async () => {
  const registry = createTestRegistry();
  const { text } = await publishTo(registry, 'one');
  const digest = digestOf(text);
  const file: Draft['file'] = { bundle: digest, at: 0, size: 9, digest, mediaType: 'text/plain', page: null };
  await registry.refs.update<Draft>(draftRef({ org: 'beta', slug: 'guide' }, 'a.txt'), () => ({
    value: { file },
    change: { ...author, action: 'save' },
  }));
  await withdraw(registry);
  expect(await registry.objects.get(digest)).not.toBeNull();
  expect(await damages(registry)).toEqual([]);
});
