import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openSecret, sealSecret } from '../../src/registry/seal.ts';
import { createOwnKey } from '../../src/store/own-key.ts';
import { createWorld } from './world.ts';

const [first, second] = ['first secret key '.repeat(2), 'second secret key '.repeat(2)] as const;
const world = () => createWorld({ secretKey: { env: 'STELE_TEST_SECRET_KEY' } }).registry;
afterEach(() => vi.unstubAllEnvs());

test('a sealed secret is unreadable, different each time, and can be opened', () => {
  vi.stubEnv('STELE_TEST_SECRET_KEY', first);
  const registry = world();
  const stored = sealSecret(registry, 'whsec_abc');
  expect(stored).not.toContain('whsec');
  expect(sealSecret(registry, 'whsec_abc')).not.toBe(stored);
  expect(openSecret(registry, stored)).toBe('whsec_abc');
});

test('the first line of the key seals; any line opens; other keys do not', () => {
  vi.stubEnv('STELE_TEST_SECRET_KEY', first);
  const registry = world();
  const old = sealSecret(registry, 'old');
  vi.stubEnv('STELE_TEST_SECRET_KEY', `${second}\n${first}\n`);
  expect(openSecret(registry, old)).toBe('old');
  const fresh = sealSecret(registry, 'new');
  vi.stubEnv('STELE_TEST_SECRET_KEY', second);
  expect(openSecret(registry, fresh)).toBe('new');
  expect(() => openSecret(registry, old)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  const changed = `${fresh.slice(0, -4)}AAAA`;
  expect(() => openSecret(registry, changed)).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('a secret stored before there was a key can still be read', () => {
  vi.stubEnv('STELE_TEST_SECRET_KEY', first);
  expect(openSecret(world(), 'plain:whsec_abc')).toBe('whsec_abc');
});

test('a short key is rejected', () => {
  vi.stubEnv('STELE_TEST_SECRET_KEY', `${first}\nshort`);
  expect(() => sealSecret(world(), 'x')).toThrow(/at least 32/);
});

describe('without a secretKey', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-own-key-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const keyed = (registry = createWorld().registry) => ({ ...registry, ownKey: createOwnKey(folder, '.secret-key') });

  test('the registry seals with a key that it creates, readable only by its owner', async () => {
    const stored = sealSecret(keyed(), 'whsec_abc');
    expect(stored).toMatch(/^sealed:/);
    expect(stored).not.toContain('whsec_abc');
    expect(openSecret(keyed(), stored)).toBe('whsec_abc');
    expect((await stat(join(folder, '.secret-key'))).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['.secret-key']);
  });

  test('processes that start at once create one key', () => {
    const both = [createOwnKey(folder, '.secret-key'), createOwnKey(folder, '.secret-key')].map((key) => key.make());
    expect(both[0]).toHaveLength(43);
    expect(new Set(both).size).toBe(1);
  });

  test('a secretKey configured later seals new secrets; older ones stay readable', async () => {
    vi.stubEnv('STELE_TEST_SECRET_KEY', first);
    const own = sealSecret(keyed(), 'own');
    const registry = keyed(world());
    const fresh = sealSecret(registry, 'fresh');
    expect([own, fresh].map((stored) => openSecret(registry, stored))).toEqual(['own', 'fresh']);
    await rm(join(folder, '.secret-key'));
    expect(openSecret(keyed(world()), fresh)).toBe('fresh');
    expect(() => openSecret(keyed(world()), own)).toThrow(/restore the file/);
  });
});
