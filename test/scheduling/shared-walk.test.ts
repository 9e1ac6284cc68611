import { expect, test } from 'vitest';
import { shareWalk } from '../../src/scheduling/turns.ts';

test('one walk answers everyone who asks within its time, and the next asker after that makes another', async () => {
  let time = 0;
  let walks = 0;
  const share = shareWalk(
    400,
    () => time,
    async () => ++walks,
  );
  expect(await Promise.all([share(), share()])).toEqual([1, 1]);
  time = 399;
  expect(await share()).toBe(1);
  time = 400;
  expect(await share()).toBe(2);
});
