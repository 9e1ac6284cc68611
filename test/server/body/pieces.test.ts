import { expect, test } from 'vitest';
import { ownTurn } from '../../../src/server/body/pieces.ts';

test('large bodies get a piece a millisecond between them, however many come in at once', async () => {
  const started = performance.now();
  const order: string[] = [];
  const read = async (body: string) => {
    for (let piece = 0; piece < 10; piece++) {
      await ownTurn();
      order.push(body);
    }
  };
  await Promise.all([read('a'), read('b')]);
  // A timer may be up to a millisecond early, never more.
  expect(performance.now() - started).toBeGreaterThan(10);
  expect(order.join('')).toBe('ab'.repeat(10));
});
