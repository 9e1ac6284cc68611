import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { withLease, type HeldLease } from '../../src/sync/lease.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { watchLooks } from '../registry/watch-looks.ts';
import { createWorld, type World } from '../registry/world.ts';

const never = new AbortController().signal;
const lease = { org: 'acme', name: 'a' };
const leaseRef = 'leases/acme/a';

test('of two processes one works at a time', async () => {
  const { registry, another } = createWorld();
  const log: string[] = [];
  const other = watchLooks(another(), leaseRef);
  const work =
    (name: string, wait: () => Promise<void>) =>
    async ({ hasWaited }: HeldLease) => {
      log.push(`${name} ${hasWaited}`);
      await wait();
      log.push(name);
    };
  let second = Promise.resolve();
  const first = work('one', async () => {
    second = withLease(
      other.registry,
      lease,
      never,
      work('two', async () => undefined),
    );
    await withLease(another(), { org: 'acme', name: 'b' }, never, async () => void log.push('another name'));
    await other.look();
  });
  await withLease(registry, lease, never, first);
  await second;
  expect(log).toEqual(['one false', 'another name', 'one', 'two true', 'two']);
});

test('a lease is given back when the work fails, and waiting ends with the signal', async () => {
  const { registry, another } = createWorld();
  await expect(withLease(registry, lease, never, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const stop = new AbortController();
  await withLease(registry, lease, never, async () => {
    const other = watchLooks(another(), leaseRef);
    const waiting = withLease(other.registry, lease, stop.signal, async () => 'got it');
    const ended = waiting.catch(String);
    await other.look();
    stop.abort(new Error('stop'));
    expect(await ended).toContain('aborted');
  });
});

test('a lease that nobody renewed for a minute, and one of a process that is gone, are free', async () => {
  const { registry, pass } = createWorld();
  const held = (process: string) =>
    registry.refs.update('leases/acme/a', () => ({
      value: { process, holder: 'x/y', at: registry.now().toISOString(), isReleased: false },
      change: { actor: 'operator:test', origin: null, action: 'take' },
    }));
  await held('elsewhere/1');
  const work = withLease(registry, lease, never, async ({ hasWaited }) => hasWaited);
  for (const ended = work.then(() => true); !(await Promise.race([ended, pause(100)]));) pass(61_000);
  expect(await work).toBe(true);
  const { hostname } = await import('node:os');
  await held(`${hostname()}/999999999`);
  expect(await withLease(registry, lease, never, async ({ hasWaited }) => hasWaited)).toBe(false);
});

test.each([3_600_000, -3_600_000])('a clock that is set by %i ms frees no lease and holds none', async (step) => {
  const world = createWorld();
  await holdElsewhere(world, {});
  let got = false;
  const { registry, look } = watchLooks(world.registry, leaseRef);
  const work = withLease(registry, lease, never, async () => void (got = true));
  await look();
  world.step(step);
  await look();
  expect(got).toBe(false);
  world.pass(60_000);
  await work;
});

async function holdElsewhere({ registry }: World, held: object): Promise<void> {
  const value = { process: 'elsewhere/1', holder: 'x/y', at: registry.now().toISOString(), isReleased: false, ...held };
  const change = { actor: 'operator:test', origin: null, action: 'take' };
  await registry.refs.update('leases/acme/a', () => ({ value, change }));
}

test('a process whose clock is ahead does not take what is renewed by a slower clock', async () => {
  const world = createWorld();
  const stop = new AbortController();
  let got = false;
  // For this clock, it was taken two hours ago.
  const at = new Date(world.registry.now().getTime() - 7_200_000).toISOString();
  await holdElsewhere(world, { at });
  const { registry, look } = watchLooks(world.registry, leaseRef);
  const work = withLease(registry, lease, stop.signal, async () => void (got = true));
  for (let renewed = 0; renewed < 3; renewed++) {
    await look();
    world.pass(50_000);
    await holdElsewhere(world, { at, renewed });
  }
  await look();
  expect(got).toBe(false);
  // Nobody renews it any more.
  for (const ended = work.then(() => true); !got; await Promise.race([ended, pause(200)])) world.pass(61_000);
  await work;
});

test('a process of another container of the same name and number is not taken for one that is gone', async () => {
  const world = createWorld();
  const { hostname } = await import('node:os');
  const stop = new AbortController();
  for (const name of [`${hostname()}/999999999`, `${hostname()}/${process.pid}`]) {
    await holdElsewhere(world, { process: name, space: 'another' });
    const { registry, look } = watchLooks(world.registry, leaseRef);
    let got = false;
    withLease(registry, lease, stop.signal, async () => void (got = true)).catch(() => undefined);
    await look();
    await look();
    expect(got).toBe(false);
  }
  stop.abort(new Error('stop'));
});

test('work whose lease was taken over, since its process was suspended, is stopped', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const world = createWorld();
    const work = withLease(world.registry, lease, never, async ({ signal }) => {
      await holdElsewhere(world, {});
      await vi.advanceTimersByTimeAsync(20_000);
      await new Promise((_resolve, reject) => {
        if (signal.aborted) reject(signal.reason as Error);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    });
    await expect(work).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    vi.useRealTimers();
  }
});

test('whoever was suspended and lost the lease changes nothing more, whatever it was about to do', async () => {
  const world = createWorld();
  const other = world.another();
  const change = { actor: 'operator:test', origin: null, action: 'write' };
  const write = (registry: Registry, name: string, by: string) =>
    registry.refs.update(name, () => ({ value: { by, versions: [] }, change }));
  const outcome = withLease(world.registry, lease, never, async ({ registry }) => {
    await write(registry, 'resources/acme/apis/pay', 'the first');
    // As if on another machine: nobody can tell whether it still runs.
    await holdElsewhere(world, {});
    const second = withLease(other, lease, never, (held) =>
      write(held.registry, 'resources/acme/apis/pay', 'the second'),
    );
    for (const ended = second.then(() => true); !(await Promise.race([ended, pause(100)]));) world.pass(61_000);
    await expect(write(registry, 'resources/acme/apis/pay', 'the first again')).rejects.toMatchObject({
      code: 'unavailable',
    });
    await write(registry, 'resources/other/apis/pay', 'another organization');
  });
  await outcome;
  expect((await other.refs.readFresh('resources/acme/apis/pay'))?.value).toMatchObject({ by: 'the second' });
  // Who takes it next is not hindered.
  await withLease(world.another(), lease, never, ({ registry }) => write(registry, 'resources/acme/apis/pay', 'third'));
});

test('a fence that is raised while its change waits for the log stops that change', async () => {
  const { registry, another } = createWorld();
  const change = { actor: 'operator:test', origin: null, action: 'write' };
  const fence = { name: 'fences/acme/a', generation: 0 };
  const update = registry.refs.update(
    'resources/acme/apis/pay',
    async (current) => {
      if (current === null) await another().refs.update(fence.name, () => ({ value: {}, change }));
      return { value: { name: 'late', versions: [] }, change };
    },
    { fence },
  );
  await expect(update).rejects.toMatchObject({ code: 'unavailable' });
  expect(await another().refs.readFresh('resources/acme/apis/pay')).toBeNull();
});
