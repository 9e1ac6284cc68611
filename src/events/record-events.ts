import type { Repository } from '../model/connection.ts';
import { isRegistryError } from '../model/errors.ts';
import { typeOf, type Event } from '../model/event.ts';
import type { Resource } from '../model/resource.ts';
import type { DocumentationSite } from '../model/sites/documentation-site.ts';
import type { Delivery, Webhook } from '../model/webhook.ts';
import type { Generation } from '../store/generations.ts';
import { createDelivery } from './delivery.ts';
import { eventsOfRepository, eventsOfResource, eventsOfSite, type Happened } from './events.ts';
import type { Registry } from '../registry/registry.ts';
import { listWebhooks, wants } from './endpoints.ts';

/** Until when an organization's events are known to be recorded: the value of one ref. */
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
const kinds = ['resources', 'repositories', 'sites'] as const;

/** Finds what changed since it last looked, and creates the deliveries. */
export interface Recorder {
  /**
   * Reads every ref of every organization with endpoints. Logs refs that cannot be read; the next
   * call tries them again.
   */
  recordAll(): Promise<void>;
  /** Reads one ref that was just appended to. */
  recordOne(name: string): Promise<void>;
}

/**
 * Creates a recorder. Code that publishes does not know about it: events come from comparing each
 * generation of a ref with the one before. So no publish can lose its events, and finding them
 * twice is harmless. `url`: public base URL. Calls `found` for each delivery. Stops early when the
 * signal aborts.
 */
export function createRecorder(
  registry: Registry,
  url: string,
  signal: AbortSignal,
  found: (delivery: Delivery) => void,
): Recorder {
  /** By ref: the generation up to which all deliveries exist for the endpoints in `served`. */
  const seen = new Map<string, number>();
  /** By organization: a fingerprint of its endpoints when `seen` was set. */
  const served = new Map<string, string>();

  /**
   * The enabled endpoints. When they have changed, refs are read again, because new endpoints may
   * want events that were skipped.
   */
  async function endpointsOf(org: string): Promise<Webhook[]> {
    const all = await listWebhooks(registry, org);
    const fingerprint = all.map(({ value, generation }) => `${value.id} ${generation}`).join();
    if (served.get(org) !== fingerprint) {
      for (const name of seen.keys()) if (name.split('/')[1] === org) seen.delete(name);
      served.set(org, fingerprint);
    }
    return all.map(({ value }) => value).filter(({ state }) => state === 'enabled');
  }

  /** Creates the deliveries for the changes of a ref since a time (milliseconds since 1970). */
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
    // If endpoints were added meanwhile, the ref is read again for them.
    if (served.get(org) === servedThen) seen.set(name, newest);
  }

  async function make(webhook: Webhook, event: Event): Promise<void> {
    try {
      found(await createDelivery(registry, webhook, event));
    } catch (error) {
      if (!isRegistryError(error, 'corrupt')) throw error;
      registry.log('error', 'damaged record passed over', {
        webhook: webhook.id,
        event: event.id,
        error: error.message,
      });
    }
  }

  /**
   * Calls `record` and returns whether nothing is left to do. A corrupt ref is skipped, so it does
   * not stop the others.
   */
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
    // While the log is damaged, not all of its changes are known: the mark stays before them.
    let isWhole = await isWholeLog(org);
    for (const kind of kinds) {
      for await (const { name, generation } of registry.refs.newest(`${kind}/${org}/`)) {
        if (signal.aborted) return;
        if (seen.get(name) !== generation) isWhole = (await tryRecord(name, endpoints, since)) && isWhole;
      }
    }
    if (isWhole) await moveMark(org, startedAt);
  }

  async function isWholeLog(org: string): Promise<boolean> {
    try {
      await registry.refs.refresh(`resources/${org}/`);
      return true;
    } catch (error) {
      if (!isRegistryError(error, 'corrupt')) throw error;
      return false;
    }
  }

  /** How far back history must be read: milliseconds since 1970. */
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

/** The events between two successive generations of a ref, newest first like its history. */
function eventsBetween(
  name: string,
  url: string,
  before: Generation<unknown> | null,
  after: Generation<unknown>,
): Happened[] {
  const events = name.startsWith('resources/')
    ? eventsOfResource(url, before as Generation<Resource> | null, after as Generation<Resource>)
    : name.startsWith('sites/')
      ? eventsOfSite(url, before as Generation<DocumentationSite> | null, after as Generation<DocumentationSite>)
      : eventsOfRepository(url, before as Generation<Repository> | null, after as Generation<Repository>);
  return events.reverse();
}
