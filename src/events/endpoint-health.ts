import { webhookHealthRef, type Webhook, type WebhookHealth } from '../model/event.ts';
import type { Generation } from '../store/records.ts';
import type { Registry } from '../registry/registry.ts';

/** Reads the health of an endpoint. Null before its first failure. */
export async function readHealth(
  registry: Registry,
  { org, id }: Pick<Webhook, 'org' | 'id'>,
): Promise<Generation<WebhookHealth> | null> {
  return registry.refs.read<WebhookHealth>(webhookHealthRef(org, id));
}

/** Records the result of a delivery. Returns since when deliveries fail, or null. */
export async function noteHealth(
  registry: Registry,
  { org, id }: Pick<Webhook, 'org' | 'id'>,
  isReached: boolean,
): Promise<string | null> {
  const name = webhookHealthRef(org, id);
  const failing = (await registry.refs.read<WebhookHealth>(name))?.value.failingSince ?? null;
  if ((failing === null) === isReached) return failing;
  const updated = await registry.refs.update<WebhookHealth>(name, (current) => {
    const since = current?.value.failingSince ?? null;
    if ((since === null) === isReached) return null;
    const failingSince = isReached ? null : registry.now().toISOString();
    const change = { actor: `events:${org}`, origin: null, action: isReached ? 'recovered' : 'failing' };
    return { value: { failingSince }, change };
  });
  return updated?.value.failingSince ?? null;
}
