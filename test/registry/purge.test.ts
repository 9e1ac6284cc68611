import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

/** Two resources have the same bytes. `one` is withdrawn before or while `two` is published. */
const author = { actor: 'operator:test', origin: null };
const document = { info: { title: 'Same', version: '1.0.0' } };
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
});
