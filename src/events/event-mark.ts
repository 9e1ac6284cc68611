import type { Webhook } from '../model/webhook.ts';
import type { Registry } from '../registry/registry.ts';

/** Until when an organization's events are known to be recorded: the value of one record. */
interface EventMark {
  since: string;
}

/**
 * Milliseconds before the mark that are read again, because clocks differ and writes take time to
 * become visible.
 */
const overlap = 10 * 60_000;
/** Milliseconds after which an unrecorded event is too old to send. */
const oldest = 5 * 24 * 60 * 60_000;
/** Milliseconds between two generations of a mark. It only saves work after a restart. */
const resolution = 60_000;

/** How far back an organization's history must be read for its endpoints: milliseconds since 1970. */
export async function readFrom(
  registry: Registry,
  org: string,
  endpoints: readonly Pick<Webhook, 'begins'>[],
): Promise<number> {
  const mark = (await registry.refs.read<EventMark>(markRef(org)))?.value ?? null;
  const begins = Math.min(...endpoints.map((endpoint) => Date.parse(endpoint.begins)));
  const marked = mark === null ? 0 : Date.parse(mark.since) - overlap;
  return Math.max(begins, marked, registry.now().getTime() - oldest);
}

/** Saves that all events before this time (milliseconds since 1970) are recorded, at most once a minute. */
export async function moveMark(registry: Registry, org: string, time: number): Promise<void> {
  const since = new Date(time).toISOString();
  const isEnough = (mark: EventMark | undefined) => mark !== undefined && time - Date.parse(mark.since) < resolution;
  if (isEnough((await registry.refs.read<EventMark>(markRef(org)))?.value)) return;
  await registry.refs.update<EventMark>(markRef(org), (current) => {
    if (isEnough(current?.value)) return null;
    return { value: { since }, change: { actor: `events:${org}`, origin: null, action: 'recorded' } };
  });
}

function markRef(org: string): string {
  return `event-marks/${org}`;
}
