import { RegistryError } from '../model/errors.ts';
import type { Attempt } from '../model/webhook.ts';
import { testEvent } from './events.ts';
import { newId, type Registry } from '../registry/registry.ts';
import { sendEvent, type SendOptions } from './send-event.ts';
import { findWebhook } from './endpoints.ts';

/**
 * Sends an endpoint an event of the type `dev.stele.test`, now and once, also where it is disabled, and tells how that went. It stands in no log, and
 * nothing follows from it. `not_found` for no such endpoint.
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
