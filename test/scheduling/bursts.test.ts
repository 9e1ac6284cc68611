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
  const events: (number | string)[] = [];
  const wait = setTimeout;
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, pause: number) => {
    events.push(pause);
    return wait(run, pause);
  }) as typeof setTimeout);
  const task = async () => {
    events.push('task');
    work(20);
  };
  await Promise.all(Array.from({ length: 4 }, () => inBursts('a', task)));
  spy.mockRestore();
  // The first task begins alone. Then come two, and then the last.
  const [first, second] = [expect.any(Number), expect.any(Number)] as [number, number];
  expect(events).toEqual(['task', first, 'task', 'task', second, 'task', expect.any(Number)]);
  expect(events[1]).toBeGreaterThanOrEqual(40);
  expect(events[4]).toBeGreaterThanOrEqual(80);
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
