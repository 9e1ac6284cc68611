import { mayHandOn } from '../../../model/access.ts';
import { RegistryError } from '../../../model/errors.ts';
import { holderOf, keyRef, type Key } from '../../../model/keys/key.ts';
import { createKey, readKeyUse, revokeKey, type NewKey } from '../../../registry/keys/keys.ts';
import { listKeys } from '../../../registry/keys/list-keys.ts';
import { personalKeysIn } from '../../../registry/keys/personal-keys.ts';
import { changeKey, rotateKey, type KeyChange } from '../../../registry/keys/change-key.ts';
import type { Registry } from '../../../registry/registry.ts';
import { nothingHere } from '../../nothing-here.ts';
import { bodyOf, type Call, type Handler } from '../call.ts';
import { etagOf, guardOf } from '../conditional.ts';
import { isText, matchesQuery, positionOf, sendPage } from '../list-pages.ts';
import { keyRecord } from '../resource-records.ts';

async function describe(registry: Registry, key: Key): Promise<object> {
  return keyRecord(key, await readKeyUse(registry, key.id));
}

export const listAll: Handler = async (call) => {
  const { registry, org } = call;
  const after = positionOf(call, isText);
  const ofPeople = (await personalKeysIn(registry, org)).map(({ key }) => key);
  const keys = [...(await listKeys(registry, org)), ...ofPeople];
  const start = after === null ? 0 : keys.findIndex(({ id }) => id === after) + 1;
  return sendPage(
    call,
    keys.slice(start).filter(({ name }) => matchesQuery(call, name)),
    (key) => describe(registry, key),
    ({ id }) => id,
  );
};

export const createOne: Handler = async (call) => {
  const { registry, org, author, context } = call;
  const given = bodyOf<Omit<NewKey, 'org'>>(call);
  requireToHandOn(call, given);
  if (given.expiresAt && Date.parse(given.expiresAt) <= registry.expiryTime().getTime()) {
    const errors = [{ pointer: '/expiresAt', detail: 'must be in the future' }];
    throw new RegistryError('malformed', 'The body is invalid: /expiresAt must be in the future.', {
      extra: { errors },
    });
  }
  const { key, text } = await createKey(registry, { ...given, org }, author);
  const headers = { Location: `${context.url}/v1/keys/${key.id}` };
  return { status: 201, headers, body: { ...keyRecord(key, null), secret: text } };
};

export const getOne: Handler = async ({ registry, org, path }) => {
  const stored = await registry.refs.read<Key>(keyRef(path['key']!));
  if (stored === null || (await holderHere(registry, org, stored.value)) === null)
    throw new RegistryError('not_found', nothingHere);
  const lastUsedAt = await readKeyUse(registry, stored.value.id);
  const etag = etagOf(stored.generation, lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
  return { status: 200, headers: { ETag: etag }, body: keyRecord(stored.value, lastUsedAt) };
};

export const updateOne: Handler = async (call) => {
  const { registry, org, path, author } = call;
  await requireMine(call);
  const { value, generation } = await changeKey(
    registry,
    org,
    path['key']!,
    bodyOf<KeyChange>(call),
    author,
    guardOf(call),
  );
  const lastUsedAt = await readKeyUse(registry, value.id);
  const etag = etagOf(generation, lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
  return { status: 200, headers: { ETag: etag }, body: keyRecord(value, lastUsedAt) };
};

export const rotate: Handler = async (call) => {
  const { registry, org, path, author, body, context } = call;
  await requireMine(call);
  const { overlap } = (body?.value ?? { overlap: 86_400 }) as { overlap: number };
  const { key, text } = await rotateKey(registry, org, path['key']!, overlap, author);
  const headers = { Location: `${context.url}/v1/keys/${key.id}` };
  return { status: 201, headers, body: { ...keyRecord(key, null), secret: text } };
};

export const revokeOne: Handler = async (call) => {
  const { registry, org, path, author } = call;
  await requireMine(call);
  const stored = await registry.refs.read<Key>(keyRef(path['key']!));
  await revokeKey(registry, (stored && (await holderHere(registry, org, stored.value))) ?? org, path['key']!, author);
  return { status: 204 };
};

/** Throws `forbidden` for what the asker must not let a key do: more than they may themselves. */
function requireToHandOn({ principal, org }: Call, { scopes, resources = null }: Pick<NewKey, 'scopes' | 'resources'>) {
  if (mayHandOn(principal, org, { scopes, resources })) return;
  const message = 'Only administrators make, change and revoke keys that allow more than the scope keys does.';
  throw new RegistryError('forbidden', message);
}

/** As `requireToHandOn`, for the key of the organization in the path. One that is not there is left to the verb. */
async function requireMine(call: Call): Promise<void> {
  const key = (await call.registry.refs.read<Key>(keyRef(call.path['key']!)))?.value;
  if (key?.org === call.org) requireToHandOn(call, key);
}

/** Whose key it is, if it allows something in this organization. */
async function holderHere(registry: Registry, org: string, key: Key): Promise<string | null> {
  if (key.org !== null) return key.org === org ? org : null;
  const here = await personalKeysIn(registry, org);
  return here.some(({ key: { id } }) => id === key.id) ? holderOf(key) : null;
}
