import { dueAt } from '../scheduling/waiting.ts';
import { notFound } from '../model/errors.ts';
import {
  type Event,
  deliveryRef,
  type Attempt,
  type Delivery,
  type Webhook,
  webhookHealthRef,
  type WebhookHealth,
} from '../model/event.ts';
import type { Generation } from '../store/records.ts';
import type { Author, Registry } from '../registry/registry.ts';

const [second, minute, hour] = [1000, 60_000, 3_600_000];
/**
 * Milliseconds between a failed attempt and the next: three days in total. Up to a fifth is added
 * at random (`spread`).
 */
export const delays = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;
const spread = 1 / 5;
/** The most milliseconds between two attempts. */
export const longestDelay = Math.max(...delays) * (1 + spread);
/**
 * Milliseconds after which the process that claimed a delivery counts as crashed: four times the
 * limit of an attempt.
 */
const lease = 60_000;
const keptAttempts = 20;

/** Begins an attempt. What it returns ends it: with the status, if there was an answer, and what went wrong. */
export function beginAttempt({ now }: Pick<Registry, 'now'>): (status: number | null, error: string | null) => Attempt {
  const [at, startedAt] = [now().toISOString(), performance.now()];
  return (status, error) => ({ at, status, milliseconds: Math.round(performance.now() - startedAt), error });
}

/** Creates a delivery of an event to an endpoint, or returns the existing one. */
export async function createDelivery(
  registry: Registry,
  { org, id }: Pick<Webhook, 'org' | 'id'>,
  event: Event,
): Promise<Delivery> {
  const name = deliveryRef(org, id, event.id);
  const stored = await registry.refs.read<Delivery>(name);
  if (stored !== null) return stored.value;
  const nextAt = registry.now().toISOString();
  const value: Delivery = { org, webhook: id, event, state: 'pending', attempts: [], tries: 0, nextAt, claim: null };
  const updated = await registry.refs.update<Delivery>(name, (current) =>
    current === null ? { value, change: changeBy(org, 'deliver') } : null,
  );
  return updated!.value;
}

/**
 * The result of a claim: the delivery is ours to try; or it is not due or is claimed by another
 * process; or it has ended.
 */
export type Claimed = { state: 'ours'; delivery: Delivery } | { state: 'waits'; until: number } | { state: 'over' };

/**
 * Claims a due delivery for the length of the lease. Of all callers in all processes, one gets it.
 */
export async function claimDelivery(registry: Registry, name: string, by: string): Promise<Claimed> {
  const now = registry.now().getTime();
  let isOurs = false;
  const generation = await registry.refs.update<Delivery>(name, (current) => {
    isOurs = current !== null && waitsUntil(current.value, now) <= now;
    if (!isOurs) return null;
    const claim = { by, until: new Date(now + lease).toISOString() };
    return { value: { ...current!.value, claim }, change: changeBy(current!.value.org, 'claim') };
  });
  if (isOurs) return { state: 'ours', delivery: generation!.value };
  const until = generation === null ? Infinity : waitsUntil(generation.value, now);
  return until === Infinity ? { state: 'over' } : { state: 'waits', until };
}

/**
 * When a delivery may be tried: milliseconds since 1970, or infinity for never. For a claimed one,
 * when the claim expires.
 */
export function waitsUntil({ state, nextAt, claim }: Delivery, now: number): number {
  if (state !== 'pending' || nextAt === null) return Infinity;
  return Math.max(dueAt(nextAt, now, longestDelay), claim === null ? 0 : dueAt(claim.until, now, lease));
}

/**
 * Records the result of our attempt. A failure is retried until the delays are used up, or not at
 * all if `isLast`. If another process has taken over the delivery, only a success is recorded.
 */
export async function finishDelivery(
  registry: Registry,
  name: string,
  by: string,
  attempt: Attempt,
  isLast: boolean,
): Promise<Delivery> {
  const chance = registry.randomBytes(1)[0]! / 256;
  const generation = await registry.refs.update<Delivery>(name, (current) => {
    const { value } = current!;
    const isDelivered = attempt.error === null;
    if (!isDelivered && value.claim?.by !== by) return null;
    const attempts = [...value.attempts, attempt].slice(-keptAttempts);
    const tries = value.tries + 1;
    const delay = isDelivered || isLast ? undefined : delays[tries - 1];
    const state = isDelivered ? 'delivered' : delay === undefined ? 'failed' : 'pending';
    const at = delay === undefined ? null : Date.parse(attempt.at) + delay * (1 + chance * spread);
    const nextAt = at === null ? null : new Date(at).toISOString();
    const change = changeBy(value.org, state === 'pending' ? 'retry later' : state);
    return { value: { ...value, state, attempts, tries, nextAt, claim: null }, change };
  });
  return generation!.value;
}

/**
 * Sends an event again now, whatever its state, and keeps its earlier attempts. Rejects with
 * `not_found` for an unknown delivery.
 */
export async function redeliver(
  registry: Registry,
  org: string,
  webhook: string,
  event: string,
  author: Author,
): Promise<Generation<Delivery>> {
  const now = registry.now();
  const generation = await registry.refs.update<Delivery>(deliveryRef(org, webhook, event), (current) => {
    if (current === null) throw notFound('There is no such delivery.');
    const { value } = current;
    // It is being tried right now, which is what the caller wants.
    if (value.claim !== null && dueAt(value.claim.until, now.getTime(), lease) > now.getTime()) return null;
    const next: Delivery = { ...value, state: 'pending', tries: 0, nextAt: now.toISOString(), claim: null };
    return { value: next, change: { ...author, action: 'redeliver' } };
  });
  return generation!;
}

function changeBy(org: string, action: string): { actor: string; origin: null; action: string } {
  return { actor: `events:${org}`, origin: null, action };
}

/** Reads the health of an endpoint. Null before its first failure. */
export async function readHealth(
  registry: Registry,
  { org, id }: Pick<Webhook, 'org' | 'id'>,
): Promise<Generation<WebhookHealth> | null> {
  return registry.refs.read<WebhookHealth>(webhookHealthRef(org, id));
}

/** Records the result of a delivery. Returns since when deliveries fail, or null. */
export async function noteHealth(
  registry: Registry,
  { org, id }: Pick<Webhook, 'org' | 'id'>,
  isReached: boolean,
): Promise<string | null> {
  const name = webhookHealthRef(org, id);
  const failing = (await registry.refs.read<WebhookHealth>(name))?.value.failingSince ?? null;
  if ((failing === null) === isReached) return failing;
  const updated = await registry.refs.update<WebhookHealth>(name, (current) => {
    const since = current?.value.failingSince ?? null;
    if ((since === null) === isReached) return null;
    const failingSince = isReached ? null : registry.now().toISOString();
    return { value: { failingSince }, change: changeBy(org, isReached ? 'recovered' : 'failing') };
  });
  return updated?.value.failingSince ?? null;
}
