import { formatPrincipal } from '../../model/access.ts';
import { forbidden } from '../../model/errors.ts';
import { pick } from '../../model/json.ts';
import type { Key } from '../../model/key.ts';
import {
  decideDevice,
  readDevice,
  askForKey,
  takeKey,
  createPersonalKey,
  type NewPersonalKey,
} from '../../registry/keys/personal-keys.ts';
import { listKeys } from '../../registry/keys/list-keys.ts';
import { readKeyUse, revokeKey } from '../../registry/keys/keys.ts';
import { bodyOf, type Call, type Answer, operationsAbout, sendList } from './call.ts';
import { answerNewKey, keyRecord } from './resource-records.ts';
import { absent } from '../error-answers.ts';
import type { ServerContext } from '../server-context.ts';
import type { Watch } from '../../model/event.ts';
import { createWatch, deleteWatch, listWatches, type NewWatch } from '../../registry/keys/watches.ts';

/** The person who asks, as the audit trail names them. Throws `forbidden` for the key of an organization. */
function personOf({ principal, context }: Call): string {
  if (principal.kind === 'user') return formatPrincipal(principal);
  const message = `Only people who sign in with an identity provider have keys of their own. Sign in at ${context.url}/account.`;
  throw forbidden(message);
}

/** As `personOf`, for what a key must not do: one that was stolen would make others that outlive it. */
function personWithSession(call: Call): string {
  const person = personOf(call);
  if (call.principal.kind === 'user' && call.principal.key === undefined) return person;
  throw forbidden(`A key cannot make keys. Sign in at ${call.context.url}/account.`);
}

export const personOperations = operationsAbout('itself', {
  async listMyKeys(call) {
    const keys: Key[] = await listKeys(call.registry, personOf(call));
    return sendList(call, keys, {
      describe: async (key) => keyRecord(key, await readKeyUse(call.registry, key.id)),
      keyOf: ({ id }) => id,
    });
  },

  async createMyKey(call) {
    const { registry, author } = call;
    const given = bodyOf<NewPersonalKey>(call);
    return answerNewKey(await createPersonalKey(registry, personWithSession(call), given, author));
  },

  async revokeMyKey(call) {
    await revokeKey(call.registry, personOf(call), call.path['key']!, call.author);
    return { status: 204 };
  },

  async getDevice(call) {
    personWithSession(call);
    const device = await readDevice(call.registry, call.path['code']!);
    return { status: 200, body: pick(device, 'name', 'scopes', 'organizations', 'address', 'askedAt', 'expiresAt') };
  },

  async decideDevice(call) {
    const { granted } = bodyOf<{ granted: boolean }>(call);
    const decision = { person: personWithSession(call), isGranted: granted };
    await decideDevice(call.registry, call.path['code']!, decision, call.author);
    return { status: 200, body: { granted } };
  },

  async listMyWatches(call) {
    const watches = await listWatches(call.registry, personOf(call));
    return sendList(call, watches, { describe: watchRecord, keyOf: ({ id }) => id });
  },

  async createMyWatch(call) {
    const { organization: org, ...given } = bodyOf<Omit<NewWatch, 'org'> & { organization: string }>(call);
    const watch = await createWatch(call.registry, personOf(call), { ...given, org }, call.author);
    return { status: 201, body: watchRecord(watch) };
  },

  async deleteMyWatch(call) {
    await deleteWatch(call.registry, personOf(call), call.path['watch']!, call.author);
    return { status: 204 };
  },
});

/** Seconds between two questions of a program. */
const interval = 3;

type Context = Pick<ServerContext, 'registry' | 'url'>;

/** `POST /v1/devices`: a program asks for a key of a person. */
export async function askForKeyOf({ registry, url }: Context, body: unknown, address: string | null): Promise<Answer> {
  if (registry.config.login === null) throw absent();
  const asked = await askForKey(registry, body as Parameters<typeof askForKey>[1], address);
  const place = `${url}/console/-/device`;
  const complete = `${place}?code=${asked.userCode}`;
  return { status: 201, body: { ...asked, verificationUri: place, verificationUriComplete: complete, interval } };
}

/** `POST /v1/devices/token`: the program takes the key, or learns that there is none yet. */
export async function takeKeyOf({ registry }: Context, body: unknown, address: string | null): Promise<Answer> {
  const taken = await takeKey(registry, (body as { deviceCode: string }).deviceCode, address);
  if (taken.state !== 'granted') return { status: 200, body: { state: taken.state } };
  return answerNewKey(taken);
}

function watchRecord({ id, org, resources, events, rhythm, begins }: Watch): object {
  return { id, organization: org, resources, events, rhythm, createdAt: begins };
}
