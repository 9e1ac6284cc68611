import { cap, type Grant, type Scope } from '../../model/access.ts';
import {
  invalidMember,
  type RegistryError,
  forbidden,
  unavailable,
  notFound,
  quotaExceeded,
} from '../../model/errors.ts';
import { isUsable, type Key, type Person } from '../../model/key.ts';
import { createKey } from './keys.ts';
import { attemptId, type Author, type Registry } from '../registry.ts';
import { listKeys } from './list-keys.ts';
import { listMembers, rightsOf } from './people.ts';
import { hash, timingSafeEqual } from 'node:crypto';

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
  if (login === null) throw forbidden('This registry has no identity provider, so there are no personal keys.');
  const { days } = login.personalKeys;
  const now = registry.expiryTime().getTime();
  const end = new Date(now + days * day).toISOString();
  const expires = expiresAt ?? end;
  if (Date.parse(expires) <= now || Date.parse(expires) > Date.parse(end))
    throw invalidMember('/expiresAt', `must be in the future, and at most ${days} days from now`);
  const made = attemptId(author)?.slice(0, 12);
  const live = (await listKeys(registry, person)).filter(
    (key) => key.id !== made && isUsable(key, registry.expiryTime),
  );
  if (live.length >= maxKeys)
    throw quotaExceeded(`You may have at most ${maxKeys} keys. Revoke those that you do not need.`);
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

/**
 * A program on somebody's computer that asks for a key of theirs (the device flow of RFC 8628): it
 * shows a short code, its user types the code where they are signed in, and the program, which asks
 * again and again, gets the key. The value of a record that expires.
 */
export interface Device {
  name: string;
  scopes: Scope[];
  organizations: string[] | null;
  /** The network address that asked. */
  address: string | null;
  askedAt: string;
  expiresAt: string;
  /** Hash of the secret that only the program has. */
  hash: string;
  /** Who decided, as the audit trail names them, and how. Null: nobody yet. */
  decision: { person: string; isGranted: boolean } | null;
  /** The key was given. */
  isDone?: true;
}

/** What a program is to show its user, and to ask with. */
export interface AskedDevice {
  /** For the user: eight letters without vowels, so that they spell nothing, in two groups. */
  userCode: string;
  /** For the program: its secret. */
  deviceCode: string;
  expiresAt: string;
}

/** Letters of user codes (RFC 8628 §6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';
const lifetime = 10 * 60 * 1000;

/** A program asks. Nothing is granted by it. */
export async function askForKey(
  registry: Registry,
  {
    name,
    scopes = ['read'],
    organizations = null,
  }: { name: string; scopes?: Scope[]; organizations?: string[] | null },
  address: string | null,
): Promise<AskedDevice> {
  // 240 is 12 × 20: each letter is as likely.
  const drawn = [...registry.randomBytes(64)].filter((byte) => byte < 240).slice(0, 8);
  const code = drawn.map((byte) => letters[byte % letters.length]!).join('');
  const secret = Buffer.from(registry.randomBytes(24)).toString('base64url');
  const now = registry.expiryTime();
  const device: Device = {
    name,
    scopes,
    organizations,
    address,
    askedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + lifetime).toISOString(),
    hash: hash('sha256', secret),
    decision: null,
  };
  await registry.refs.update<Device>(deviceRef(code), (current) => {
    if (current !== null) throw unavailable('The code is taken. Ask again.', { retryAfter: 1 });
    return { value: device, change: { actor: 'anonymous', origin: address, action: 'ask for a key' } };
  });
  return {
    userCode: `${code.slice(0, 4)}-${code.slice(4)}`,
    deviceCode: `${code}.${secret}`,
    expiresAt: device.expiresAt,
  };
}

/** What a program asked for, by the code that it shows. Throws `not_found` if nothing waits under it. */
export async function readDevice(registry: Registry, userCode: string): Promise<Device> {
  return waiting(registry, (await registry.refs.read<Device>(deviceRef(codeIn(userCode))))?.value ?? null);
}

/** Decides for a person. Throws `not_found` if nothing waits under the code. */
export async function decideDevice(
  registry: Registry,
  userCode: string,
  decision: { person: string; isGranted: boolean },
  author: Author,
): Promise<void> {
  await registry.refs.update<Device>(deviceRef(codeIn(userCode)), (current) => {
    const device = waiting(registry, current?.value ?? null);
    return { value: { ...device, decision }, change: { ...author, action: 'decide about a key' } };
  });
}

/**
 * The program asks for its key. `pending`: nobody decided yet. A key is given once. Throws
 * `not_found` if the code is wrong, expired or used.
 */
export async function takeKey(
  registry: Registry,
  deviceCode: string,
  origin: string | null,
): Promise<{ state: 'pending' | 'refused' } | { state: 'granted'; key: Key; text: string }> {
  const [code = '', secret = ''] = deviceCode.split('.');
  const name = deviceRef(codeIn(code));
  const stored = (await registry.refs.read<Device>(name))?.value ?? null;
  if (stored === null || isOver(registry, stored)) throw unknown();
  if (!timingSafeEqual(Buffer.from(hash('sha256', secret)), Buffer.from(stored.hash))) throw unknown();
  if (stored.decision === null) return { state: 'pending' };
  const { person, isGranted } = stored.decision;
  if (!isGranted) return { state: 'refused' };
  const author = { actor: person, origin };
  // First, so that two requests at the same moment make one key.
  await registry.refs.update<Device>(name, (current) => {
    if (current === null || current.value.isDone) throw unknown();
    return { value: { ...current.value, isDone: true }, change: { ...author, action: 'take a key' } };
  });
  const { name: keyName, scopes, organizations } = stored;
  const { key, text } = await createPersonalKey(registry, person, { name: keyName, scopes, organizations }, author);
  return { state: 'granted', key, text };
}

function waiting(registry: Registry, device: Device | null): Device {
  if (device === null || device.decision !== null || isOver(registry, device)) throw unknown();
  return device;
}

function isOver({ expiryTime }: Registry, { expiresAt }: Device): boolean {
  return Date.parse(expiresAt) <= expiryTime().getTime();
}

function unknown(): RegistryError {
  return notFound(
    'No program waits for a key under this code. Run the command again: a code is valid for ten minutes.',
  );
}

/** The letters of a code as people type it. */
function codeIn(text: string): string {
  const code = text.toUpperCase().replace(/[^A-Z]/g, '');
  if (!/^[A-Z]{8}$/.test(code)) throw unknown();
  return code;
}

function deviceRef(code: string): string {
  return `devices/${code.toLowerCase()}`;
}
