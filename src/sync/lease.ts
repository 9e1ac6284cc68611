import { setTimeout as delay } from 'node:timers/promises';
import { RegistryError } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { beginWork, mayWork, type Worker } from '../store/process.ts';

/** The holder of a lease: the value of one ref. */
interface Lease extends Worker {
  /**
   * When it was taken or renewed, by the holder's clock. ISO 8601, UTC. For people: no decision
   * depends on it.
   */
  at: string;
  isReleased: boolean;
}

/** Milliseconds until a lease expires. It is renewed three times in that time. */
const term = 60_000;
const actor = 'operator:lease';

/** A process that wants the lease: the last generation it saw, and when (monotonic clock). */
interface Seeker {
  worker: Worker;
  seen: { generation: number; at: number };
}

/**
 * Runs the work while holding a lease (`leases/<name>`), so that no other process runs under the
 * same name. Without it, two syncs of one repository could publish an older commit after a newer
 * one. Waits until the lease is free: released, held by a process of this machine that has ended,
 * or not renewed for a minute while this process watched. Only monotonic clocks are compared, so
 * machines need not agree on the time. `hasWaited` says whether another process held the lease
 * first; the work's signal aborts when another process takes it over. Rejects when `signal` aborts.
 * There is no fencing token: a process that was suspended for more than a minute can take one more
 * step before it notices that it lost the lease.
 */
export async function withLease<T>(
  registry: Registry,
  name: string,
  signal: AbortSignal,
  work: (hasWaited: boolean, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ref = `leases/${name}`;
  const { worker, end } = beginWork();
  const seeker: Seeker = { worker, seen: { generation: 0, at: 0 } };
  try {
    let hasWaited = false;
    for (let pause = 50; !(await take(registry, ref, seeker)); pause = Math.min(pause * 2, 1000)) {
      hasWaited = true;
      await delay(pause, undefined, { signal });
    }
    return await holding(registry, name, seeker, signal, (held) => work(hasWaited, held));
  } finally {
    end();
  }
}

/** Does the work, renews the lease meanwhile, and releases it. */
async function holding<T>(
  registry: Registry,
  name: string,
  seeker: Seeker,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ref = `leases/${name}`;
  const lost = new AbortController();
  const renew = async (): Promise<void> => {
    if (await take(registry, ref, seeker)) return;
    lost.abort(new RegistryError('unavailable', 'Another process took over this work. The next run continues it.'));
  };
  const renewal = setInterval(() => {
    renew().catch((error: unknown) => registry.log('warn', 'lease not renewed', { name, error: String(error) }));
  }, term / 3);
  renewal.unref();
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewal);
    await release(registry, ref, seeker);
  }
}

/** Takes or renews the lease. False while another process holds it. */
async function take(registry: Registry, ref: string, seeker: Seeker): Promise<boolean> {
  const time = registry.monotonic();
  const { worker, seen } = seeker;
  const newest = await registry.refs.update<Lease>(ref, (current) => {
    const isStill = current?.generation === seen.generation && time - seen.at >= term;
    const isOurs = current?.value.holder === worker.holder;
    if (current && !isOurs && !isStill && !current.value.isReleased && mayWork(current.value)) return null;
    const value = { ...worker, at: registry.now().toISOString(), isReleased: false };
    return { value, change: { actor, origin: null, action: 'take' } };
  });
  const { generation, value } = newest!;
  if (generation !== seen.generation) seeker.seen = { generation, at: time };
  return value.holder === worker.holder;
}

async function release(registry: Registry, ref: string, { worker }: Seeker): Promise<void> {
  await registry.refs
    .update<Lease>(ref, (current) =>
      current?.value.holder === worker.holder
        ? {
            value: { ...current.value, isReleased: true },
            change: { actor, origin: null, action: 'release' },
          }
        : null,
    )
    .catch((error: unknown) => registry.log('warn', 'lease not released', { ref, error: String(error) }));
}
