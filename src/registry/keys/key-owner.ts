import { anonymous, cap, type Principal } from '../../model/access.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { type Key, personRef, type Person } from '../../model/key.ts';
import type { Registry } from '../registry.ts';
import { mayCreateOrganizations, providerOf, rightsOf } from './people.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Who uses a personal key: its owner, with what their groups may do as configured now, and no more
 * than the key's scopes in its organizations. Null if the registry does not know the person (any
 * more). Throws `unauthenticated`, saying so, if their last sign-in is too long ago to trust the
 * groups that it saw.
 */
export async function ownerOf(
  registry: Registry,
  { id, person: actor, organizations: only = null, scopes: held }: Key,
): Promise<Extract<Principal, { kind: 'user' }> | null> {
  const { config } = registry;
  const { login } = config;
  // People of another issuer are other people.
  if (login === null || actor === undefined || providerOf(registry, actor) === null) return null;
  const person = await readPerson(registry, actor);
  if (person === null) return null;
  const { signInDays } = login.personalKeys;
  if (isStale(registry, person)) {
    const message = `This key works again when its owner has signed in: the last sign-in was on ${person.signedInAt.slice(0, 10)}, and keys need one every ${signInDays} days. Sign in at ${config.url ?? ''}/login.`;
    throw new RegistryError('unauthenticated', message);
  }
  const granted = Object.entries(await rightsOf(registry, person)).filter(([org]) => only?.includes(org) ?? true);
  const organizations = Object.fromEntries(
    granted.map(([org, grants]) => [org, grants.map((grant) => cap(grant, held))]),
  );
  const mayCreate = held.includes('admin') && only === null && mayCreateOrganizations(registry, person);
  return { kind: 'user', id: actor.slice('user:'.length), organizations, key: id, ...(mayCreate && { mayCreate }) };
}

/** Who reads what somebody gets by mail: they themselves as of their last sign-in, or nobody if that is too long ago. */
export async function readerOf(registry: Registry, actor: string): Promise<Principal> {
  const person = await readPerson(registry, actor);
  if (person === null || isStale(registry, person)) return anonymous;
  return { kind: 'user', id: actor.slice('user:'.length), organizations: await rightsOf(registry, person) };
}

/** Whether the last sign-in is too long ago to trust the groups that it saw. */
function isStale({ config, expiryTime }: Registry, { signedInAt }: Person): boolean {
  return expiryTime().getTime() - Date.parse(signedInAt) > (config.login?.personalKeys.signInDays ?? 0) * day;
}

async function readPerson({ refs }: Registry, actor: string): Promise<Person | null> {
  try {
    return (await refs.read<Person>(personRef(actor)))?.value ?? null;
  } catch (error) {
    if (isRegistryError(error, 'corrupt')) return null;
    throw error;
  }
}
