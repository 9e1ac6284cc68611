/**
 * The event types that a webhook endpoint can subscribe to (design §9). Each is the CloudEvents
 * `type` `dev.stele.<type>`.
 */
export const eventTypes = [
  'version.published',
  'version.status-changed',
  'latest.moved',
  'visibility.changed',
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
  /**
   * Sorts by time: 9 characters of time in base 36, then 22 of a digest. Also sent as `webhook-id`.
   */
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
export function typeOf({ type }: Pick<Event, 'type'>): EventType | 'test' | 'audit' {
  return type.slice('dev.stele.'.length) as EventType | 'test' | 'audit';
}

/**
 * The first characters of the ids of events at this time (milliseconds since 1970). Ids of later
 * events sort after it.
 */
export function eventIdPrefix(time: number): string {
  return Math.max(0, time).toString(36).padStart(9, '0');
}
