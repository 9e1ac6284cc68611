import { isAllowed, mayHandOn, type Grant } from '../../model/access.ts';
import { invalidMember, forbidden } from '../../model/errors.ts';
import { holderOf, keyRef, type Key } from '../../model/key.ts';
import { createKey, readKeyUse, revokeKey, type NewKey } from '../../registry/keys/keys.ts';
import { listKeys } from '../../registry/keys/list-keys.ts';
import { personalKeysIn } from '../../registry/keys/personal-keys.ts';
import { changeKey, rotateKey, type KeyChange } from '../../registry/keys/change-key.ts';
import type { Registry } from '../../registry/registry.ts';
import { absent } from '../error-answers.ts';
import {
  answerRecord,
  bodyOf,
  type Answer,
  type Call,
  guardOf,
  matchesQuery,
  operationsAbout,
  sendList,
} from './call.ts';
import { answerNewKey, keyRecord } from './resource-records.ts';
import type { Generation } from '../../store/records.ts';

/** A key, under an ETag that counts its uses, too. */
async function answerKey(registry: Registry, org: string, { value, generation }: Generation<Key>): Promise<Answer> {
  const lastUsedAt = await readKeyUse(registry, value.id);
  const record = keyRecord(seenBy(org, value), lastUsedAt);
  return answerRecord(record, generation, lastUsedAt === null ? 0 : Date.parse(lastUsedAt));
}

/** A key as an organization sees it: in which others a person's works is not its business. */
const seenBy = (org: string, key: Key): Key => (key.organizations ? { ...key, organizations: [org] } : key);

export const keyOperations = operationsAbout('organization', {
  async listKeys(call) {
    const { registry, org } = call;
    const ofPeople = (await personalKeysIn(registry, org)).map(({ key }) => key);
    return sendList(call, [...(await listKeys(registry, org)), ...ofPeople], {
      isShown: ({ name }) => matchesQuery(call, name),
      describe: async (key) => keyRecord(seenBy(org, key), await readKeyUse(registry, key.id)),
      keyOf: ({ id }) => id,
    });
  },

  async createKey(call) {
    const { registry, org, author, context } = call;
    const given = bodyOf<Omit<NewKey, 'org'>>(call);
    requireToHandOn(call, given);
    await requireToOutlive(call, given.expiresAt ?? null);
    const isPast = given.expiresAt && Date.parse(given.expiresAt) <= registry.expiryTime().getTime();
    if (isPast) throw invalidMember('/expiresAt', 'must be in the future');
    const makesKeys = given.scopes.includes('keys') && !given.scopes.includes('admin');
    if (makesKeys && given.resources)
      throw invalidMember(
        '/scopes',
        'has keys, and a key for some resources makes none: use approve, or leave out resources',
      );
    return answerNewKey(await createKey(registry, { ...given, org }, author), context.url);
  },

  async getKey({ registry, org, path }) {
    const stored = await registry.refs.read<Key>(keyRef(path['key']!));
    if (stored === null || (await allowedHere(registry, org, stored.value)) === null) throw absent();
    return answerKey(registry, org, stored);
  },

  async updateKey(call) {
    const { registry, org, path, author, query } = call;
    const changed = await changeKey(registry, org, path['key']!, bodyOf<KeyChange>(call), author, {
      guard: guardOf(call),
      judge: (grant) => requireToHandOn(call, grant),
      last: query['last'] === true,
    });
    return answerKey(registry, org, changed);
  },

  async rotateKey(call) {
    const { registry, org, path, author, body, context } = call;
    const { overlap } = (body?.value ?? { overlap: 86_400 }) as { overlap: number };
    const judge = (grant: Grant) => requireToHandOn(call, grant);
    const old = (await registry.refs.read<Key>(keyRef(path['key']!)))?.value;
    if (old?.org === org) await requireToOutlive(call, old.expiresAt);
    return answerNewKey(await rotateKey(registry, org, path['key']!, overlap, author, { judge }), context.url);
  },

  async revokeKey(call) {
    const { registry, org, path, author, query } = call;
    const stored = await registry.refs.read<Key>(keyRef(path['key']!));
    const here = stored && (await allowedHere(registry, org, stored.value));
    for (const grant of here?.grants ?? []) requireToHandOn(call, grant);
    await revokeKey(registry, here?.holder ?? org, path['key']!, author, { last: query['last'] === true });
    return { status: 204 };
  },
});

/** Throws `forbidden` if a key that expires, also one of a person, would make one that lives longer. Those of administrators may. */
async function requireToOutlive({ registry, principal, org }: Call, expiresAt: string | null): Promise<void> {
  const id = principal.kind === 'user' ? principal.key : principal.id;
  if (id === undefined || isAllowed(principal, 'admin', { org })) return;
  const own = (await registry.refs.read<Key>(keyRef(id)))?.value.expiresAt ?? null;
  if (own === null || (expiresAt !== null && Date.parse(expiresAt) <= Date.parse(own))) return;
  throw forbidden(`This key expires at ${own} and makes none that lives longer. Set expiresAt.`);
}

/** Throws `forbidden` for what the asker must not let a key do, or take from one: more than they may themselves. */
function requireToHandOn(
  { principal, org }: Call,
  { scopes, resources = null }: Pick<NewKey, 'scopes' | 'resources'> | Grant,
) {
  if (mayHandOn(principal, org, { scopes, resources })) return;
  const message = 'Only administrators make, change and revoke keys that allow more than the scope keys does.';
  throw forbidden(message);
}

/** Whose key it is and what it allows in this organization. Null: nothing. */
async function allowedHere(
  registry: Registry,
  org: string,
  key: Key,
): Promise<{ holder: string; grants: readonly Grant[] } | null> {
  if (key.org !== null) return key.org === org ? { holder: org, grants: [key] } : null;
  const here = (await personalKeysIn(registry, org)).find(({ key: { id } }) => id === key.id);
  return here === undefined ? null : { holder: holderOf(key), grants: here.grants };
}
