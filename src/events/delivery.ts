import { RegistryError } from '../model/errors.ts';
import type { Event } from '../model/event.ts';
import { deliveryRef, type Attempt, type Delivery, type Webhook } from '../model/webhook.ts';
import type { Generation } from '../store/generations.ts';
import type { Author, Registry } from '../registry/registry.ts';

const [second, minute, hour] = [1000, 60_000, 3_600_000];
/** Milliseconds between an attempt that failed and the next one: three days in all. Up to a fifth more is added by chance. */
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
/** Milliseconds after which whoever is at a delivery counts as crashed: four times what an attempt may take. */
const lease = 60_000;
const keptAttempts = 20;

/** Writes down that an event is to be sent to an endpoint, or finds that it was written down before. */
export async function createDelivery(
  registry: Registry,
  { org, id }: Pick<Webhook, 'org' | 'id'>,
  event: Event,
): Promise<Delivery> {
  const name = deliveryRef(org, id, event.id);
  const known = await registry.refs.read<Delivery>(name);
  if (known !== null) return known.value;
  const nextAt = registry.now().toISOString();
  const value: Delivery = { org, webhook: id, event, state: 'pending', attempts: [], tries: 0, nextAt, claim: null };
  const made = await registry.refs.update<Delivery>(name, (current) =>
    current === null ? { value, change: changeBy(org, 'deliver') } : null,
  );
  return made!.value;
}

/** What came of asking for a delivery: it is ours to try, or it is not time or somebody else is at it, or there is nothing left to do. */
export type Claimed = { state: 'ours'; delivery: Delivery } | { state: 'waits'; until: number } | { state: 'over' };

/** Takes a delivery that is due, for as long as the lease. Of any number that ask, in any number of processes, one is given it. */
export async function claimDelivery(registry: Registry, name: string, by: string): Promise<Claimed> {
  const now = registry.now().getTime();
  let isOurs = false;
  const generation = await registry.refs.update<Delivery>(name, (current) => {
    isOurs = current !== null && waitsUntil(current.value) <= now;
    if (!isOurs) return null;
    const claim = { by, until: new Date(now + lease).toISOString() };
    return { value: { ...current!.value, claim }, change: changeBy(current!.value.org, 'claim') };
  });
  if (isOurs) return { state: 'ours', delivery: generation!.value };
  const until = generation === null ? Infinity : waitsUntil(generation.value);
  return until === Infinity ? { state: 'over' } : { state: 'waits', until };
}

/** When a delivery is to be tried: milliseconds since 1970, infinity for never. One that somebody is at, when that will count as crashed. */
export function waitsUntil({ state, nextAt, claim }: Delivery): number {
  if (state !== 'pending' || nextAt === null) return Infinity;
  return Math.max(Date.parse(nextAt), claim === null ? 0 : Date.parse(claim.until));
}

/**
 * Writes down how an attempt of ours went. What failed is tried again until its time is over; `isLast`: it is not. One that another took
 * over meanwhile is theirs, except that delivered is delivered.
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
    const attempts = [...value.attempts, attempt].slice(-keptAttempts);
    const tries = value.tries + 1;
    const change = (action: string) => changeBy(value.org, action);
    if (attempt.error === null) {
      return {
        value: { ...value, state: 'delivered', attempts, tries, nextAt: null, claim: null },
        change: change('delivered'),
      };
    }
    if (value.claim?.by !== by) return null;
    const delay = isLast ? undefined : delays[tries - 1];
    if (delay === undefined) {
      return {
        value: { ...value, state: 'failed', attempts, tries, nextAt: null, claim: null },
        change: change('failed'),
      };
    }
    const nextAt = new Date(Date.parse(attempt.at) + delay * (1 + chance / 5)).toISOString();
    return { value: { ...value, attempts, tries, nextAt, claim: null }, change: change('retry later') };
  });
  return generation!.value;
}

/** Has an event sent again, now, with all its attempts before it, whatever became of it. `not_found` for one that was never sent. */
export async function redeliver(
  registry: Registry,
  org: string,
  webhook: string,
  event: string,
  author: Author,
): Promise<Generation<Delivery>> {
  const now = registry.now();
  const generation = await registry.refs.update<Delivery>(deliveryRef(org, webhook, event), (current) => {
    if (current === null) throw new RegistryError('not_found', 'There is no such delivery.');
    const { value } = current;
    // Somebody is at it at this moment: that is what was asked for.
    if (value.claim !== null && Date.parse(value.claim.until) > now.getTime()) return null;
    const next: Delivery = { ...value, state: 'pending', tries: 0, nextAt: now.toISOString(), claim: null };
    return { value: next, change: { ...author, action: 'redeliver' } };
  });
  return generation!;
}

function changeBy(org: string, action: string): { actor: string; origin: null; action: string } {
  return { actor: `events:${org}`, origin: null, action };
}
