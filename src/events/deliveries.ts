import { deliveryRef, type Attempt, type Webhook, eventIdPrefix, parseDeliveryRef } from '../model/event.ts';
import { type Registry, newId } from '../registry/registry.ts';
import { beginAttempt, claimDelivery, finishDelivery, noteHealth, longestDelay, waitsUntil } from './delivery.ts';
import { disableWebhook, findWebhook, auditEndpoint, auditId } from './endpoints.ts';
import { findWatch, watchedOrganizations, watchesOn } from '../registry/keys/watches.ts';
import { tryMail } from './try-mail.ts';
import { sendEvent, type SendOptions } from './send-event.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { createAlarms } from '../scheduling/waiting.ts';
import { isRegistryError } from '../model/errors.ts';
import { createRecorder } from './record-events.ts';
import { assertSecretKey } from '../registry/seal.ts';
import { listOrganizations } from '../registry/maintenance/organizations.ts';

/** Milliseconds without a success after which an endpoint is disabled. */
const patience = 5 * 24 * 60 * 60_000;

interface DeliveryName {
  org: string;
  webhook: string;
  event: string;
}

/**
 * Tries a delivery once if it is due and no other process is trying it, and records the attempt.
 * `by`: this process. Returns when to look at it again (milliseconds since 1970), or null if a
 * change of its record will say so.
 */
export async function tryDelivery(
  registry: Registry,
  by: string,
  { org, webhook: id, event }: DeliveryName,
  options: SendOptions & { url: string },
): Promise<number | null> {
  const watch = await findWatch(registry, org, id);
  if (watch !== null) return tryMail(registry, by, watch, event, options.url);
  const webhook =
    id === auditId ? auditEndpoint(registry, org) : ((await findWebhook(registry, org, id))?.value ?? null);
  if (webhook === null) return null;
  const name = deliveryRef(org, id, event);
  const claimed = await claimDelivery(registry, name, by);
  if (claimed.state === 'waits') return claimed.until;
  if (claimed.state !== 'ours') return null;
  if (webhook.state === 'disabled') {
    await finishDelivery(registry, name, by, beginAttempt(registry)(null, 'The endpoint is disabled.'), true);
    return null;
  }
  const attempt = await sendEvent(registry, webhook, claimed.delivery.event, options);
  const isGone = attempt.status === 410 && id !== auditId;
  const { state } = await finishDelivery(registry, name, by, attempt, isGone);
  if (state === 'failed') registry.log('warn', 'delivery failed', { org, webhook: id, event, error: attempt.error });
  if (id !== auditId) await judge(registry, webhook, attempt);
  return null;
}

/** Disables an endpoint that answers 410 (Standard Webhooks) or has accepted nothing for days. */
async function judge(registry: Registry, webhook: Webhook, { status, error }: Attempt): Promise<void> {
  if (status === 410) return disableWebhook(registry, webhook, 'The endpoint answered 410 Gone.');
  const failingSince = await noteHealth(registry, webhook, error === null);
  if (failingSince === null) return;
  // The time starts again when an endpoint is enabled.
  const since = failingSince > webhook.begins ? failingSince : webhook.begins;
  if (registry.now().getTime() - Date.parse(since) >= patience)
    await disableWebhook(registry, webhook, `No delivery has succeeded since ${since}.`);
}

/** See `openDeliveries`. */
export type Deliveries = ReturnType<typeof openDeliveries>;

export interface DeliveriesOptions extends SendOptions {
  /** Milliseconds between two checks for changes by other processes. */
  interval?: number;
}

interface Lane {
  org: string;
  webhook: string;
  /** When each event's delivery is due: milliseconds since 1970. */
  due: Map<string, number>;
  active: Map<string, Promise<void>>;
}

/**
 * Concurrent attempts per endpoint. Each endpoint has its own limit, so a slow one does not delay
 * the others.
 */
const atOnce = 4;
/**
 * Milliseconds. Older deliveries have ended: events are recorded for at most 5 days and tried for
 * 4.
 */
const horizon = 10 * 24 * 60 * 60_000;

/**
 * Sends events to the endpoints that subscribe to them, at least once each: oldest first, but
 * without a guarantee of order. Several processes may share a store; each delivery is claimed by
 * one at a time. `url`: public base URL. Throws `malformed` when `secretKey` cannot be used.
 */
export function openDeliveries(registry: Registry, url: string, options: DeliveriesOptions = {}) {
  assertSecretKey(registry);
  const { interval = 15_000 } = options;
  const by = newId(registry);
  const changed = new Set<string>();
  const stop = new AbortController();
  const { lookAt, begin, beginAll, running } = createLanes(registry, interval, stop.signal, (delivery) =>
    tryDelivery(registry, by, delivery, { ...options, url }),
  );
  const recorder = createRecorder(registry, url, stop.signal, (delivery) => {
    const { org, webhook, event } = delivery;
    const at = waitsUntil(delivery, registry.now().getTime());
    if (at !== Infinity) lookAt(org, webhook, event.id, at);
  });

  /** Finds deliveries that an earlier process left. */
  async function lookBack(): Promise<void> {
    const from = eventIdPrefix(registry.now().getTime() - horizon);
    const names = await Array.fromAsync(registry.refs.list('webhooks/'));
    for (const org of await watchedOrganizations(registry))
      names.push(...(await watchesOn(registry, org)).map(({ id }) => `watches/${org}/${id}`));
    if (registry.config.webhooks.audit !== undefined)
      names.push(...(await listOrganizations(registry)).map((org) => `webhooks/${org}/${auditId}`));
    for (const name of names) {
      const [, org, webhook] = name.split('/') as [string, string, string];
      const prefix = deliveryRef(org, webhook, '');
      for await (const each of registry.refs.list(prefix, prefix + from)) {
        if (stop.signal.aborted) return;
        lookAt(org, webhook, each.slice(prefix.length), 0);
      }
    }
  }

  let isLookedBack = false;
  async function lookAround(): Promise<void> {
    if (!isLookedBack) await lookBack();
    isLookedBack = true;
    await recorder.recordAll();
  }

  let recording = Promise.resolve();

  /**
   * Runs one task at a time. A task starts after the call, so it sees everything that the caller
   * saw.
   */
  function record(work: () => Promise<void>): Promise<void> {
    recording = recording
      .then(() => (stop.signal.aborted ? undefined : work()))
      .catch((error: unknown) => warn(registry, 'events not recorded', error))
      .then(beginAll)
      .catch((error: unknown) => warn(registry, 'deliveries not started', error));
    return recording;
  }

  async function recordChanged(): Promise<void> {
    const names = [...changed];
    changed.clear();
    for (const name of names) await recorder.recordOne(name);
  }

  async function keepLooking(): Promise<void> {
    while (!stop.signal.aborted) {
      await record(lookAround);
      await delay(interval, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  }

  const unwatch = registry.refs.watch((name) => {
    const delivery = parseDeliveryRef(name);
    if (delivery !== null) {
      const lane = lookAt(delivery.org, delivery.webhook, delivery.event, 0);
      // Let the process that appended it go first.
      setImmediate(begin, lane);
    } else if (/^(?:resources|repositories)\//.test(name)) {
      if (changed.size === 0) recording = record(recordChanged);
      changed.add(name);
    }
  });
  const looking = keepLooking();
  return {
    /** Looks for new events and due deliveries now. Resolves when each has been tried. */
    async poke(): Promise<void> {
      await record(lookAround);
      for (let work = running(); work.length > 0; work = running()) await Promise.all(work);
    },
    /** Starts nothing more. Resolves when running attempts have ended, within 30 s. */
    async close(): Promise<void> {
      stop.abort();
      unwatch();
      await Promise.all([looking, recording, ...running()]);
    },
  };
}

/**
 * Creates lanes that start `attempt` for each due delivery, until the signal aborts. `attempt`
 * returns when to look at the delivery again, or null. A failed one is repeated after `interval`.
 */
function createLanes(
  registry: Registry,
  interval: number,
  signal: AbortSignal,
  attempt: (delivery: DeliveryName) => Promise<number | null>,
) {
  const lanes = new Map<string, Lane>();
  /** Wakes a lane when its next delivery is due. */
  const alarms = createAlarms((name) => begin(lanes.get(name)!));
  signal.addEventListener('abort', () => alarms.close());

  /** Notes when a delivery is due. */
  function lookAt(org: string, webhook: string, event: string, at: number): Lane {
    const fresh = (): Lane => ({ org, webhook, due: new Map(), active: new Map() });
    const lane = lanes.getOrInsertComputed(`${org}/${webhook}`, fresh);
    lane.due.set(event, Math.min(at, lane.due.get(event) ?? Infinity));
    return lane;
  }

  /** Starts due deliveries, oldest first, and sets the timer for the next. */
  function begin(lane: Lane): void {
    if (signal.aborted) return;
    const now = registry.now().getTime();
    for (let event = oldestDue(lane, now); event !== null; event = oldestDue(lane, now)) start(lane, event);
    const next = lane.due.values().reduce((soonest, at) => (at > now ? Math.min(soonest, at) : soonest), Infinity);
    if (next - now < interval) alarms.set(`${lane.org}/${lane.webhook}`, next - now);
  }

  function start(lane: Lane, event: string): void {
    const { org, webhook } = lane;
    lane.due.delete(event);
    const work = attempt({ org, webhook, event })
      .then((until) => {
        if (until !== null) lookAt(org, webhook, event, until);
      })
      .catch((error: unknown) => {
        warn(registry, 'delivery not tried', error);
        // A corrupt delivery stays corrupt.
        if (!isRegistryError(error, 'corrupt')) lookAt(org, webhook, event, registry.now().getTime() + interval);
      })
      .finally(() => {
        lane.active.delete(event);
        begin(lane);
      });
    lane.active.set(event, work);
  }

  return {
    lookAt,
    begin,
    beginAll: () => lanes.values().forEach(begin),
    running: () => [...lanes.values()].flatMap(({ active }) => [...active.values()]),
  };
}

function warn({ log }: Registry, event: string, error: unknown): void {
  log('warn', event, { error: error instanceof Error ? error.message : String(error) });
}

/** The next delivery to start. Null when none is due or enough are running. */
function oldestDue({ due, active }: Lane, now: number): string | null {
  if (active.size >= atOnce) return null;
  let oldest: string | null = null;
  for (const [event, at] of due) {
    // A time beyond the longest delay is from before the clock was set back. Claiming decides.
    const isDue = at <= now || at - now > longestDelay;
    if (isDue && !active.has(event) && (oldest === null || event < oldest)) oldest = event;
  }
  return oldest;
}
