import { expect, test } from 'vitest';
import { createTurns } from '../../src/scheduling/turns.ts';

test('of one organization eight go on at once, of another one beside them, and all come to their end', async () => {
  const turns = createTurns();
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  const work = (org: string) =>
    turns.take(org, async () => {
      started.push(org);
      await gate.promise;
      return org;
    });
  const all = Array.from({ length: 20 }, () => work('one'));
  const other = work('two');
  await new Promise((resolve) => setImmediate(resolve));
  expect(started.filter((org) => org === 'one')).toHaveLength(8);
  expect(started).toContain('two');
  gate.resolve();
  expect(await Promise.all([...all, other])).toHaveLength(21);
});

test('work that fails gives its place to the next', async () => {
  const turns = createTurns();
  const failing = Array.from({ length: 20 }, () => turns.take('one', () => Promise.reject(new Error('no'))));
  const ends = await Promise.allSettled(failing);
  expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  expect(await turns.take('one', async () => 7)).toBe(7);
});

test('of one organization no more than 32 wait; further ones get a time to try again, and others come in', async () => {
  const turns = createTurns();
  const gate = Promise.withResolvers<void>();
  const all = Array.from({ length: 40 }, () => turns.take('one', () => gate.promise));
  await expect(turns.take('one', async () => 1)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 5 });
  expect(await turns.take('two', async () => 2)).toBe(2);
  gate.resolve();
  await Promise.all(all);
  expect(await turns.take('one', async () => 3)).toBe(3);
});
