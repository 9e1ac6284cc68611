import { formatPrincipal } from '../../../model/access.ts';
import { RegistryError } from '../../../model/errors.ts';
import type { Key } from '../../../model/key.ts';
import { decideDevice, readDevice } from '../../../registry/keys/devices.ts';
import { listKeys } from '../../../registry/keys/list-keys.ts';
import { createPersonalKey, type NewPersonalKey } from '../../../registry/keys/personal-keys.ts';
import { readKeyUse, revokeKey } from '../../../registry/keys/keys.ts';
import { bodyOf, type Call, type Handler } from '../call.ts';
import { isText, positionOf, sendPage } from '../list-pages.ts';
import { keyRecord } from '../resource-records.ts';

/** The person who asks, as the audit trail names them. Throws `forbidden` for the key of an organization. */
export function personOf({ principal, context }: Call): string {
  if (principal.kind === 'user') return formatPrincipal(principal);
  const message = `Only people who sign in with an identity provider have keys of their own. Sign in at ${context.url}/account.`;
  throw new RegistryError('forbidden', message);
}

/** As `personOf`, for what a key must not do: one that was stolen would make others that outlive it. */
function personWithSession(call: Call): string {
  const person = personOf(call);
  if (call.principal.kind === 'user' && call.principal.key === undefined) return person;
  throw new RegistryError('forbidden', `A key cannot make keys. Sign in at ${call.context.url}/account.`);
}

export const listMine: Handler = async (call) => {
  const after = positionOf(call, isText);
  const keys: Key[] = await listKeys(call.registry, personOf(call));
  const start = after === null ? 0 : keys.findIndex(({ id }) => id === after) + 1;
  return sendPage(
    call,
    keys.slice(start),
    async (key) => keyRecord(key, await readKeyUse(call.registry, key.id)),
    ({ id }) => id,
  );
};

export const createMine: Handler = async (call) => {
  const { registry, author } = call;
  const { key, text } = await createPersonalKey(
    registry,
    personWithSession(call),
    bodyOf<NewPersonalKey>(call),
    author,
  );
  return { status: 201, body: { ...keyRecord(key, null), secret: text } };
};

export const revokeMine: Handler = async (call) => {
  await revokeKey(call.registry, personOf(call), call.path['key']!, call.author);
  return { status: 204 };
};

export const getDevice: Handler = async (call) => {
  personWithSession(call);
  const { name, scopes, organizations, address, askedAt, expiresAt } = await readDevice(
    call.registry,
    call.path['code']!,
  );
  return { status: 200, body: { name, scopes, organizations, address, askedAt, expiresAt } };
};

export const decide: Handler = async (call) => {
  const { granted } = bodyOf<{ granted: boolean }>(call);
  const decision = { person: personWithSession(call), isGranted: granted };
  await decideDevice(call.registry, call.path['code']!, decision, call.author);
  return { status: 200, body: { granted } };
};
