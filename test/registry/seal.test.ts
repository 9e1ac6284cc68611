import { afterEach, expect, test, vi } from 'vitest';
import { openSecret, sealSecret } from '../../src/registry/seal.ts';
import { createWorld } from './world.ts';

const [first, second] = ['first secret key '.repeat(2), 'second secret key '.repeat(2)] as const;
const world = () => createWorld({ secretKey: { env: 'STELE_TEST_SECRET_KEY' } }).registry;
afterEach(() => vi.unstubAllEnvs());

test('what is sealed says nothing, is never the same twice, and opens', () => {
  vi.stubEnv('STELE_TEST_SECRET_KEY', first);
  const registry = world();
  const stored = sealSecret(registry, 'whsec_abc');
  expect(stored).not.toContain('whsec');
  expect(sealSecret(registry, 'whsec_abc')).not.toBe(stored);
  expect(openSecret(registry, stored)).toBe('whsec_abc');
});

test('the first line of the key seals, all of them open, no other does', () => {
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

test('without a key a secret is stored as it is, and opens still when there is one', () => {
  const stored = sealSecret(createWorld().registry, 'whsec_abc');
  expect(stored).toBe('plain:whsec_abc');
  vi.stubEnv('STELE_TEST_SECRET_KEY', first);
  expect(openSecret(world(), stored)).toBe('whsec_abc');
});

test('a short key is refused', () => {
  vi.stubEnv('STELE_TEST_SECRET_KEY', `${first}\nshort`);
  expect(() => sealSecret(world(), 'x')).toThrow(/at least 32/);
});
