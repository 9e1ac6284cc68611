import type { EventType } from './event.ts';
import { personId } from './keys/person.ts';

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
