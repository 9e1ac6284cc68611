import { deliveryRef, type Attempt, type Webhook } from '../model/event.ts';
import type { Registry } from '../registry/registry.ts';
import { claimDelivery, finishDelivery } from './delivery.ts';
import { noteHealth } from './endpoint-health.ts';
import { disableWebhook, findWebhook } from './endpoints.ts';
import { auditEndpoint, auditId } from './audit-endpoint.ts';
import { findWatch } from '../registry/keys/watches.ts';
import { tryMail } from './try-mail.ts';
import { sendEvent, type SendOptions } from './send-event.ts';

/** Milliseconds without a success after which an endpoint is disabled. */
const patience = 5 * 24 * 60 * 60_000;

/** The delivery of one event to one endpoint, by their ids. */
export interface DeliveryName {
  org: string;
  webhook: string;
  event: string;
}

/**
 * Tries a delivery once if it is due and no other process is trying it, and records the attempt.
 * `by`: this process. Returns when to look at it again (milliseconds since 1970), or null if a
 * change of its record will say so.
 */
export async function tryDelivery(
  registry: Registry,
  by: string,
  { org, webhook: id, event }: DeliveryName,
  options: SendOptions & { url: string },
): Promise<number | null> {
  const watch = await findWatch(registry, org, id);
  if (watch !== null) return tryMail(registry, by, watch, event, options.url);
  const webhook =
    id === auditId ? auditEndpoint(registry, org) : ((await findWebhook(registry, org, id))?.value ?? null);
  if (webhook === null) return null;
  const name = deliveryRef(org, id, event);
  const claimed = await claimDelivery(registry, name, by);
  if (claimed.state === 'waits') return claimed.until;
  if (claimed.state !== 'ours') return null;
  if (webhook.state === 'disabled') {
    const at = registry.now().toISOString();
    const attempt: Attempt = { at, status: null, milliseconds: 0, error: 'The endpoint is disabled.' };
    await finishDelivery(registry, name, by, attempt, true);
    return null;
  }
  const attempt = await sendEvent(registry, webhook, claimed.delivery.event, options);
  const isGone = attempt.status === 410 && id !== auditId;
  const { state } = await finishDelivery(registry, name, by, attempt, isGone);
  if (state === 'failed') registry.log('warn', 'delivery failed', { org, webhook: id, event, error: attempt.error });
  if (id !== auditId) await judge(registry, webhook, attempt);
  return null;
}

/** Disables an endpoint that answers 410 (Standard Webhooks) or has accepted nothing for days. */
async function judge(registry: Registry, webhook: Webhook, { status, error }: Attempt): Promise<void> {
  if (status === 410) return disableWebhook(registry, webhook, 'The endpoint answered 410 Gone.');
  const failingSince = await noteHealth(registry, webhook, error === null);
  if (failingSince === null) return;
  // The time starts again when an endpoint is enabled.
  const since = failingSince > webhook.begins ? failingSince : webhook.begins;
  if (registry.now().getTime() - Date.parse(since) >= patience)
    await disableWebhook(registry, webhook, `No delivery has succeeded since ${since}.`);
}
