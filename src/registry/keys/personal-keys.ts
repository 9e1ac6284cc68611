import { cap, type Grant, type Scope } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { isUsable, type Key, type Person } from '../../model/key.ts';
import { createKey } from './keys.ts';
import type { Author, Registry } from '../registry.ts';
import { listKeys } from './list-keys.ts';
import { listMembers, rightsOf } from './people.ts';

/** Settings of a new key of a person. */
export interface NewPersonalKey {
  name: string;
  scopes: Scope[];
  /** Organizations that it is limited to. Null: all in which the person holds something. */
  organizations?: string[] | null;
  /** `feeds`: it stands in URLs of feeds, reads them, and opens nothing else. */
  use?: 'requests' | 'feeds';
  /** ISO 8601. Default: as late as may be. */
  expiresAt?: string;
}

/** Live keys that a person may have. */
const maxKeys = 50;
const day = 24 * 60 * 60 * 1000;

/**
 * Creates a key of a person. What it allows is decided at each use: what the person's groups may do
 * then, and no more than its scopes. Throws `malformed` if it would live longer than the
 * configuration says, and `quota_exceeded` for too many.
 */
export async function createPersonalKey(
  registry: Registry,
  person: string,
  { name, scopes: wanted, organizations = null, use = 'requests', expiresAt }: NewPersonalKey,
  author: Author,
): Promise<{ key: Key; text: string }> {
  const { login } = registry.config;
  if (login === null)
    throw new RegistryError('forbidden', 'This registry has no identity provider, so nobody has keys of their own.');
  const { days } = login.personalKeys;
  const now = registry.expiryTime().getTime();
  const end = new Date(now + days * day).toISOString();
  const expires = expiresAt ?? end;
  if (Date.parse(expires) <= now || Date.parse(expires) > Date.parse(end)) {
    const detail = `must be in the future, and at most ${days} days from now`;
    throw new RegistryError('malformed', `The body is invalid: /expiresAt ${detail}.`, {
      extra: { errors: [{ pointer: '/expiresAt', detail }] },
    });
  }
  const live = (await listKeys(registry, person)).filter((key) => isUsable(key, registry.expiryTime));
  if (live.length >= maxKeys)
    throw new RegistryError(
      'quota_exceeded',
      `You may have at most ${maxKeys} keys. Revoke those that you do not need.`,
    );
  const limited = use === 'feeds' ? { scopes: ['read' as const], use } : { scopes: wanted };
  return createKey(registry, { org: null, person, organizations, name, expiresAt: expires, ...limited }, author);
}

/** The keys of people that allow something in an organization, with what they allow there, oldest first for each person. */
export async function personalKeysIn(
  registry: Registry,
  org: string,
): Promise<{ key: Key; person: Person; grants: Grant[] }[]> {
  const listed: { key: Key; person: Person; grants: Grant[] }[] = [];
  for (const person of await listMembers(registry, org)) {
    const rights = await rightsOf(registry, person);
    if (!Object.hasOwn(rights, org)) continue;
    for (const key of await listKeys(registry, person.actor))
      if (key.organizations?.includes(org) ?? true)
        listed.push({ key, person, grants: rights[org]!.map((grant) => cap(grant, key.scopes)) });
  }
  return listed;
}
