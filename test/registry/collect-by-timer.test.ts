import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { draftRef, type Draft } from '../../src/sites/model/documentation-site.ts';
import { openCollector } from '../../src/registry/maintenance/gc.ts';
import { deleteDraft } from '../../src/sites/registry/drafts.ts';
import { objectKey, quarantineKey } from '../../src/store/objects.ts';
import { createTestRegistry } from '../server/registry.ts';
import { author, handbook, writeSite } from '../sites/server/site-world.ts';

const hour = 60 * 60_000;

beforeEach(() => void vi.useFakeTimers({ toNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void vi.useRealTimers());

test('a server collects garbage only if it is told to', () => {
  expect(openCollector(createTestRegistry())).toBeNull();
});

test('files of sites that were replaced or deleted leave nothing behind', async () => {
  const registry = createTestRegistry({ gc: { interval: 24 } });
  const start = Date.now();
  registry.now = () => new Date(Date.now());
  const keysOf = async (path: string) => {
    const draft = await registry.refs.read<Draft>(draftRef(handbook, path));
    return objectKey(draft!.value.file!.bundle);
  };
  await writeSite(registry, { 'index.md': 'one', 'b.md': 'kept', 'c.md': 'two', 'd.md': 'three' });
  const [kept, ...old] = [await keysOf('b.md'), await keysOf('index.md'), await keysOf('c.md'), await keysOf('d.md')];
  await writeSite(registry, { 'index.md': 'another' });
  await deleteDraft(registry, handbook, 'c.md', author);
  const replaced = await keysOf('index.md');
  await writeSite(registry, { 'index.md': 'a third', 'b.md': 'kept' });
  await deleteDraft(registry, handbook, 'd.md', author);
  const collector = openCollector(registry)!;
  const isThere = async (key: string) =>
    (await registry.bucket.get(key)) !== null || (await registry.bucket.get(quarantineKey(key))) !== null;
  const gone = [...old, replaced];
  expect(await Promise.all(gone.map(isThere))).toEqual([true, true, true, true]);
  for (let day = 0; day < 12; day++) await vi.advanceTimersByTimeAsync(24 * hour);
  expect(Date.now() - start).toBe(12 * 24 * hour);
  expect(await Promise.all(gone.map(isThere))).toEqual([false, false, false, false]);
  expect(await isThere(kept!)).toBe(true);
  await collector.close();
  const runs = registry.logged.filter(({ event }) => event === 'garbage collected').length;
  expect(runs).toBeGreaterThan(8);
  await vi.advanceTimersByTimeAsync(48 * hour);
  expect(registry.logged.filter(({ event }) => event === 'garbage collected')).toHaveLength(runs);
});
