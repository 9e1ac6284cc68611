/** What endpoints can be told of (design §9). Closed: one CloudEvents `type` each, `dev.stele.<type>`. */
export const eventTypes = [
  'version.published',
  'version.status-changed',
  'latest.moved',
  'visibility.changed',
  'sync.failed',
  'sync.recovered',
  'source.diverged',
  'site.published',
] as const;
export type EventType = (typeof eventTypes)[number];

/**
 * What an endpoint is sent: a CloudEvent (CloudEvents 1.0.2, structured JSON). It holds no document, no secret and no path of this machine.
 * The same happening has the same `id` whenever and by whomever it is found.
 */
export interface Event {
  specversion: '1.0';
  /** Sorts by time: 9 characters of time in base 36, 22 of a digest. The same in `webhook-id`. */
  id: string;
  /** The organization: `<registry>/@org`. */
  source: string;
  type: `dev.stele.${EventType | 'test'}`;
  /** A coordinate, or the public name of a repository. */
  subject: string;
  /** When it happened. ISO 8601, UTC. */
  time: string;
  datacontenttype: 'application/json';
  data: Record<string, unknown>;
}

/** The type without what CloudEvents wants before it. */
export function typeOf({ type }: Pick<Event, 'type'>): EventType | 'test' {
  return type.slice('dev.stele.'.length) as EventType | 'test';
}

/** The beginning of the ids of what happens at a time (milliseconds since 1970), and before the ids of all that happens later. */
export function eventIdPrefix(time: number): string {
  return Math.max(0, time).toString(36).padStart(9, '0');
}
