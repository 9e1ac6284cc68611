import { afterEach, expect, test, vi } from 'vitest';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createRequestTurns } from '../../src/store/s3-objects.ts';
import { createClock, createIds, increment } from '../contract/refs.ts';

const waits: { milliseconds: number; end: () => void }[] = [];

vi.mock('node:timers/promises', async (original) => ({
  ...(await original<object>()),
  setTimeout: (milliseconds: number) => new Promise<void>((end) => void waits.push({ milliseconds, end })),
}));

const name = 'repositories/acme/one';

afterEach(() => {
  vi.restoreAllMocks();
  waits.length = 0;
});

test('who wins against another process leaves it a part of the time that a write takes, and soon no more', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const bucket = createMemoryBucket();
  const own = createClock();
  const slow: Bucket = {
    ...bucket,
    putIfAbsent(key, bytes) {
      own.advance(40);
      return bucket.putIfAbsent(key, bytes);
    },
  };
  const [busy, rival] = [slow, bucket].map((each, index) =>
    createRefs(each, { ...own, uniqueId: createIds(`writer-${index}`), maxAge: 0 }),
  ) as [ReturnType<typeof createRefs>, ReturnType<typeof createRefs>];
  // Alone, nobody is left time.
  await Promise.all([increment(busy, name), increment(busy, name), increment(busy, name)]);
  expect(waits).toEqual([]);
  await increment(rival, name);
  const [first, second] = [increment(busy, name), increment(busy, name)];
  await first;
  await vi.waitUntil(() => waits.length > 0);
  expect(waits[0]!.milliseconds).toBe(20);
  // The rival's turn.
  expect((await increment(rival, name))?.value).toBe(6);
  waits[0]!.end();
  expect((await second)?.value).toBe(7);
  await vi.waitUntil(() => waits.length > 1);
  waits[1]!.end();
  // Nobody else wrote for a second: the second of these does not wait for the first.
  own.advance(1000);
  for (const value of [8, 9]) expect((await increment(busy, name))?.value).toBe(value);
  expect(waits).toHaveLength(2);
});

test('requests to S3 are retried after a random part of a time that doubles', async () => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const next = createRequestTurns({ timeout: 1000, attempts: 4, pause: 100, total: 10_000 });
  for (const part of [0.5, 0.1, 1]) {
    random.mockReturnValue(part);
    const waited = next();
    waits.at(-1)!.end();
    expect(await waited).toBe(true);
  }
  expect(waits.map(({ milliseconds }) => milliseconds)).toEqual([50, 20, 400]);
  expect(await next()).toBe(false);
});
