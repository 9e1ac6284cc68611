import { isDeepStrictEqual } from 'node:util';
import { isWithin, type Grant } from '../../model/access.ts';
import { invalidMember, notFound, conflict } from '../../model/errors.ts';
import { isUsable, keyRef, type Key } from '../../model/key.ts';
import { isLater } from '../../model/time.ts';
import type { Generation } from '../../store/records.ts';
import type { Guard } from '../lives.ts';
import { assertAdministered, createKey } from './keys.ts';
import type { Author, Registry } from '../registry.ts';

/** How a change of keys or rights is judged. */
export interface Judged {
  /** Throws for a grant that the author must not make, change or take. It is asked about what is there and what comes of it. */
  judge?: (grant: Grant) => void;
  /** Whether to go on though nobody administers the organization afterwards. */
  last?: boolean;
}

/** What to change of a key. Absent members stay as they are. */
export type KeyChange = Partial<Pick<Key, 'name' | 'scopes' | 'resources' | 'expiresAt'>>;

/**
 * Renames or narrows a key. Throws `malformed` for anything that it does not already allow: whoever
 * has a key must not get more by it later. Throws `not_found` if the organization has no such key,
 * and `conflict` if it is revoked or expired, or if nobody would administer the organization.
 */
export async function changeKey(
  registry: Registry,
  org: string,
  id: string,
  change: KeyChange,
  author: Author,
  { guard = () => undefined, judge = () => undefined, last = false }: Judged & { guard?: Guard } = {},
): Promise<Generation<Key>> {
  const generation = await registry.refs.update<Key>(
    keyRef(id),
    async (current) => {
      const key = usableKey(registry, current, org, judge);
      guard(current!);
      const result = { ...key, ...change };
      judge(result);
      assertNarrower(registry, key, change);
      // One that ends sooner vanishes, too, when nobody is asked any more.
      const left = isLater(key.expiresAt, result.expiresAt) ? null : result;
      if (!last) await assertAdministered(registry, key, left);
      const changed = Object.keys(change).filter(
        (name) => !isDeepStrictEqual(change[name as keyof KeyChange], key[name as keyof KeyChange]),
      );
      if (changed.length === 0) return null;
      const action = changed.map((name) => `change ${name} of key`).join(', ');
      return { value: result, change: { ...author, action } };
    },
    { readsOthers: true },
  );
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
  { judge }: Pick<Judged, 'judge'> = {},
): Promise<{ key: Key; text: string }> {
  const old = usableKey(registry, await registry.refs.read<Key>(keyRef(id)), org, judge);
  const { name, scopes: held, resources, expiresAt, owner } = old;
  const replacing = { org, name, scopes: held, resources, expiresAt, owner: owner ?? null, isReplacement: true };
  const created = await createKey(registry, replacing, author);
  const end = new Date(registry.expiryTime().getTime() + overlap * 1000).toISOString();
  await registry.refs.update<Key>(keyRef(id), (current) => {
    const key = usableKey(registry, current, org);
    if (!isLater(key.expiresAt, end)) return null;
    return { value: { ...key, expiresAt: end }, change: { ...author, action: 'rotate key' } };
  });
  return created;
}

function usableKey(
  registry: Registry,
  stored: Generation<Key> | null,
  org: string,
  judge: Judged['judge'] = () => undefined,
): Key {
  if (stored?.value.org !== org) throw notFound('The key does not exist.');
  judge(stored.value);
  if (!isUsable(stored.value, registry.expiryTime)) {
    throw conflict('The key is revoked or expired. Create another one.');
  }
  return stored.value;
}

function assertNarrower(registry: Registry, key: Key, change: KeyChange): void {
  const { scopes = key.scopes, resources = key.resources } = change;
  const errors: { pointer: string; detail: string }[] = [];
  const refuse = (pointer: string): void => {
    errors.push({ pointer, detail: 'must allow nothing that the key does not allow now. Create another key' });
  };
  if (!isWithin({ scopes, resources: key.resources }, key)) refuse('/scopes');
  else if (!isWithin({ scopes, resources }, key)) refuse('/resources');
  if (change.expiresAt !== undefined && isLater(change.expiresAt, key.expiresAt)) refuse('/expiresAt');
  if (change.expiresAt && Date.parse(change.expiresAt) <= registry.expiryTime().getTime()) {
    errors.push({ pointer: '/expiresAt', detail: 'must be in the future' });
  }
  if (errors[0]) throw invalidMember(errors[0].pointer, errors[0].detail, errors);
}
