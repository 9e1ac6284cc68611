import { providersOf } from '../../config/login-config.ts';
import { anonymous, cap, type Principal, isResourceGlob, scopes, type Grant } from '../../model/access.ts';
import { insteadOf, malformed, conflict, notFound, unauthenticated } from '../../model/errors.ts';
import type { Reads } from '../../store/log/reads.ts';
import { type Key, personRef, type Person, formatKey, holderOf, isUsable, keyRef, parseKey } from '../../model/key.ts';
import { isLater } from '../../model/time.ts';
import { attemptId, type Author, type Registry } from '../registry.ts';
import { mayCreateOrganizations, providerOf, rightsOf, rightsIn } from './people.ts';
import { hash, timingSafeEqual } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { crc32 } from 'node:zlib';
import { isSlug } from '../../model/address.ts';
import { digestOf } from '../../model/digest.ts';
import { withRoom } from '../maintenance/quotas.ts';
import { listKeys } from './list-keys.ts';

const day = 24 * 60 * 60 * 1000;

/**
 * Who uses a personal key: its owner, with what their groups may do as configured now, and no more
 * than the key's scopes in its organizations. Null if the registry does not know the person (any
 * more). Throws `unauthenticated`, saying so, if their last sign-in is too long ago to trust the
 * groups that it saw.
 */
async function ownerOf(
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
    throw unauthenticated(message);
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
  return (await refs.read<Person>(personRef(actor)).catch(insteadOf('corrupt', null)))?.value ?? null;
}

/** Settings of a new key of an organization, or of a person, whose `org` is null. `expiresAt`: absent for never. */
export interface NewKey
  extends
    Pick<Key, 'org' | 'name' | 'scopes'>,
    Partial<Pick<Key, 'person' | 'organizations' | 'use' | 'resources' | 'expiresAt' | 'job'>> {
  /** Who answers for it, as text. */
  owner?: string | null;
  /** Whether it replaces one that stays valid for a while. */
  isReplacement?: boolean;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * Creates a key. Only this answer contains its text. Where an attempt of the same operation (`Author.operation`) made
 * it, whose answer nobody got, it has another text from now on.
 */
export async function createKey(
  registry: Registry,
  given: NewKey,
  author: Author,
): Promise<{ key: Key; text: string }> {
  if (given.org !== null && !isSlug(given.org))
    throw malformed(`${JSON.stringify(given.org)} is not a valid organization name.`);
  const unknown = given.scopes.find((scope) => !scopes.includes(scope));
  if (unknown !== undefined || given.scopes.length === 0) {
    const what = unknown === undefined ? 'A key needs a scope' : `${JSON.stringify(unknown)} is not a scope`;
    throw malformed(`${what}. Use one or more of ${scopes.join(', ')}.`);
  }
  const bad = given.resources?.find((glob) => !isResourceGlob(glob));
  if (bad !== undefined)
    throw malformed(`${JSON.stringify(bad)} is not a resource glob. Use one such as "apis/pay-*".`);
  const id = attemptId(author)?.slice(0, 12) ?? randomText(registry, 12).toLowerCase();
  const secret = randomText(registry, 32);
  const text = formatKey({ id, secret, checksum: checksumOf(`stele_${id}_${secret}`) });
  const key: Key = {
    id,
    org: given.org,
    name: given.name,
    scopes: given.scopes,
    resources: given.resources ?? null,
    hash: digestOf(text),
    createdAt: registry.now().toISOString(),
    expiresAt: given.expiresAt ?? null,
    revokedAt: null,
    ...(given.owner && { owner: given.owner }),
    ...(given.job && { job: given.job }),
    ...(given.person && { person: given.person, organizations: given.organizations ?? null }),
    ...(given.use && { use: given.use }),
  };
  const change = { ...author, action: 'create key' };
  const write = () =>
    registry.refs.update<Key>(keyRef(id), (current) => {
      if (current !== null && (current.operation === undefined || current.operation !== author.operation))
        throw conflict('The generated key id is already taken. Try again.');
      return { value: key, change };
    });
  if (given.org === null) {
    await write();
    await notePersonalKey(registry, key, change);
  } else {
    // What an attempt before made has its room.
    const isMade = attemptId(author) !== null && (await registry.refs.readFresh(keyRef(id))) !== null;
    await withRoom(registry, given.org, (take) => {
      if (!isMade) take({ keys: 1 }, given.isReplacement ? 2 : 1);
      return write();
    });
  }
  return { key, text };
}

/** Who sends a key: itself, or the person whose key it is. */
export type KeyPrincipal = Extract<Principal, { kind: 'key' | 'user' }>;

/**
 * The principal of a key; null if the key is malformed, unknown, expired or revoked. Clients cannot
 * tell which. A wrong checksum is detected without reading the store. A key for feeds is known where
 * `use` says so, and no other is there. Throws as `ownerOf` for a person's key.
 */
export async function authenticateKey(
  registry: Registry,
  text: string,
  use?: Key['use'],
): Promise<KeyPrincipal | null> {
  const parsed = parseKey(text);
  if (parsed === null || parsed.checksum !== checksumOf(`stele_${parsed.id}_${parsed.secret}`)) return null;
  const given = Buffer.from(digestOf(text));
  // Compare also if the key is unknown, so that both cases take the same time.
  const isGood = (key: Key | undefined): key is Key =>
    timingSafeEqual(given, Buffer.from(key?.hash ?? digestOf(''))) &&
    key !== undefined &&
    isUsable(key, registry.expiryTime) &&
    key.use === use;
  const reads: Reads = new Map();
  const key = await registry.answers.noting(reads, async () => {
    const known = (await registry.refs.read<Key>(keyRef(parsed.id)))?.value;
    if (isGood(known)) return known;
    // Another node may just have made it. A damaged key counts as unknown.
    return (await registry.refs.readFresh<Key>(keyRef(parsed.id)).catch(insteadOf('corrupt', null)))?.value;
  });
  if (!isGood(key)) return null;
  if (key.org === null) return ownerOf(registry, key);
  const { id, org, resources, job } = key;
  const principal = { kind: 'key', id, org, scopes: key.scopes, resources, ...(job && { job }) } as const;
  registry.answers.keep(presentedKey(hashOfKey(text)), { key, principal }, reads, 1000);
  return principal;
}

/** The hash by which a key that was presented is remembered: its text is in memory no longer than its connection. */
export function hashOfKey(text: string): string {
  return hash('sha256', text, 'base64');
}

const presentedKey = (hashed: string) => `key ${hashed}`;

/** The principal of a key that was presented before, by its hash. Null: ask `authenticateKey`. */
export function knownPrincipal(
  { answers, expiryTime }: Pick<Registry, 'answers' | 'expiryTime'>,
  hashed: string,
): Extract<Principal, { kind: 'key' }> | null {
  const cached = answers.find<{ key: Key; principal: Extract<Principal, { kind: 'key' }> }>(presentedKey(hashed));
  return cached !== undefined && isUsable(cached.key, expiryTime) ? cached.principal : null;
}

/**
 * Revokes a key of an organization or a person (`holderOf`). Every process rejects it within 1 s.
 * Revoking it again changes nothing. Throws `not_found` if the holder has no such key, and `conflict` for the
 * organization's last administrator, unless `last` says that this is meant.
 */
export async function revokeKey(
  registry: Registry,
  holder: string,
  id: string,
  author: Author,
  { last = false }: { last?: boolean } = {},
): Promise<Key> {
  const unknown = () => notFound('The key does not exist.');
  if (!/^[0-9a-z]{12}$/.test(id)) throw unknown();
  const change = { ...author, action: 'revoke key' };
  const generation = await registry.refs.update<Key>(
    keyRef(id),
    async (current) => {
      if (current === null || holderOf(current.value) !== holder) throw unknown();
      if (current.value.revokedAt !== null) return null;
      if (!last && isUsable(current.value, registry.expiryTime)) await assertAdministered(registry, current.value);
      return { value: { ...current.value, revokedAt: registry.now().toISOString() }, change };
    },
    { readsOthers: true },
  );
  await notePersonalKey(registry, generation!.value, change);
  return generation!.value;
}

/** CRC-32 in base 62, 6 characters: detects typing errors, and lets secret scanners recognize keys. */
function checksumOf(text: string): string {
  const sum = crc32(text);
  return Array.from({ length: 6 }, (_, at) => alphabet[Math.floor(sum / 62 ** (5 - at)) % 62]).join('');
}

/** Evenly distributed characters: bytes from 248 (4 × 62) on are skipped. */
function randomText(registry: Registry, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of registry.randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]!;
    }
  }
  return text;
}

/** Shortest time between two records of a key's use, in milliseconds. */
const resolution = 60 * 60 * 1000;

interface KeyUse {
  at: string;
}

const keyUseRef = (id: string): string => `key-uses/${id}`;

/** When the key was last used, to within an hour; null if never. */
export async function readKeyUse(registry: Registry, id: string): Promise<string | null> {
  return (await registry.refs.read<KeyUse>(keyUseRef(id)))?.value.at ?? null;
}

/** When this process looked at the last use of a key, by the monotonic clock. */
const looked = new WeakMap<Registry['refs'], LRUCache<string, number>>();

/** Records that a key was used, at most once an hour. Returns null if that was done already. */
export function noteKeyUse(registry: Registry, id: string): Promise<void> | null {
  const recent = looked.getOrInsertComputed(
    registry.refs,
    () => new LRUCache({ maxSize: 10_000, sizeCalculation: () => 1 }),
  );
  const since = registry.monotonic() - (recent.get(id) ?? -Infinity);
  if (since < resolution) return null;
  recent.set(id, registry.monotonic());
  return writeKeyUse(registry, id).catch((error: unknown) => {
    recent.delete(id);
    throw error;
  });
}

async function writeKeyUse(registry: Registry, id: string): Promise<void> {
  const now = registry.now().getTime();
  await registry.refs.update<KeyUse>(keyUseRef(id), (current) => {
    if (current !== null && now - Date.parse(current.value.at) < resolution) return null;
    const change = { actor: `key:${id}`, origin: null, action: 'use' };
    return { value: { at: new Date(now).toISOString() }, change };
  });
}

/**
 * Notes in the log of each organization in which a person's key allows something what was done to
 * it: its administrators find that in their audit. Repeating it notes nothing again.
 */
async function notePersonalKey(
  { config, refs }: Pick<Registry, 'config' | 'refs'>,
  { id, person: actor, organizations = null, revokedAt }: Key,
  change: Author & { action: string },
): Promise<void> {
  const person = config.login && actor && (await refs.read<Person>(personRef(actor)))?.value;
  if (!person) return;
  for (const org of Object.keys(await rightsOf({ config, refs }, person))) {
    if (!(organizations?.includes(org) ?? true)) continue;
    await refs.update<{ revokedAt: string | null }>(`personal-keys/${org}/${id}`, (current) =>
      current !== null && current.value.revokedAt === revokedAt ? null : { value: { revokedAt }, change },
    );
  }
}

function administers({ scopes: allowed, resources }: Grant): boolean {
  return allowed.includes('admin') && resources === null;
}

/**
 * Throws `conflict` if an organization loses its last administrator with these rights, which become `left` (null:
 * nothing). Programs do not count where people have rights, since nobody may know where their keys are.
 */
export async function assertAdministered(
  registry: Registry,
  { org, id, ...before }: Grant & { org: string | null; id: string | null },
  left: Grant | null = null,
): Promise<void> {
  if (org === null || !administers(before) || (left !== null && administers(left))) return;
  // Nobody signs in at a provider that is not configured (any more).
  const issuers = providersOf(registry.config.login).map(({ issuer }) => issuer);
  const all = (await rightsIn(registry, org)).filter(({ issuer }) => issuers.includes(issuer));
  if (all.some((each) => each.id !== id && administers(each))) return;
  const keys = (await listKeys(registry, org)).filter((key) => isUsable(key, registry.expiryTime));
  const own = keys.find((key) => key.id === id);
  // One that ends sooner would leave nobody then, and nobody would be asked.
  const outlasts = (key: Key) => key.id !== id && administers(key) && !isLater(own!.expiresAt, key.expiresAt);
  if (own && keys.some(outlasts)) return;
  const message = `Nobody else administers @${org} as long as this: after that, only the operator could give rights in it. Repeat with \`last\` to do it anyway.`;
  throw conflict(message);
}
