import { isDeepStrictEqual } from 'node:util';
import { scopes, type Scope } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { matchesGlob } from '../../model/glob.ts';
import { isUsable, keyRef, type Key } from '../../model/keys/key.ts';
import type { Generation } from '../../store/generations.ts';
import type { Guard } from '../change-resource.ts';
import { createKey } from './keys.ts';
import type { Author, Registry } from '../registry.ts';

/** What to change of a key. Absent members stay as they are. */
export type KeyChange = Partial<Pick<Key, 'name' | 'scopes' | 'resources' | 'expiresAt'>>;

/**
 * Renames or narrows a key. Throws `malformed` for anything that it does not already allow: whoever
 * has a key must not get more by it later. Throws `not_found` if the organization has no such key,
 * and `conflict` if it is revoked or expired.
 */
export async function changeKey(
  registry: Registry,
  org: string,
  id: string,
  change: KeyChange,
  author: Author,
  guard: Guard = () => undefined,
): Promise<Generation<Key>> {
  const generation = await registry.refs.update<Key>(keyRef(id), (current) => {
    const key = usableKey(registry, current, org);
    guard(current!);
    assertNarrower(registry, key, change);
    const changed = Object.keys(change).filter(
      (name) => !isDeepStrictEqual(change[name as keyof KeyChange], key[name as keyof KeyChange]),
    );
    if (changed.length === 0) return null;
    const action = changed.map((name) => `change ${name} of key`).join(', ');
    return { value: { ...key, ...change }, change: { ...author, action } };
  });
  return generation!;
}

/**
 * Replaces a key by one with the same name and rights. The old one expires after `overlap` seconds,
 * if not before. Throws as `changeKey`. A crash in between leaves both valid.
 */
export async function rotateKey(
  registry: Registry,
  org: string,
  id: string,
  overlap: number,
  author: Author,
): Promise<{ key: Key; text: string }> {
  const {
    name,
    scopes: held,
    resources,
    expiresAt,
    owner,
  } = usableKey(registry, await registry.refs.read<Key>(keyRef(id)), org);
  const replacing = { org, name, scopes: held, resources, expiresAt, owner: owner ?? null, isReplacement: true };
  const created = await createKey(registry, replacing, author);
  const end = new Date(registry.expiryTime().getTime() + overlap * 1000).toISOString();
  await registry.refs.update<Key>(keyRef(id), (current) => {
    const key = usableKey(registry, current, org);
    if (key.expiresAt !== null && key.expiresAt <= end) return null;
    return { value: { ...key, expiresAt: end }, change: { ...author, action: 'rotate key' } };
  });
  return created;
}

function usableKey(registry: Registry, stored: Generation<Key> | null, org: string): Key {
  if (stored?.value.org !== org) throw new RegistryError('not_found', 'The key does not exist.');
  if (!isUsable(stored.value, registry.expiryTime)) {
    throw new RegistryError('conflict', 'The key is revoked or expired. Create another one.');
  }
  return stored.value;
}

function assertNarrower(registry: Registry, key: Key, change: KeyChange): void {
  const highest = (held: readonly Scope[]) => Math.max(...held.map((scope) => scopes.indexOf(scope)));
  const wider: [string, boolean][] = [
    ['/scopes', change.scopes !== undefined && highest(change.scopes) > highest(key.scopes)],
    ['/resources', change.resources !== undefined && !isWithin(change.resources, key.resources)],
    ['/expiresAt', change.expiresAt !== undefined && isLater(change.expiresAt, key.expiresAt)],
  ];
  const errors = wider.flatMap(([pointer, isWider]) =>
    isWider ? [{ pointer, detail: 'must allow nothing that the key does not allow now. Create another key' }] : [],
  );
  if (change.expiresAt && Date.parse(change.expiresAt) <= registry.expiryTime().getTime()) {
    errors.push({ pointer: '/expiresAt', detail: 'must be in the future' });
  }
  const [first] = errors;
  if (first)
    throw new RegistryError('malformed', `The body is invalid: ${first.pointer} ${first.detail}.`, {
      extra: { errors },
    });
}

/** Whether the globs match only what the others match. `*` in a glob is matched as any text is. */
function isWithin(globs: readonly string[] | null, others: readonly string[] | null): boolean {
  if (others === null) return true;
  return globs !== null && globs.every((glob) => others.some((other) => coversGlob(other, glob)));
}

function coversGlob(other: string, glob: string): boolean {
  const [[otherType, otherSlug], [type, slug]] = [other.split('/'), glob.split('/')];
  return matchesGlob(otherType!, type!) && matchesGlob(otherSlug!, slug!);
}

function isLater(time: string | null, other: string | null): boolean {
  if (other === null) return false;
  return time === null || Date.parse(time) > Date.parse(other);
}
