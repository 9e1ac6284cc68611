import { expect, test } from 'vitest';
import { withLease } from '../../src/registry/lease.ts';
import { createWorld } from './world.ts';

const never = new AbortController().signal;

test('of two processes one works at a time', async () => {
  const { registry, another } = createWorld();
  const log: string[] = [];
  const work = (name: string) => async (hasWaited: boolean) => {
    log.push(`${name} ${hasWaited}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    log.push(name);
  };
  const other = another();
  await Promise.all([
    withLease(registry, 'acme/a', never, work('one')),
    withLease(other, 'acme/a', never, work('two')),
    withLease(other, 'acme/b', never, async () => void log.push('another name')),
  ]);
  const ours = log.filter((line) => line !== 'another name');
  expect(ours[1]).toBe(ours[0]!.replace(' false', ''));
  expect(ours[2]).toMatch(/true$/);
  expect(log).toContain('another name');
});

test('a lease is given back when the work fails, and waiting ends with the signal', async () => {
  const { registry, another } = createWorld();
  await expect(withLease(registry, 'acme/a', never, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const stop = new AbortController();
  await withLease(registry, 'acme/a', never, async () => {
    const waiting = withLease(another(), 'acme/a', stop.signal, async () => 'got it');
    setTimeout(() => stop.abort(new Error('stop')), 100);
    await expect(waiting).rejects.toThrow('aborted');
  });
});

test('a lease that nobody renewed for a minute, and one of a process that is gone, are free', async () => {
  const { registry, pass } = createWorld();
  const held = (process: string) =>
    registry.refs.update('leases/acme/a', () => ({
      value: { process, holder: 'x/y', until: new Date(registry.now().getTime() + 60_000).toISOString() },
      change: { actor: 'operator:test', origin: null, action: 'take' },
    }));
  await held('elsewhere/1');
  const work = withLease(registry, 'acme/a', never, async (hasWaited) => hasWaited);
  pass(61_000);
  expect(await work).toBe(true);
  const { hostname } = await import('node:os');
  await held(`${hostname()}/999999999`);
  expect(await withLease(registry, 'acme/a', never, async (hasWaited) => hasWaited)).toBe(false);
});
