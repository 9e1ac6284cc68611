import { afterEach, describe, expect, test, vi } from 'vitest';
import { createFairQueue, type FairQueue } from '../../src/scheduling/fair-queue.ts';

afterEach(() => void vi.useRealTimers());

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Adds work that runs until it is told to end, and keeps what has begun. */
function watched(queue: FairQueue): {
  begun: string[];
  add(owner: string, name?: string, lane?: string, more?: { isShort?: boolean }): Promise<void>;
  end(name: string): Promise<unknown>;
} {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    add: (owner, name = owner, lane = owner, more = {}) =>
      queue.add({ owner, lane, ...more }, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.set(name, resolve));
      }),
    end(name) {
      ends.get(name)!();
      return settled();
    },
  };
}

describe('turns', () => {
  test('an owner with much to do does not keep the others waiting, and is not kept waiting by them', async () => {
    const queue = createFairQueue(1);
    const begun: string[] = [];
    const add = (owner: string, name: string) => queue.add({ owner }, async () => void begun.push(name));
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => add('a', name));
    all.push(add('b', 'b1'), add('b', 'b2'), add('c', 'c1'));
    await Promise.all(all);
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  test('who comes again and again does not overtake what waits', async () => {
    const queue = createFairQueue(1);
    const begun: string[] = [];
    const waiting = ['a1', 'a2', 'a3'].map((name) => queue.add({ owner: 'a' }, async () => void begun.push(name)));
    for (let n = 1; n <= 5; n++) await queue.add({ owner: 'b' }, async () => void begun.push(`b${n}`));
    await Promise.all(waiting);
    expect(begun.indexOf('a3')).toBeLessThan(begun.indexOf('b4'));
  });
});

describe('places', () => {
  test.each([2, 3, 5])('of %i places an owner never takes the last free one', async (places) => {
    const { begun, add } = watched(createFairQueue(places));
    for (let n = 0; n < 10; n++) void add('greedy', `greedy ${n}`);
    await settled();
    expect(begun).toHaveLength(places - 1);
    void add('other');
    await settled();
    expect(begun.at(-1)).toBe('other');
  });

  test('an owner takes the only place', async () => {
    const { begun, add } = watched(createFairQueue(1));
    void add('a');
    await settled();
    expect(begun).toEqual(['a']);
  });

  test('an owner has at most half of the places while others wait', async () => {
    const { begun, add, end } = watched(createFairQueue(6));
    for (let n = 0; n < 9; n++) void add('a', `a${n}`);
    for (let n = 0; n < 9; n++) void add('b', `b${n}`);
    await settled();
    expect(begun).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'b0']);
    await end('a0');
    await end('a1');
    // Three of `a` work still, which is half: its next one is not begun, though its number is lower.
    expect(begun.slice(6)).toEqual(['b1']);
    await end('b0');
    await end('b1');
    expect(begun.slice(7)).toEqual(['b2', 'b3']);
  });

  test('an owner has at most half of the places for as long as another was here just before', async () => {
    let time = 0;
    const { begun, add, end } = watched(createFairQueue(4, () => time));
    void add('small');
    await settled();
    await end('small');
    for (let n = 0; n < 9; n++) void add('large', `large ${n}`);
    await settled();
    expect(begun.slice(1)).toEqual(['large 0', 'large 1']);
    time = 1999;
    await end('large 0');
    expect(begun.slice(3)).toEqual(['large 2']);
    time = 2000;
    await end('large 1');
    expect(begun.slice(4)).toEqual(['large 3', 'large 4']);
  });

  test('short work waits for no long work, neither of its owner nor of others, but for other short work', async () => {
    const queue = createFairQueue(3);
    const { begun, add, end } = watched(queue);
    for (let n = 0; n < 9; n++) void add('a', `long ${n}`);
    void add('b');
    await settled();
    expect(begun).toEqual(['long 0', 'long 1', 'b']);
    void add('a', 'short of a', 'a', { isShort: true });
    void add('c', 'short of c', 'c', { isShort: true });
    await settled();
    expect(begun.slice(3)).toEqual(['short of a']);
    await end('short of a');
    expect(begun.slice(4)).toEqual(['short of c']);
    await end('short of c');
    // It went before others without moving them back.
    void add('c', 'long of c');
    await end('b');
    expect(begun.slice(5)).toEqual(['long of c']);
  });

  test('the lanes of one owner share its places and take turns', async () => {
    const { begun, add, end } = watched(createFairQueue(2));
    for (let n = 0; n < 3; n++) void add('a', `read ${n}`, 'readers of a');
    void add('a', 'publish');
    await settled();
    expect(begun).toEqual(['read 0']);
    await end('read 0');
    expect(begun).toEqual(['read 0', 'publish']);
  });
});

describe('what waits', () => {
  test('never begins when it is called off', async () => {
    const queue = createFairQueue(1);
    const gate = Promise.withResolvers<void>();
    const first = queue.add({ owner: 'a' }, () => gate.promise);
    const stop = new AbortController();
    let isBegun = false;
    const second = queue.add({ owner: 'a', signal: stop.signal }, async () => void (isBegun = true));
    stop.abort(new Error('called off'));
    await expect(second).rejects.toThrow('called off');
    gate.resolve();
    await first;
    await queue.onIdle();
    expect(isBegun).toBe(false);
  });

  test('is refused with a time to ask again when its patience ends, and says whose work was in the way', async () => {
    vi.useFakeTimers();
    const queue = createFairQueue(1);
    const never = () => new Promise<never>(() => undefined);
    void queue.add({ owner: 'a' }, never);
    const own = queue.add({ owner: 'a', patience: 60_000 }, never).catch((error: unknown) => error);
    const others = queue.add({ owner: 'b', patience: 60_000 }, never).catch((error: unknown) => error);
    vi.advanceTimersByTime(59_000);
    const late = queue.add({ owner: 'b', patience: 60_000 }, never);
    vi.advanceTimersByTime(1000);
    expect(await own).toMatchObject({ code: 'rate_limited', retryAfter: 10 });
    expect(await others).toMatchObject({ code: 'unavailable', retryAfter: 10 });
    expect(await Promise.race([late, Promise.resolve('waits')])).toBe('waits');
  });

  test('waits as long as it takes where it has no limit', async () => {
    vi.useFakeTimers();
    const queue = createFairQueue(1);
    const gate = Promise.withResolvers<void>();
    const first = queue.add({ owner: 'a' }, () => gate.promise);
    const second = queue.add({ owner: 'a' }, async () => 'done');
    vi.advanceTimersByTime(24 * 3_600_000);
    gate.resolve();
    await first;
    expect(await second).toBe('done');
  });
});

describe('work whose place rests', () => {
  test('is done at once, and the next waits four times as long as it took, but no longer than it may', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    let time = 0;
    const queue = createFairQueue(1, () => time);
    const done: string[] = [];
    const add = (name: string, takes: number) =>
      queue.add({ owner: name, longestRest: 25 }, async () => {
        time += takes;
        done.push(name);
      });
    const all = Promise.all([add('a', 4), add('b', 400), add('c', 1)]);
    await settled();
    expect(done).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(15);
    expect(done).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toEqual(['a', 'b']);
    await vi.advanceTimersByTimeAsync(24);
    expect(done).toEqual(['a', 'b']);
    await vi.advanceTimersByTimeAsync(1);
    await all;
    expect(done).toEqual(['a', 'b', 'c']);
  });

  test('ends its turn also where it fails', async () => {
    const queue = createFairQueue(1);
    const failed = queue.add({ owner: 'a', longestRest: 1 }, () => Promise.reject(new Error('broken')));
    const next = queue.add({ owner: 'a', longestRest: 1 }, async () => 'next');
    await expect(failed).rejects.toThrow('broken');
    expect(await next).toBe('next');
  });
});
