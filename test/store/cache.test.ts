import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openFolderCache, type Cache } from '../../src/store/cache.ts';
import { createMemoryCache } from '../memory-store.ts';

const root = mkdtempSync(join(tmpdir(), 'stele-cache-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe.each<[string, () => Cache]>([
  ['memory', createMemoryCache],
  ['folder', () => openFolderCache(mkdtempSync(join(root, 'a-')))],
])('a cache in %s', (_name, open) => {
  test('returns stored bytes, and null for other keys', async () => {
    const cache = open();
    expect(await cache.get('outline/a.json')).toBeNull();
    await cache.put('outline/a.json', Buffer.from('one'));
    expect(Buffer.from((await cache.get('outline/a.json'))!).toString()).toBe('one');
    expect(await cache.get('outline/b.json')).toBeNull();
  });

  test('can be cleared', async () => {
    const cache = open();
    await cache.put('outline/a.json', Buffer.from('one'));
    await cache.clear();
    expect(await cache.get('outline/a.json')).toBeNull();
    await cache.put('outline/a.json', Buffer.from('two'));
    expect(Buffer.from((await cache.get('outline/a.json'))!).toString()).toBe('two');
  });

  test.each(['a', '../a/b', 'a/../b', '/a/b', 'a//b', 'A/b', 'a/b/', 'a/.b'])('rejects the key %s', async (key) => {
    await expect(open().put(key, Buffer.from('x'))).rejects.toThrow(TypeError);
    await expect(open().get(key)).rejects.toThrow(TypeError);
  });
});

test('a full folder loses its oldest files, and no more than needed', async () => {
  const folder = mkdtempSync(join(root, 'full-'));
  const cache = openFolderCache(folder, { sizeLimit: 10_000 });
  for (let n = 0; n < 40; n++) await cache.put(`a/${n}`, Buffer.alloc(1000));
  const kept = readdirSync(join(folder, 'a'));
  expect(kept.length).toBeLessThanOrEqual(12);
  expect(kept.length).toBeGreaterThanOrEqual(7);
  expect(await cache.get('a/39')).not.toBeNull();
  expect(await cache.get('a/0')).toBeNull();
});
