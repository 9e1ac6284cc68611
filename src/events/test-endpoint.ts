import { RegistryError } from '../model/errors.ts';
import type { Attempt } from '../model/event.ts';
import { testEvent } from './events.ts';
import { newId, type Registry } from '../registry/registry.ts';
import { sendEvent, type SendOptions } from './send-event.ts';
import { findWebhook } from './endpoints.ts';

/**
 * Sends an event of type `dev.stele.test` to an endpoint once, even if it is disabled, and returns
 * the result. It is not logged and has no other effect. Rejects with `not_found` for an unknown
 * endpoint.
 */
export async function testWebhook(
  registry: Registry,
  url: string,
  org: string,
  id: string,
  options: SendOptions = {},
): Promise<Attempt> {
  const webhook = await findWebhook(registry, org, id);
  if (webhook === null) throw new RegistryError('not_found', 'There is no such endpoint.');
  return sendEvent(registry, webhook.value, testEvent(url, org, newId(registry), registry.now()), options);
}
