import { setTimeout as delay } from 'node:timers/promises';
import { isRegistryError } from '../model/errors.ts';
import { eventIdPrefix } from '../model/event.ts';
import { deliveryRef, parseDeliveryRef, type Attempt, type Webhook } from '../model/webhook.ts';
import { claimDelivery, finishDelivery, longestDelay, waitsUntil } from './delivery.ts';
import { createRecorder } from './record-events.ts';
import { newId, type Registry } from '../registry/registry.ts';
import { assertSecretKey } from '../registry/seal.ts';
import { sendEvent, type SendOptions } from './send-event.ts';
import { noteHealth } from './endpoint-health.ts';
import { disableWebhook, findWebhook } from './endpoints.ts';

/** Sends events to endpoints until it is closed. */
export interface Deliveries {
  /** Looks for new events and due deliveries now. Resolves when each has been tried. */
  poke(): Promise<void>;
  /** Starts nothing more. Resolves when running attempts have ended, within 15 s. */
  close(): Promise<void>;
}

export interface DeliveriesOptions extends SendOptions {
  /** Milliseconds between two checks for changes by other processes. */
  interval?: number;
}

/** The deliveries of one endpoint. */
interface Lane {
  org: string;
  webhook: string;
  /** When each event's delivery is due: milliseconds since 1970. */
  due: Map<string, number>;
  active: Map<string, Promise<void>>;
  /** Wakes the lane when the next delivery is due. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Concurrent attempts per endpoint. Each endpoint has its own limit, so a slow one does not delay
 * the others.
 */
const atOnce = 4;
/** Milliseconds without a success after which an endpoint is disabled. */
const patience = 5 * 24 * 60 * 60_000;
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
export function openDeliveries(registry: Registry, url: string, options: DeliveriesOptions = {}): Deliveries {
  assertSecretKey(registry);
  const { interval = 15_000 } = options;
  const by = newId(registry);
  const lanes = new Map<string, Lane>();
  const changed = new Set<string>();
  const stop = new AbortController();
  const recorder = createRecorder(registry, url, stop.signal, (delivery) => {
    const { org, webhook, event } = delivery;
    const at = waitsUntil(delivery, registry.now().getTime());
    if (at !== Infinity) lookAt(org, webhook, event.id, at);
  });

  function lookAt(org: string, webhook: string, event: string, at: number): Lane {
    const key = `${org}/${webhook}`;
    const lane = lanes.get(key) ?? {
      org,
      webhook,
      due: new Map<string, number>(),
      active: new Map(),
      timer: undefined,
    };
    lanes.set(key, lane);
    lane.due.set(event, Math.min(at, lane.due.get(event) ?? Infinity));
    return lane;
  }

  /** Starts due deliveries, oldest first, and sets the timer for the next. */
  function begin(lane: Lane): void {
    clearTimeout(lane.timer);
    if (stop.signal.aborted) return;
    const now = registry.now().getTime();
    for (let event = oldestDue(lane, now); event !== null; event = oldestDue(lane, now)) start(lane, event);
    let next = Infinity;
    for (const at of lane.due.values()) if (at > now) next = Math.min(next, at);
    if (next - now < interval) lane.timer = setTimeout(begin, next - now, lane).unref();
  }

  function beginAll(): void {
    for (const lane of lanes.values()) begin(lane);
  }

  function start(lane: Lane, event: string): void {
    lane.due.delete(event);
    const work = tryOne(lane, event)
      .catch((error: unknown) => {
        warn('delivery not tried', error);
        // A corrupt delivery stays corrupt.
        if (!isRegistryError(error, 'corrupt'))
          lookAt(lane.org, lane.webhook, event, registry.now().getTime() + interval);
      })
      .finally(() => {
        lane.active.delete(event);
        begin(lane);
      });
    lane.active.set(event, work);
  }

  async function tryOne({ org, webhook: id }: Lane, event: string): Promise<void> {
    const webhook = (await findWebhook(registry, org, id))?.value;
    if (webhook === undefined) return;
    const name = deliveryRef(org, id, event);
    const claimed = await claimDelivery(registry, name, by);
    if (claimed.state === 'waits') lookAt(org, id, event, claimed.until);
    if (claimed.state !== 'ours') return;
    if (webhook.state === 'disabled') {
      const at = registry.now().toISOString();
      const refused: Attempt = { at, status: null, milliseconds: 0, error: 'The endpoint is disabled.' };
      await finishDelivery(registry, name, by, refused, true);
      return;
    }
    const attempt = await sendEvent(registry, webhook, claimed.delivery.event, options);
    const isGone = attempt.status === 410;
    const { state } = await finishDelivery(registry, name, by, attempt, isGone);
    if (state === 'failed') registry.log('warn', 'delivery failed', { org, webhook: id, event, error: attempt.error });
    await judge(webhook, attempt);
  }

  /** Disables an endpoint that answers 410 (Standard Webhooks) or has accepted nothing for days. */
  async function judge(webhook: Webhook, { status, error }: Attempt): Promise<void> {
    if (status === 410) return disableWebhook(registry, webhook, 'The endpoint answered 410 Gone.');
    const failingSince = await noteHealth(registry, webhook, error === null);
    if (failingSince === null) return;
    // The time starts again when an endpoint is enabled.
    const since = failingSince > webhook.begins ? failingSince : webhook.begins;
    if (registry.now().getTime() - Date.parse(since) >= patience)
      await disableWebhook(registry, webhook, `No delivery has succeeded since ${since}.`);
  }

  /** Finds deliveries that an earlier process left. */
  async function lookBack(): Promise<void> {
    const from = eventIdPrefix(registry.now().getTime() - horizon);
    for await (const name of registry.refs.list('webhooks/')) {
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
      .catch((error: unknown) => warn('events not recorded', error))
      .then(beginAll);
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

  function warn(event: string, error: unknown): void {
    registry.log('warn', event, { error: error instanceof Error ? error.message : String(error) });
  }

  const running = () => [...lanes.values()].flatMap(({ active }) => [...active.values()]);
  const unwatch = registry.refs.watch((name) => {
    const delivery = parseDeliveryRef(name);
    if (delivery !== null) {
      const lane = lookAt(delivery.org, delivery.webhook, delivery.event, 0);
      // Let the process that appended it go first.
      setImmediate(begin, lane);
    } else if (/^(?:resources|repositories)\//.test(name)) {
      if (changed.size === 0) void record(recordChanged);
      changed.add(name);
    }
  });
  const looking = keepLooking();
  return {
    async poke() {
      await record(lookAround);
      for (let work = running(); work.length > 0; work = running()) await Promise.all(work);
    },
    async close() {
      stop.abort();
      unwatch();
      for (const { timer } of lanes.values()) clearTimeout(timer);
      await Promise.all([looking, recording, ...running()]);
    },
  };
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
