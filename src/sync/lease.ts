import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { beginWork, mayWork, type Worker } from '../store/process.ts';
import type { UpdateOptions } from '../store/records.ts';

/** The holder of a lease: the value of one record. */
interface Lease extends Worker {
  /** When it was taken or renewed, by the holder's clock. ISO 8601, UTC. For people: no decision depends on it. */
  at: string;
  isReleased: boolean;
  /** Whether it was taken over, and the fence may not have been raised yet. */
  isUnfenced?: true;
}

/** Milliseconds until a lease expires. It is renewed three times in that time. */
const term = 60_000;
const actor = 'operator:lease';

/** A process that wants the lease: the last generation it saw, and when (monotonic clock). */
interface Seeker {
  worker: Worker;
  watched: { generation: number; at: number };
}

/** What the holder of a lease works with. */
export interface HeldLease {
  /** Changes nothing in the organization's log any more once another process has taken over. */
  registry: Registry;
  /** Aborts soon after another process has taken over. */
  signal: AbortSignal;
  /** Whether another process held the lease first. */
  hasWaited: boolean;
}

/**
 * Runs the work while holding a lease of an organization, so that no other process runs under the
 * same name. Without it, two syncs of one repository could publish an older commit after a newer
 * one. Waits until the lease is free: released, held by a process of this machine that has ended,
 * or not renewed for a minute while this process watched. Only monotonic clocks are compared, so
 * machines need not agree on the time.
 *
 * A process that was suspended meanwhile does not know that it lost the lease. Who takes over
 * raises a fence in the organization's log first, and every change through `Held.registry` is
 * refused by the log itself unless the fence is where it was. Rejects when `signal` aborts.
 */
export async function withLease<T>(
  registry: Registry,
  { org, name }: { org: string; name: string },
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const ref = `leases/${org}/${name}`;
  const fence = `fences/${org}/${name}`;
  using task = beginWork();
  const { worker } = task;
  const seeker: Seeker = { worker, watched: { generation: 0, at: 0 } };
  let hasWaited = false;
  for (let pause = 50; ; pause = Math.min(pause * 2, 1000)) {
    // Before the lease: a fence that is raised later stops this process.
    const standing = (await registry.refs.readFresh(fence))?.generation ?? 0;
    const lease = await take(registry, ref, seeker);
    if (lease !== null) {
      const generation = lease.isTakenOver ? await raise(registry, fence, worker) : standing;
      const fenced = withFence(registry, { name: fence, generation });
      return await holding(registry, ref, seeker, signal, (held) =>
        work({ registry: fenced, signal: held, hasWaited }),
      );
    }
    hasWaited = true;
    await delay(pause, undefined, { signal });
  }
}

/** Raises the fence, so that who held the lease changes nothing more. */
async function raise(registry: Registry, fence: string, { process }: Worker): Promise<number> {
  const change = { actor, origin: null, action: 'take over' };
  return (await registry.refs.update(fence, () => ({ value: { process }, change })))!.generation;
}

function withFence(registry: Registry, fence: NonNullable<UpdateOptions['fence']>): Registry {
  const { refs } = registry;
  const update: Registry['refs']['update'] = (name, decide, options) =>
    refs.update(name, decide, { ...options, fence });
  return { ...registry, refs: { ...refs, update } };
}

async function holding<T>(
  registry: Registry,
  ref: string,
  seeker: Seeker,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    if ((await take(registry, ref, seeker)) !== null) return;
    lost.abort(unavailable('Another process took over this work. The next run continues it.'));
  };
  const renewal = setInterval(() => {
    renew().catch((error: unknown) => registry.log('warn', 'lease not renewed', { ref, error: String(error) }));
  }, term / 3);
  renewal.unref();
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewal);
    await release(registry, ref, seeker);
  }
}

/**
 * Takes or renews the lease; null while another process holds it. `isTakenOver`: another process
 * did not renew it, but may still be at work.
 */
async function take(registry: Registry, ref: string, seeker: Seeker): Promise<{ isTakenOver: boolean } | null> {
  const time = registry.monotonic();
  const { worker, watched } = seeker;
  let isTakenOver = false;
  const newest = await registry.refs.update<Lease>(ref, (current) => {
    const isStill = current?.generation === watched.generation && time - watched.at >= term;
    const isOurs = current?.value.holder === worker.holder;
    const isFree = current === null || isOurs || current.value.isReleased || !mayWork(current.value);
    if (!isFree && !isStill) return null;
    // Whoever took it over may have ended before the fence stood.
    isTakenOver = !isFree || (!isOurs && current?.value.isUnfenced === true && !current.value.isReleased);
    const value = {
      ...worker,
      at: registry.now().toISOString(),
      isReleased: false,
      ...(isTakenOver && { isUnfenced: true as const }),
    };
    return { value, change: { actor, origin: null, action: 'take' } };
  });
  const { generation, value } = newest!;
  if (generation !== watched.generation) seeker.watched = { generation, at: time };
  return value.holder === worker.holder ? { isTakenOver } : null;
}

async function release(registry: Registry, ref: string, { worker }: Seeker): Promise<void> {
  await registry.refs
    .update<Lease>(ref, (current) =>
      current?.value.holder === worker.holder
        ? { value: { ...current.value, isReleased: true }, change: { actor, origin: null, action: 'release' } }
        : null,
    )
    .catch((error: unknown) => registry.log('warn', 'lease not released', { ref, error: String(error) }));
}
