import { expect, test } from 'vitest';
import { inParallel } from '../../src/store/copy-keys.ts';

test('work that fails takes no more items, and rejects with the failure', async () => {
  const taken: number[] = [];
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  async function* items(): AsyncGenerator<number> {
    for (let item = 0; item < 100; item++) yield item;
  }
  const work = inParallel(items(), 2, async (item) => {
    taken.push(item);
    if (item === 0) await held;
    else throw new Error('full');
  });
  await expect(work).rejects.toThrow('full');
  end();
  await held;
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(taken).toEqual([0, 1]);
});
