import type { Repository } from '../model/connection.ts';
import { isRegistryError } from '../model/errors.ts';
import { typeOf, type Event } from '../model/event.ts';
import type { Resource } from '../model/resource.ts';
import type { Delivery, Webhook } from '../model/webhook.ts';
import { newestGenerations, type Generation } from '../store/generations.ts';
import { createDelivery } from './delivery.ts';
import { eventsOfRepository, eventsOfResource, type Happened } from './events.ts';
import type { Registry } from '../registry/registry.ts';
import { listWebhooks, wants } from './endpoints.ts';

/** Until when an organization's events are known to have been written down: the value of one ref. */
interface EventMark {
  since: string;
}

/** Milliseconds that are looked at again before the mark: clocks differ, and a write takes a while between its time and its being seen. */
const overlap = 10 * 60_000;
/** Milliseconds after which an event that nobody wrote down is not news any more. */
const oldest = 5 * 24 * 60 * 60_000;
/** Milliseconds between two generations of a mark: it saves work after a restart, and nothing depends on it. */
const resolution = 60_000;
const kinds = ['resources', 'repositories'] as const;

/** Writes down what is to be sent: looks at what changed since it last looked, and makes the deliveries of that. */
export interface Recorder {
  /** Looks at every ref of every organization that has endpoints. What cannot be looked at now is told in the log, and looked at next time. */
  recordAll(): Promise<void>;
  /** Looks at one ref that was just appended to. */
  recordOne(name: string): Promise<void>;
}

/**
 * A recorder. Nothing that publishes knows of it: events are found by comparing each generation of a ref with the one before, so none can be
 * published and lost, and finding one twice finds the same. `url`: public base URL; `found` is told of each delivery. Stops early when the
 * signal says so.
 */
export function createRecorder(
  registry: Registry,
  url: string,
  signal: AbortSignal,
  found: (delivery: Delivery) => void,
): Recorder {
  /** By ref: the generation up to which all deliveries were made for the endpoints that there were. */
  const seen = new Map<string, number>();
  /** By organization: its endpoints as they stood when `seen` was noted. */
  const served = new Map<string, string>();

  /** The endpoints that are to be told. When they are others than before, they may want what was passed over. */
  async function endpointsOf(org: string): Promise<Webhook[]> {
    const all = await listWebhooks(registry, org);
    const fingerprint = all.map(({ value, generation }) => `${value.id} ${generation}`).join();
    if (served.get(org) !== fingerprint) {
      for (const name of seen.keys()) if (name.split('/')[1] === org) seen.delete(name);
      served.set(org, fingerprint);
    }
    return all.map(({ value }) => value).filter(({ state }) => state === 'enabled');
  }

  /** Makes the deliveries of what a ref says happened since a time (milliseconds since 1970). */
  async function record(name: string, endpoints: readonly Webhook[], since: number): Promise<void> {
    const from = seen.get(name) ?? 0;
    const org = name.split('/')[1]!;
    const servedThen = served.get(org);
    const happened: Happened[] = [];
    let newest = 0;
    let after: Generation<unknown> | null = null;
    for await (const generation of registry.refs.history<unknown>(name)) {
      newest ||= generation.generation;
      if (after !== null) happened.push(...eventsBetween(name, url, generation, after));
      after = generation;
      if (generation.generation <= from || Date.parse(generation.at) < since) break;
      if (generation.generation === 1) happened.push(...eventsBetween(name, url, null, generation));
    }
    for (const { event, resources } of happened.reverse()) {
      const type = typeOf(event);
      for (const webhook of endpoints) {
        if (type === 'test' || event.time < webhook.begins || !wants(webhook, type, resources)) continue;
        await make(webhook, event);
      }
    }
    // Endpoints that came meanwhile may want it, too: then it is looked at again.
    if (served.get(org) === servedThen) seen.set(name, newest);
  }

  async function make(webhook: Webhook, event: Event): Promise<void> {
    try {
      found(await createDelivery(registry, webhook, event));
    } catch (error) {
      if (!isRegistryError(error, 'corrupt')) throw error;
      registry.log('error', 'damaged ref passed over', { webhook: webhook.id, event: event.id, error: error.message });
    }
  }

  /** As `record`; whether nothing is left to do. A damaged ref is passed over: it holds nobody else's events up. */
  async function tryRecord(name: string, endpoints: readonly Webhook[], since: number): Promise<boolean> {
    try {
      await record(name, endpoints, since);
      return true;
    } catch (error) {
      const isDamaged = isRegistryError(error, 'corrupt');
      registry.log(isDamaged ? 'error' : 'warn', 'events not recorded', { ref: name, error: String(error) });
      return isDamaged;
    }
  }

  async function recordOrganization(org: string): Promise<void> {
    const endpoints = await endpointsOf(org);
    if (endpoints.length === 0) return;
    const startedAt = registry.now().getTime();
    const since = await sinceWhen(org, endpoints);
    let isWhole = true;
    for (const kind of kinds) {
      for await (const { name, generation } of newestGenerations(registry.bucket, `${kind}/${org}/`)) {
        if (signal.aborted) return;
        if (seen.get(name) !== generation) isWhole = (await tryRecord(name, endpoints, since)) && isWhole;
      }
    }
    if (isWhole) await moveMark(org, startedAt);
  }

  /** From when on history is to be looked at. */
  async function sinceWhen(org: string, endpoints: readonly Webhook[]): Promise<number> {
    const mark = (await registry.refs.read<EventMark>(markRef(org)))?.value ?? null;
    const begins = Math.min(...endpoints.map((endpoint) => Date.parse(endpoint.begins)));
    const marked = mark === null ? 0 : Date.parse(mark.since) - overlap;
    return Math.max(begins, marked, registry.now().getTime() - oldest);
  }

  async function moveMark(org: string, time: number): Promise<void> {
    const since = new Date(time).toISOString();
    const isEnough = (mark: EventMark | undefined) => mark !== undefined && time - Date.parse(mark.since) < resolution;
    if (isEnough((await registry.refs.read<EventMark>(markRef(org)))?.value)) return;
    await registry.refs.update<EventMark>(markRef(org), (current) => {
      if (isEnough(current?.value)) return null;
      return { value: { since }, change: { actor: `events:${org}`, origin: null, action: 'recorded' } };
    });
  }

  return {
    async recordAll() {
      const names = await Array.fromAsync(registry.refs.list('webhooks/'));
      for (const org of new Set(names.map((name) => name.split('/')[1]!))) await recordOrganization(org);
    },
    async recordOne(name) {
      const [kind, org] = name.split('/');
      if (!kinds.some((each) => each === kind)) return;
      const endpoints = await endpointsOf(org!);
      if (endpoints.length > 0) await tryRecord(name, endpoints, await sinceWhen(org!, endpoints));
    },
  };
}

function markRef(org: string): string {
  return `event-marks/${org}`;
}

/** What happened between two generations of a ref that follow each other: newest first, as its history is walked. */
function eventsBetween(
  name: string,
  url: string,
  before: Generation<unknown> | null,
  after: Generation<unknown>,
): Happened[] {
  const events = name.startsWith('resources/')
    ? eventsOfResource(url, before as Generation<Resource> | null, after as Generation<Resource>)
    : eventsOfRepository(url, before as Generation<Repository> | null, after as Generation<Repository>);
  return events.reverse();
}
