import { insteadOf, isRegistryError, onRefusal } from '../model/errors.ts';
import { eventTypeOf, type Event, type Delivery, type Webhook } from '../model/event.ts';
import type { Registry } from '../registry/registry.ts';
import { pinsOf, type Pin, affectedBy, type Affected } from '../registry/graph/affected.ts';
import { listOrganizations } from '../registry/maintenance/organizations.ts';
import { auditEndpoint, auditEvents, auditId, listWebhooks, wants } from './endpoints.ts';
import { watchedOrganizations, watchesOn, type PersonsWatch } from '../registry/keys/watches.ts';
import { createDelivery } from './delivery.ts';
import { type Resource, coordinateOf, nameOf } from '../model/resource.ts';
import type { Generation } from '../store/records.ts';
import { parseApprovalsRef, type Approvals } from '../model/approval.ts';
import {
  eventsOfApprovals,
  eventsOfRepository,
  eventsOfResource,
  eventsOfSite,
  type Happened,
  type Step,
  eventOf,
  versionData,
} from './events.ts';
import { toldChanges } from '../model/compared-with.ts';

/** Milliseconds between two looks at what the consumers of an organization pinned. Less than what is read again anyway. */
const pinsEvery = 60_000;

/** What receives events of an organization: an endpoint, or a person who watches. */
type Endpoint = Webhook | PersonsWatch;

/**
 * Creates what finds what changed since it last looked, and creates the deliveries. Code that publishes does not know
 * about it: events come from comparing each generation of a record with the one before. So no publish can lose its
 * events, and finding them twice is harmless. `url`: public base URL. Calls `onDelivery` for each delivery. Stops early
 * when the signal aborts.
 */
export function createRecorder(
  registry: Registry,
  url: string,
  signal: AbortSignal,
  onDelivery: (delivery: Delivery) => void,
) {
  /** By ref: the generation up to which all deliveries exist for the endpoints in `served`. */
  const generations = new Map<string, number>();
  /** By organization: when its consumers were last looked at, by the monotonic clock. */
  const lookedAt = new Map<string, number>();
  /** By organization: how far its audit trail was read for the endpoint of the configuration. */
  const audited = new Map<string, number>();
  /** By organization: a fingerprint of its endpoints when `generations` was set. */
  const served = new Map<string, string>();

  /**
   * The enabled endpoints. When they have changed, refs are read again, because new endpoints may
   * want events that were skipped.
   */
  async function endpointsOf(org: string): Promise<Endpoint[]> {
    const all = await listWebhooks(registry, org);
    const watches = registry.config.mail === null ? [] : await watchesOn(registry, org);
    const fingerprint = [
      ...all.map(({ value, generation }) => `${value.id} ${generation}`),
      ...watches.map(({ id }) => id),
    ].join();
    if (served.get(org) !== fingerprint) {
      for (const name of generations.keys()) if (name.split('/')[1] === org) generations.delete(name);
      served.set(org, fingerprint);
    }
    return [...all.map(({ value }) => value).filter(({ state }) => state === 'enabled'), ...watches];
  }

  /** Creates the deliveries for the changes of a record since a time (milliseconds since 1970). */
  async function record(name: string, endpoints: readonly Endpoint[], since: number, pins?: Pin[]): Promise<void> {
    const org = pins?.[0]?.org ?? name.split('/')[1]!;
    const key = pins === undefined ? name : `pins/${org}/${name}`;
    const from = generations.get(key) ?? 0;
    const servedThen = served.get(org);
    const { happened, newest } = await eventsSince(registry, url, name, { from, since, pins: pins ?? null });
    for (const { event, resources } of happened) {
      const type = eventTypeOf(event);
      for (const webhook of endpoints) {
        if (type === 'test' || type === 'audit' || event.time < webhook.begins || !wants(webhook, type, resources))
          continue;
        await make(webhook, event);
      }
    }
    // If endpoints were added meanwhile, the ref is read again for them.
    if (served.get(org) === servedThen) generations.set(key, newest);
  }

  async function make(webhook: Endpoint, event: Event): Promise<void> {
    const passOver = onRefusal('corrupt', ({ message: error }) =>
      registry.log('error', 'damaged record passed over', { webhook: webhook.id, event: event.id, error }),
    );
    await createDelivery(registry, webhook, event).then(onDelivery).catch(passOver);
  }

  /**
   * Calls `record` and returns whether nothing is left to do. A corrupt record is skipped, so it does
   * not stop the others.
   */
  async function tryRecord(
    name: string,
    endpoints: readonly Endpoint[],
    since: number,
    pins?: Pin[],
  ): Promise<boolean> {
    try {
      await record(name, endpoints, since, pins);
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
    const since = await readFrom(registry, org, endpoints);
    // While the log is damaged, not all of its changes are known: the mark stays before them.
    let isWhole = await isWholeLog(registry, org);
    for (const kind of eventKinds) {
      for await (const { name, generation } of registry.refs.newest(`${kind}/${org}/`)) {
        if (signal.aborted) return;
        if (generations.get(name) !== generation) isWhole = (await tryRecord(name, endpoints, since)) && isWhole;
      }
    }
    if (endpoints.some(({ events }) => events === null || events.includes('consumer.affected')))
      isWhole = (await recordPins(org, endpoints, since)) && isWhole;
    if (isWhole) await moveMark(registry, org, startedAt);
  }

  /** What happened to the contracts of an organization's consumers, which are resources of any organization. */
  async function recordPins(org: string, endpoints: readonly Endpoint[], since: number): Promise<boolean> {
    const now = registry.monotonic();
    if (now - (lookedAt.get(org) ?? -Infinity) < pinsEvery) return true;
    lookedAt.set(org, now);
    let isWhole = true;
    for (const [name, pins] of await pinsOf(registry, org)) {
      if (signal.aborted) return false;
      const newest = (await registry.refs.read(name))?.generation;
      if (generations.get(`pins/${org}/${name}`) !== newest)
        isWhole = (await tryRecord(name, endpoints, since, pins)) && isWhole;
    }
    return isWhole;
  }

  /** What was added to an organization's audit trail, for the endpoint of the configuration. */
  async function recordAudit(org: string): Promise<void> {
    const endpoint = auditEndpoint(registry, org);
    if (endpoint === null) return;
    const newest = (await registry.refs.newestEntry(org)) + (await registry.refs.newestEntry(null));
    if (audited.get(org) === newest) return;
    const startedAt = registry.now().getTime();
    const mark = `${auditId}.${org}`;
    for (const event of await auditEvents(registry, url, org, await readFrom(registry, mark, [endpoint])))
      await make(endpoint, event);
    audited.set(org, newest);
    if (await isWholeLog(registry, org)) await moveMark(registry, mark, startedAt);
  }

  return {
    /**
     * Reads every ref of every organization with endpoints. Logs refs that cannot be read; the next
     * call tries them again.
     */
    async recordAll(): Promise<void> {
      const names = await Array.fromAsync(registry.refs.list('webhooks/'));
      const watched = registry.config.mail === null ? [] : await watchedOrganizations(registry);
      for (const org of new Set([...names.map((name) => name.split('/')[1]!), ...watched]))
        await recordOrganization(org);
      if (registry.config.webhooks.audit === undefined) return;
      for (const org of await listOrganizations(registry)) {
        if (signal.aborted) return;
        await recordAudit(org);
      }
    },
    /** Reads one ref that was just appended to. */
    async recordOne(name: string): Promise<void> {
      const [kind, org] = name.split('/');
      if (!eventKinds.includes(kind!)) return;
      const endpoints = await endpointsOf(org!);
      if (endpoints.length > 0) await tryRecord(name, endpoints, await readFrom(registry, org!, endpoints));
    },
  };
}

/** Whether all changes of an organization can be read. */
function isWholeLog(registry: Registry, org: string): Promise<boolean> {
  return registry.refs.refresh(`resources/${org}/`).then(() => true, insteadOf('corrupt', false));
}

const eventsOfKind = { resources: eventsOfResource, repositories: eventsOfRepository, sites: eventsOfSite } as Record<
  string,
  (step: Step<unknown>) => Happened[]
>;

const eventKinds = [...Object.keys(eventsOfKind), 'approvals'];

/**
 * What happened to a record after its generation `from`, and not before `since` (milliseconds since 1970),
 * oldest first; and its newest generation. `url`: public base URL. `pins`: only what affects these consumers of the
 * resource.
 */
export async function eventsSince(
  registry: Registry,
  url: string,
  name: string,
  { from, since, pins = null }: { from: number; since: number; pins?: readonly Pin[] | null },
): Promise<{ happened: Happened[]; newest: number }> {
  const happened: Happened[] = [];
  const between = (step: Omit<Step<unknown>, 'url'>) => eventsOf(name, pins, { url, ...step }).reverse();
  let newest = 0;
  let after: Generation<unknown> | null = null;
  for await (const generation of registry.refs.history<unknown>(name)) {
    newest ||= generation.generation;
    if (after !== null) happened.push(...between({ before: generation, after }));
    after = generation;
    if (generation.generation <= from || Date.parse(generation.at) < since) break;
    if (generation.generation === 1) happened.push(...between({ before: null, after: generation }));
  }
  return { happened: happened.reverse(), newest };
}

function eventsOf(name: string, pins: readonly Pin[] | null, step: Step<unknown>): Happened[] {
  if (pins !== null) return eventsOfPins(pins, step as Step<Resource>);
  const held = parseApprovalsRef(name);
  if (held !== null) return eventsOfApprovals(held, step as Step<Approvals>);
  return eventsOfKind[name.split('/')[0]!]!(step);
}

/** The events for those who pinned a version of a resource: how it affects them now, and did not before. */
function eventsOfPins(pins: readonly Pin[], { url, before, after }: Step<Resource>): Happened[] {
  if (before === null) return [];
  const resource = after.value;
  const keyOf = ({ because, version }: Affected) => `${because} ${version.label}`;
  return pins.flatMap((pin) => {
    const old = new Set(affectedBy(before.value, pin).map(keyOf));
    const { consumer, contract } = pin;
    return affectedBy(resource, pin)
      .filter((each) => !old.has(keyOf(each)))
      .map(({ because, version }) => {
        const changes = because === 'breaking' ? toldChanges(resource, version) : null;
        const data = {
          consumer,
          coordinate: nameOf(resource),
          range: contract.range,
          pinned: contract.version,
          because,
          ...(changes ? {} : { status: version.status }),
          ...versionData(url, resource, version),
          ...(changes && { changes }),
        };
        const detail = changes ? `${contract.version} ${version.label}` : `${version.label} ${because}`;
        const whole = { type: 'consumer.affected', subject: consumer, detail, data } as const;
        return eventOf(url, pin.org, after, whole, [coordinateOf(resource)]);
      });
  });
}

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
async function readFrom(
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
async function moveMark(registry: Registry, org: string, time: number): Promise<void> {
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
