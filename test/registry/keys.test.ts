import { expect, test } from 'vitest';
import { changeKey, rotateKey } from '../../src/registry/keys/change-key.ts';
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

const inHours = (world: { registry: { expiryTime(): Date } }, hours: number) =>
  new Date(world.registry.expiryTime().getTime() + hours * 3_600_000).toISOString();

test('a key that ends never ends later by a change, and may end sooner', async () => {
  const world = createWorld();
  const { key } = await createKey(world.registry, { ...given, expiresAt: inHours(world, 2) }, author);
  const endAt = (expiresAt: string | null) => changeKey(world.registry, 'acme', key.id, { expiresAt }, author);
  for (const later of [null, inHours(world, 3), inHours(world, 2.001)])
    await expect(endAt(later), String(later)).rejects.toMatchObject({
      code: 'malformed',
      extra: { errors: [{ pointer: '/expiresAt' }] },
    });
  expect((await endAt(inHours(world, 1))).value.expiresAt).toBe(inHours(world, 1));
});

test.each(['Z', '+09:00'])('a key that would end sooner is not kept by its replacement (%s)', async (zone) => {
  const world = createWorld();
  const end = inHours(world, 1);
  // The same moment, as somebody far in the east writes it.
  const expiresAt = zone === 'Z' ? end : inHours(world, 10).replace('Z', zone);
  const { key } = await createKey(world.registry, { ...given, expiresAt }, author);
  const replaced = await rotateKey(world.registry, 'acme', key.id, 2 * 3600, author);
  expect(Date.parse(replaced.key.expiresAt!)).toBe(Date.parse(end));
  const [old] = (await listKeys(world.registry, 'acme')).filter(({ id }) => id === key.id);
  expect(Date.parse(old!.expiresAt!)).toBe(Date.parse(end));
});
