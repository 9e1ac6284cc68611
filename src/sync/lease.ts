import { setTimeout as delay } from 'node:timers/promises';
import { RegistryError } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { beginWork, mayWork, type Worker } from '../store/process.ts';

/** Who holds a lease: the value of one ref. */
interface Lease extends Worker {
  /** When it was taken or renewed, by the holder's clock: ISO 8601, UTC. For people: no clock decides by it. */
  at: string;
  isReleased: boolean;
}

/** Milliseconds. Renewed three times as often. */
const term = 60_000;
const actor = 'operator:lease';

/** One who wants a lease, and which of its generations was seen last, since when by the monotonic clock. */
interface Seeker {
  worker: Worker;
  seen: { generation: number; at: number };
}

/**
 * Does the work while no other process does any under the same name (`leases/<name>`): two syncs of one repository would publish an older commit
 * after a newer one. Waits until the lease is free. One is free when it was given back, when its process of this machine is gone, and when it was
 * watched for a minute and not renewed: no clock on a wall counts, so that machines need not agree and a clock may be set. The work is told whether
 * somebody else was at it meanwhile, and its signal ends it when somebody took the lease over. Rejects when `signal` aborts. No fence: whoever was
 * suspended for longer than a minute may do one more step before it finds that another one has begun.
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

/** Does the work, renewing the lease meanwhile, and gives it back. */
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
    lost.abort(new RegistryError('unavailable', 'Another process has taken over meanwhile; the next run goes on.'));
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

/** Takes or renews the lease; false while somebody else holds it. */
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
