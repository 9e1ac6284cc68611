import { readSecret } from '../config/environment.ts';
import { digestOf, hexOf } from '../model/digest.ts';
import { eventIdPrefix, type Event, type Webhook } from '../model/event.ts';
import { readAudit } from '../registry/audit.ts';
import type { Registry } from '../registry/registry.ts';

/** The id of the operator's endpoint, among those of each organization. Other ids have 20 characters. */
export const auditId = 'audit';

const always = new Date(0).toISOString();

/** The endpoint of the configuration that receives the audit trails of all organizations, as one of this. Null: none. */
export function auditEndpoint({ config }: Pick<Registry, 'config'>, org: string): Webhook | null {
  const { audit } = config.webhooks;
  if (audit === undefined) return null;
  const dates = { begins: always, createdAt: always, deletedAt: null };
  const whatever = { description: '', events: [], resources: null, reason: null, secrets: [] };
  return { id: auditId, org, url: audit.url, state: 'enabled', ...whatever, ...dates };
}

/** The secret that signs what this endpoint gets. */
export function auditSecret({ config }: Pick<Registry, 'config'>): string {
  return readSecret(config.webhooks.audit!.secret);
}

/**
 * The changes in an organization's audit trail since a time (milliseconds since 1970) as events, oldest first. The same
 * change always gives the same event.
 */
export async function auditEvents(registry: Registry, url: string, org: string, since: number): Promise<Event[]> {
  const events: Event[] = [];
  for await (const { entry } of readAudit(registry, org, { since })) {
    const { at, subject } = entry;
    const digest = hexOf(digestOf(JSON.stringify([org, entry])));
    events.push({
      specversion: '1.0',
      id: eventIdPrefix(Date.parse(at)) + digest.slice(0, 22),
      source: `${url}/@${org}`,
      type: 'dev.stele.audit',
      subject: subject.id,
      time: at,
      datacontenttype: 'application/json',
      data: { organization: org, ...entry },
    });
  }
  return events.reverse();
}
