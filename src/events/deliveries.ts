import { setTimeout as delay } from 'node:timers/promises';
import { isRegistryError } from '../model/errors.ts';
import { eventIdPrefix } from '../model/event.ts';
import { deliveryRef, parseDeliveryRef, type Attempt, type Webhook } from '../model/webhook.ts';
import { claimDelivery, finishDelivery, waitsUntil } from './delivery.ts';
import { createRecorder } from './record-events.ts';
import { newId, type Registry } from '../registry/registry.ts';
import { assertSecretKey } from '../registry/seal.ts';
import { sendEvent, type SendOptions } from './send-event.ts';
import { noteHealth } from './endpoint-health.ts';
import { disableWebhook, findWebhook } from './endpoints.ts';

/** Sends events to endpoints until it is closed. */
export interface Deliveries {
  /** Looks at everything now. Resolves when what was due has been tried. */
  poke(): Promise<void>;
  /** Begins nothing any more; resolves when what runs has ended, within 15 s. */
  close(): Promise<void>;
}

export interface DeliveriesOptions extends SendOptions {
  /** Milliseconds between two looks at what other processes changed. */
  interval?: number;
}

/** What is to be sent to one endpoint. */
interface Lane {
  org: string;
  webhook: string;
  /** By event: when to look at its delivery, milliseconds since 1970. */
  due: Map<string, number>;
  active: Map<string, Promise<void>>;
  /** Wakes it when the next is due. */
  timer: NodeJS.Timeout | undefined;
}

/** Attempts at once for one endpoint. Each endpoint has its own: a slow one holds nobody else's events up. */
const atOnce = 4;
/** Milliseconds without one success after which an endpoint is disabled. */
const patience = 5 * 24 * 60 * 60_000;
/** How far back deliveries are looked for that are not over: what is recorded is at most 5 days old, and tried for 4. */
const horizon = 10 * 24 * 60 * 60_000;

/**
 * Sends what happens to the endpoints that want it, at least once: oldest first, but in no order that is promised. Several processes may do so for
 * one store; each delivery is with one of them at a time. `url`: public base URL. Throws `malformed` where `secretKey` cannot be used.
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
    const at = waitsUntil(delivery);
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

  /** Begins what is due, oldest first, and sees to it that the next is begun in time. */
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
        tell('delivery not tried', error);
        // A damaged one stays so.
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

  /** Disables an endpoint that says it is gone (Standard Webhooks: 410), or has taken nothing for days. */
  async function judge(webhook: Webhook, { status, error }: Attempt): Promise<void> {
    if (status === 410) return disableWebhook(registry, webhook, 'It answered 410 Gone.');
    const failingSince = await noteHealth(registry, webhook, error === null);
    if (failingSince === null) return;
    // One that was enabled again has its time anew.
    const since = failingSince > webhook.begins ? failingSince : webhook.begins;
    if (registry.now().getTime() - Date.parse(since) >= patience)
      await disableWebhook(registry, webhook, `No delivery has succeeded since ${since}.`);
  }

  /** Finds what an earlier run left. */
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

  /** One at a time. Each begins after it was asked for, and so sees all that the asker saw. */
  function record(work: () => Promise<void>): Promise<void> {
    recording = recording
      .then(() => (stop.signal.aborted ? undefined : work()))
      .catch((error: unknown) => tell('events not recorded', error))
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

  function tell(event: string, error: unknown): void {
    registry.log('warn', event, { error: error instanceof Error ? error.message : String(error) });
  }

  const running = () => [...lanes.values()].flatMap(({ active }) => [...active.values()]);
  const unwatch = registry.refs.watch((name) => {
    const delivery = parseDeliveryRef(name);
    if (delivery !== null) {
      const lane = lookAt(delivery.org, delivery.webhook, delivery.event, 0);
      // Whoever appended goes on first.
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

/** What is to be begun next; null when nothing is due, or enough is under way. */
function oldestDue({ due, active }: Lane, now: number): string | null {
  if (active.size >= atOnce) return null;
  let oldest: string | null = null;
  for (const [event, at] of due) {
    if (at <= now && !active.has(event) && (oldest === null || event < oldest)) oldest = event;
  }
  return oldest;
}
