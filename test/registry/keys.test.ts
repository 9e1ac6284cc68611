import { expect, test } from 'vitest';
import { authenticateKey, createKey, revokeKey, type NewKey } from '../../src/registry/keys/keys.ts';
import { listKeys } from '../../src/registry/keys/list-keys.ts';
import { createWorld } from './world.ts';

const author = { actor: 'operator:test', origin: null };
const given: NewKey = { org: 'acme', name: 'ci', scopes: ['read'] };

test('a well-formed key with the id of another key and a wrong secret is rejected', async () => {
  const { registry } = createWorld();
  const { key, text } = await createKey(registry, given, author);
  // Another registry that draws the same id: only the secret differs, and the checksum is right.
  const id = Buffer.from([...key.id].map((character) => Number.parseInt(character, 36)));
  const elsewhere = {
    ...createWorld().registry,
    randomBytes: (length: number) => (length === id.length ? new Uint8Array(id) : new Uint8Array(length).fill(7)),
  };
  const forged = await createKey(elsewhere, given, author);
  expect(forged.key.id).toBe(key.id);
  expect(forged.text).not.toBe(text);
  expect(await authenticateKey(elsewhere, forged.text)).toMatchObject({ id: key.id });

  expect(await authenticateKey(registry, forged.text)).toBeNull();
  expect(await authenticateKey(registry, text)).toMatchObject({ kind: 'key', id: key.id });
});

test('a list of keys costs what the organization has, and is right after a restart', async () => {
  const { registry } = createWorld();
  for (let n = 0; n < 50; n++) await createKey(registry, { ...given, org: 'other' }, author);
  const own = [await createKey(registry, given, author), await createKey(registry, given, author)];
  await revokeKey(registry, 'acme', own[0]!.key.id, author);
  let reads = 0;
  const counting = {
    ...registry.refs,
    async read<T>(name: string) {
      reads++;
      return registry.refs.read<T>(name);
    },
  };
  const listed = await listKeys({ ...registry, refs: counting }, 'acme');
  expect(listed.map(({ id, revokedAt }) => [id, revokedAt !== null]).sort()).toEqual(
    own.map(({ key }, index) => [key.id, index === 0]).sort(),
  );
  expect(reads).toBeLessThan(3);
  expect(await listKeys(registry, 'none')).toEqual([]);
});
