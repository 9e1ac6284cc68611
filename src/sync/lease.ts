import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { RegistryError } from '../model/errors.ts';
import { isAlive, processName, processSpace } from '../registry/process.ts';
import type { Registry } from '../registry/registry.ts';

/** Who holds a lease, and until when: the value of one ref. */
interface Lease {
  /** Of which process, where its number counts, and who in it. */
  process: string;
  space?: string;
  holder: string;
  /** By the holder's clock: ISO 8601, UTC. */
  until: string;
}

/** Who is at work in this process: tells it from an earlier one of the same number. */
const holders = new Set<string>();
const term = 60_000;
/** Milliseconds by which clocks are believed not to differ. */
const skew = 10 * 60_000;
const actor = 'operator:lease';

/** One who wants a lease, and what was seen of it last, by the own clock. */
interface Seeker {
  holder: string;
  seen: { generation: number; at: number };
}

/**
 * Does the work while no other process does any under the same name (`leases/<name>`): two syncs of one repository would publish an older commit
 * after a newer one. Waits until the lease is free; one whose process of this machine is gone, or that was seen not to be renewed for a minute, is free:
 * clocks of machines need not agree. The work is told whether somebody else was at it meanwhile, and its signal ends it when somebody took the lease over.
 * Rejects when `signal` aborts. No fence: whoever was suspended for longer than a minute may do one more step before it finds that another one has begun.
 */
export async function withLease<T>(
  registry: Registry,
  name: string,
  signal: AbortSignal,
  work: (hasWaited: boolean, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ref = `leases/${name}`;
  const seeker: Seeker = { holder: randomUUID(), seen: { generation: 0, at: 0 } };
  holders.add(seeker.holder);
  try {
    let hasWaited = false;
    for (let pause = 50; !(await take(registry, ref, seeker)); pause = Math.min(pause * 2, 1000)) {
      hasWaited = true;
      await delay(pause, undefined, { signal });
    }
    return await holding(registry, name, seeker, signal, (held) => work(hasWaited, held));
  } finally {
    holders.delete(seeker.holder);
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
  const now = registry.now().getTime();
  const { holder, seen } = seeker;
  const newest = await registry.refs.update<Lease>(ref, (current) => {
    const isStill = current?.generation === seen.generation && now - seen.at >= term;
    if (current && current.value.holder !== holder && !isStill && mayLive(current.value, now)) return null;
    const until = new Date(now + term).toISOString();
    const value = { process: processName(), space: processSpace(), holder, until };
    return { value, change: { actor, origin: null, action: 'take' } };
  });
  const { generation, value } = newest!;
  if (generation !== seen.generation) seeker.seen = { generation, at: now };
  return value.holder === holder;
}

/** Whether its holder may still be at work. */
function mayLive({ process, space, holder, until }: Lease, now: number): boolean {
  if (Date.parse(until) + skew <= now) return false;
  if (space !== undefined && space !== processSpace()) return true;
  return process === processName() ? holders.has(holder) : isAlive(process);
}

async function release(registry: Registry, ref: string, { holder }: Seeker): Promise<void> {
  await registry.refs
    .update<Lease>(ref, (current) =>
      current?.value.holder === holder
        ? {
            value: { ...current.value, until: new Date(0).toISOString() },
            change: { actor, origin: null, action: 'release' },
          }
        : null,
    )
    .catch((error: unknown) => registry.log('warn', 'lease not released', { ref, error: String(error) }));
}
