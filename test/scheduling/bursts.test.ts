import { expect, test, vi } from 'vitest';
import { createBursts } from '../../src/scheduling/bursts.ts';

/** Keeps the event loop busy. */
function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

test('a task that comes alone starts at once', async () => {
  const inBursts = createBursts({ size: 1, longestPause: 60_000 });
  expect(await inBursts('a', async () => 'done')).toBe('done');
});

test('between bursts there is time for others, twice as long as the loop was busy', async () => {
  const inBursts = createBursts({ size: 2, longestPause: 60_000 });
  const starts: number[] = [];
  const task = async () => {
    starts.push(performance.now());
    work(20);
  };
  await Promise.all(Array.from({ length: 4 }, () => inBursts('a', task)));
  // The first task begins alone. Then come two, and then the last.
  expect(starts[1]! - starts[0]!).toBeGreaterThan(55);
  expect(starts[2]! - starts[1]!).toBeLessThan(starts[1]! - starts[0]!);
  expect(starts[3]! - starts[2]!).toBeGreaterThan(75);
});

test('a pause is not longer than the longest', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  try {
    const inBursts = createBursts({ size: 1, longestPause: 5 });
    await inBursts('a', async () => work(20));
    let isNext = false;
    const next = inBursts('a', async () => void (isNext = true));
    vi.advanceTimersByTime(4);
    await Promise.resolve();
    expect(isNext).toBe(false);
    vi.advanceTimersByTime(1);
    await next;
    expect(isNext).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('owners take turns, whoever came first', async () => {
  const inBursts = createBursts({ size: 1, longestPause: 1 });
  const order: string[] = [];
  const add = (owner: string, name: string) => inBursts(owner, async () => void order.push(name));
  await Promise.all([add('a', 'a1'), add('a', 'a2'), add('a', 'a3'), add('b', 'b1')]);
  expect(order).toEqual(['a1', 'a2', 'b1', 'a3']);
});

test('a task that fails ends its burst, and the next one begins', async () => {
  const inBursts = createBursts({ size: 1, longestPause: 1 });
  const failed = inBursts('a', () => Promise.reject(new Error('broken')));
  const next = inBursts('a', async () => 'next');
  await expect(failed).rejects.toThrow('broken');
  expect(await next).toBe('next');
});
