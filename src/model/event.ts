import { personId } from './key.ts';

/**
 * The event types that a webhook endpoint can subscribe to (design §9). Each is the CloudEvents
 * `type` `dev.stele.<type>`.
 */
export const eventTypes = [
  'version.published',
  'version.status-changed',
  'latest.moved',
  'visibility.changed',
  'approval.requested',
  'sync.completed',
  'sync.failed',
  'sync.recovered',
  'source.diverged',
  'source.detached',
  'source.private',
  'site.published',
  'consumer.affected',
] as const;
export type EventType = (typeof eventTypes)[number];

/**
 * An event as sent to an endpoint: a CloudEvent (CloudEvents 1.0.2, structured JSON). It contains
 * no document, no secret and no path on the server. The same occurrence always gets the same `id`,
 * whichever process finds it.
 */
export interface Event {
  specversion: '1.0';
  /** Sorts by time: 9 characters of time in base 36, then 22 of a digest. Also sent as `webhook-id`. */
  id: string;
  /** The organization: `<registry>/@org`. */
  source: string;
  /** `audit`: a change in an audit trail, for the endpoint of the configuration alone. */
  type: `dev.stele.${EventType | 'test' | 'audit'}`;
  /** A coordinate, or the public name of a repository. */
  subject: string;
  /** When it happened. ISO 8601, UTC. */
  time: string;
  datacontenttype: 'application/json';
  data: Record<string, unknown>;
}

/** The type without the CloudEvents prefix. */
export function eventTypeOf({ type }: Pick<Event, 'type'>): EventType | 'test' | 'audit' {
  return type.slice('dev.stele.'.length) as EventType | 'test' | 'audit';
}

/** How ids of events at this time (milliseconds since 1970) begin. Ids of later events sort after it. */
export function eventIdPrefix(time: number): string {
  return Math.max(0, time).toString(36).padStart(9, '0');
}

/** A secret that signs deliveries. */
export interface WebhookSecret {
  /** Sealed by `registry/seal.ts`. */
  sealed: string;
  /** When it stops signing next to a newer secret. Null: there is no newer one. ISO 8601, UTC. */
  until: string | null;
}

/** What an endpoint takes: CloudEvents, or messages of a chat program. */
export type WebhookFormat = 'cloudevents' | 'slack' | 'teams' | 'discord';

/** An endpoint that receives an organization's events: the value of one record. */
export interface Webhook {
  id: string;
  org: string;
  /** Shortened (`shortenUrl`) where there is `sealedUrl`. */
  url: string;
  /** The whole address of a chat, which is a secret, sealed by `registry/seal.ts`. */
  sealedUrl?: string;
  /** For people. */
  description: string;
  /** Null: all types. */
  events: EventType[] | null;
  /**
   * Globs of `type/slug` that limit which resources it receives events about: the globs of the key
   * that created it. Null: all.
   */
  resources: string[] | null;
  /** Absent: CloudEvents. */
  format?: WebhookFormat;
  /** A disabled endpoint receives nothing, and no events are kept for it. */
  state: 'enabled' | 'disabled';
  /** Why Stele disabled it. Null when Stele did not. */
  reason: string | null;
  /** Newest first. */
  secrets: WebhookSecret[];
  /** Events from this time on are sent: when it was created or last enabled. ISO 8601, UTC. */
  begins: string;
  createdAt: string;
  deletedAt: string | null;
}

/** The health of an endpoint: the value of a separate record. */
export interface WebhookHealth {
  /** When deliveries began to fail. Null when the last one succeeded. ISO 8601, UTC. */
  failingSince: string | null;
}

/** One attempt at a delivery. */
export interface Attempt {
  /** ISO 8601, UTC. */
  at: string;
  /** HTTP status of the response. Null when there was none. */
  status: number | null;
  milliseconds: number;
  /** Why the attempt failed. One sentence; null when it succeeded. */
  error: string | null;
}

/** The delivery of one event to one endpoint: the value of one record. */
export interface Delivery {
  org: string;
  webhook: string;
  /** The body, the same for each attempt. */
  event: Event;
  state: 'pending' | 'delivered' | 'failed';
  /** The last 20, oldest first. */
  attempts: Attempt[];
  /** Attempts since the delivery was created or last requested again. */
  tries: number;
  /** When the next attempt is due. Null: there are no more. ISO 8601, UTC. */
  nextAt: string | null;
  /** The process that is trying now, and when its claim expires. */
  claim: { by: string; until: string } | null;
}

/** An address that is a secret as people may see it: its host and its last four characters. */
export function shortenUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}/…${(pathname + search).slice(1).slice(-4)}`;
}

/** The URL of an endpoint as people and programs may see it. An earlier version stored the address of a chat as it is. */
export function shownUrl({ url, sealedUrl, format = 'cloudevents' }: Webhook): string {
  return format === 'cloudevents' || sealedUrl !== undefined ? url : shortenUrl(url);
}

/** The name of the record that holds an endpoint. */
export function webhookRef(org: string, id: string): string {
  return `webhooks/${org}/${id}`;
}

/** The name of the record that holds an endpoint's health. */
export function webhookHealthRef(org: string, id: string): string {
  return `webhook-health/${org}/${id}`;
}

/** The name of the record that holds a delivery. */
export function deliveryRef(org: string, webhook: string, event: string): string {
  return `deliveries/${org}/${webhook}/${event}`;
}

/** Parses a name made by `deliveryRef`. Null for any other record. */
export function parseDeliveryRef(name: string): { org: string; webhook: string; event: string } | null {
  const [kind, org, webhook, event, more] = name.split('/');
  if (kind !== 'deliveries' || !org || !webhook || !event || more !== undefined) return null;
  return { org, webhook, event };
}

/** What a person gets mail about. */
export interface Watch {
  id: string;
  org: string;
  /** Globs of `type/slug`. Null: everything in the organization that they may read. */
  resources: string[] | null;
  events: EventType[];
  /** Each event at once, or what happened in a mail a day or a week. */
  rhythm: 'once' | 'daily' | 'weekly';
  /** Events from this time on. ISO 8601, UTC. */
  begins: string;
}

/** All watches of a person: the value of one record. It has no address: that is kept with the last sign-in. */
export interface Watches {
  /** As the audit trail names them. */
  actor: string;
  watches: Watch[];
}

/** The name of the record of a person's watches. */
export function watchesRef(actor: string): string {
  return `watches/${personId(actor)}`;
}

const [day, hour] = [24 * 3_600_000, 3_600_000];
/** Milliseconds after midnight UTC at which digests are sent. */
const digestAt = 6 * hour;

/**
 * When an event at this time is due for a watch (milliseconds since 1970): at once, at the next 06:00 UTC, or on
 * the next Monday at 06:00 UTC.
 */
export function dueFor({ rhythm }: Pick<Watch, 'rhythm'>, time: number): number {
  if (rhythm === 'once') return time;
  const next = Math.floor((time - digestAt) / day + 1) * day + digestAt;
  if (rhythm === 'daily') return next;
  return next + ((8 - new Date(next).getUTCDay()) % 7) * day;
}
