import { expect, test } from 'vitest';
import { fuzz } from './fuzz.ts';

/** `scripts/fuzz.ts` sends more. */
const count = 1000;

test(`${count} requests drawn from the description: no 5xx, and no answer that it does not allow`, async () => {
  const { statuses, breaches } = await fuzz(count, 20_261_127);
  expect(breaches).toEqual([]);
  // The requests are worth something: they are taken and refused in many ways.
  for (const status of ['200', '201', '204', '304', '400', '401', '403', '404', '405', '409', '412', '415', '422']) {
    expect(Object.keys(statuses)).toContain(status);
  }
});
