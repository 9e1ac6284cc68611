import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, processName } from './process.ts';
import type { Registry } from './registry.ts';

/** Who holds a lease, and until when: the value of one ref. */
interface Lease {
  /** Of which process, and of which of its holders. */
  process: string;
  holder: string;
  /** ISO 8601, UTC. */
  until: string;
}

/** Tells this process from an earlier one of the same number. */
const instance = randomUUID();
const term = 60_000;
const actor = 'operator:lease';

/**
 * Does the work while no other process does any under the same name (`leases/<name>`): two syncs of one repository would publish an older commit
 * after a newer one. Waits until the lease is free; one whose process of this machine is gone, or that was not renewed for a minute, is free. The work is told whether somebody else was at it meanwhile.
 * Rejects when `signal` aborts. No fence: whoever is suspended for longer than a minute may find that another one has begun.
 */
export async function withLease<T>(
  registry: Registry,
  name: string,
  signal: AbortSignal,
  work: (hasWaited: boolean) => Promise<T>,
): Promise<T> {
  const ref = `leases/${name}`;
  const holder = `${instance}/${randomUUID()}`;
  let hasWaited = false;
  for (let pause = 50; !(await take(registry, ref, holder)); pause = Math.min(pause * 2, 1000)) {
    hasWaited = true;
    await delay(pause, undefined, { signal });
  }
  const renewal = setInterval(() => {
    take(registry, ref, holder).catch((error: unknown) => {
      registry.log('warn', 'lease not renewed', { name, error: String(error) });
    });
  }, term / 3);
  renewal.unref();
  try {
    return await work(hasWaited);
  } finally {
    clearInterval(renewal);
    await release(registry, ref, holder);
  }
}

/** Takes or renews the lease; false while somebody else holds it. */
async function take(registry: Registry, ref: string, holder: string): Promise<boolean> {
  const now = registry.now().getTime();
  const taken = await registry.refs.update<Lease>(ref, (current) => {
    const held = current?.value;
    if (held && held.holder !== holder && Date.parse(held.until) > now && mayLive(held)) return null;
    const until = new Date(now + term).toISOString();
    return { value: { process: processName(), holder, until }, change: { actor, origin: null, action: 'take' } };
  });
  return taken?.value.holder === holder;
}

/** Whether its holder may still be at work. */
function mayLive({ process, holder }: Lease): boolean {
  return process === processName() ? holder.startsWith(instance) : isAlive(process);
}

async function release(registry: Registry, ref: string, holder: string): Promise<void> {
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
