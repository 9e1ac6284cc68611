import { expect, test } from 'vitest';
import { createFairQueue } from '../../src/scheduling/fair-queue.ts';

const never = new AbortController().signal;

test('an owner with much to do does not keep the others waiting, and is not kept waiting by them', async () => {
  const queue = createFairQueue(1);
  const begun: string[] = [];
  const add = (owner: string, name: string) => queue.add(owner, async () => void begun.push(name), never);
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => add('a', name));
  all.push(add('b', 'b1'), add('b', 'b2'), add('c', 'c1'));
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
});

test('who comes again and again does not overtake what waits', async () => {
  const queue = createFairQueue(1);
  const begun: string[] = [];
  const waiting = ['a1', 'a2', 'a3'].map((name) => queue.add('a', async () => void begun.push(name), never));
  for (let n = 1; n <= 5; n++) await queue.add('b', async () => void begun.push(`b${n}`), never);
  await Promise.all(waiting);
  expect(begun.indexOf('a3')).toBeLessThan(begun.indexOf('b4'));
});

test('what is called off while it waits never begins', async () => {
  const queue = createFairQueue(1);
  const gate = Promise.withResolvers<void>();
  const first = queue.add('a', () => gate.promise, never);
  const stop = new AbortController();
  let isBegun = false;
  const second = queue.add('a', async () => void (isBegun = true), stop.signal);
  stop.abort(new Error('called off'));
  await expect(second).rejects.toThrow('called off');
  gate.resolve();
  await first;
  await queue.onIdle();
  expect(isBegun).toBe(false);
});
