import { partOf } from '../../model/access.ts';
import { forbidden, conflict } from '../../model/errors.ts';
import { deliveryRef, shownUrl, type Delivery, type Webhook } from '../../model/event.ts';
import { redeliver, readHealth } from '../../events/delivery.ts';
import { readAmong } from '../../registry/stored.ts';
import { testEvent } from '../../events/events.ts';
import { sendEvent } from '../../events/send-event.ts';
import { newId } from '../../registry/registry.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateSecret,
  type NewWebhook,
  type WebhookChange,
  type WithSecret,
} from '../../events/endpoints.ts';
import type { Generation } from '../../store/records.ts';
import { absent } from '../error-answers.ts';
import {
  answerRecord,
  bodyOf,
  type Call,
  guardOf,
  matchesQuery,
  sendPage,
  operationsAbout,
  sendSorted,
} from './call.ts';
import { deliveryRecord, webhookRecord } from './resource-records.ts';

export const webhookOperations = operationsAbout('part', {
  async listWebhooks(call) {
    const { registry, org } = call;
    return sendSorted(call, await listWebhooks(registry, org), {
      isShown: ({ value }) => isCovered(call, value) && matchesQuery(call, shownUrl(value), value.description),
      describe: async (webhook) => webhookRecord(webhook, (await readHealth(registry, webhook.value))?.value ?? null),
      keyOf: ({ value }) => value.id,
    });
  },

  async createWebhook(call) {
    const { registry, org, author, context } = call;
    const given = bodyOf<NewWebhook>(call);
    const resources = coveredBy(call, given.resources);
    const webhook = await createWebhook(registry, org, { ...given, resources }, author);
    const { headers, body } = await describe(call, webhook.webhook);
    const location = `${context.url}/v1/webhooks/${webhook.webhook.value.id}`;
    return { status: 201, headers: { ...headers, Location: location }, body: { ...body, secret: webhook.secret } };
  },

  getWebhook: async (call) => describe(call, await findCovered(call)),

  async updateWebhook(call) {
    const { registry, org, author } = call;
    const { id } = (await findCovered(call)).value;
    const given = bodyOf<WebhookChange>(call);
    const change = given.resources === undefined ? given : { ...given, resources: coveredBy(call, given.resources) };
    return describe(call, await changeWebhook(registry, org, id, change, author, guardOf(call)));
  },

  async deleteWebhook(call) {
    const { id } = (await findCovered(call)).value;
    await deleteWebhook(call.registry, call.org, id, call.author, guardOf(call));
    return { status: 204 };
  },

  async rotateWebhookSecret(call) {
    const { id } = (await findCovered(call)).value;
    const { webhook, secret }: WithSecret = await rotateSecret(call.registry, call.org, id, call.author);
    const { headers, body } = await describe(call, webhook);
    return { status: 200, headers, body: { ...body, secret } };
  },

  /** Sends it once, also to an endpoint that is disabled. It is not logged and has no other effect. */
  async testWebhook(call) {
    const { registry, org, context } = call;
    const { value } = await findCovered(call);
    const event = testEvent(context.url, org, newId(registry), registry.now());
    const attempt = await sendEvent(registry, value, event);
    return { status: 200, body: { delivered: attempt.error === null, ...attempt } };
  },

  async listDeliveries(call) {
    const { registry, org, query } = call;
    const { id } = (await findCovered(call)).value;
    async function* deliveries(before: string | null) {
      const names = await Array.fromAsync(registry.refs.list(deliveryRef(org, id, '')));
      for (const name of names.reverse()) {
        if (before !== null && name >= deliveryRef(org, id, before)) continue;
        const delivery = (await readAmong<Delivery>(registry, name))?.value;
        if (delivery) yield delivery;
      }
    }
    return sendPage(call, deliveries, {
      isShown: ({ state }) => query['state'] === undefined || state === query['state'],
      describe: deliveryRecord,
      keyOf: ({ event }) => event.id,
    });
  },

  async redeliverEvent(call) {
    const { registry, org, path, author } = call;
    const { id, state } = (await findCovered(call)).value;
    if (state === 'disabled') throw conflict('The endpoint is disabled. Enable it first.');
    const { value } = await redeliver(registry, org, id, path['event']!, author);
    return { status: 202, body: deliveryRecord(value) };
  },
});

/**
 * The resources of an endpoint: an endpoint receives events only of those that the key covers. Throws `forbidden` if
 * others are asked for.
 */
function coveredBy(call: Call, given: string[] | null | undefined): string[] | null {
  const resources = given ?? partOf(call.principal, call.org, 'admin')?.slice() ?? null;
  if (isCovered(call, { resources })) return resources;
  throw forbidden('This key is limited to some resources. `resources` may contain only globs of the key.');
}

/**
 * The endpoint in the path. Throws `not_found` if it does not exist, or receives events of
 * resources that the key does not cover.
 */
async function findCovered(call: Call): Promise<Generation<Webhook>> {
  const webhook = await findWebhook(call.registry, call.org, call.path['webhook']!);
  if (webhook === null || !isCovered(call, webhook.value)) throw absent();
  return webhook;
}

/** Whether the asker covers all resources of the endpoint: each glob must be one of theirs. */
function isCovered({ principal, org }: Call, { resources }: Pick<Webhook, 'resources'>): boolean {
  const part = partOf(principal, org, 'admin');
  return part === null || (resources !== null && resources.every((glob) => part.includes(glob)));
}

async function describe({ registry }: Call, webhook: Generation<Webhook>) {
  const health = await readHealth(registry, webhook.value);
  return answerRecord(webhookRecord(webhook, health?.value ?? null), webhook.generation, health?.generation ?? 0);
}
