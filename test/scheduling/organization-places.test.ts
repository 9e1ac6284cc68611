import { expect, test } from 'vitest';
import { createPlaces } from '../../src/scheduling/places.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isBegun = false;
  const work = () => {
    isBegun = true;
    return promise;
  };
  return { work, end: resolve, isBegun: () => isBegun };
}

test('work that hangs gives its slot to other work of its organization, as long as there is room for slow work', async () => {
  const places = createPlaces(2, { patience: 0 });
  const hanging = [held(), held(), held()];
  const taken = hanging.map(({ work }) => places.take('one', work));
  // Two go on as slow work; the third keeps the slot.
  await expect.poll(() => hanging.map(({ isBegun }) => isBegun())).toEqual([true, true, true]);
  expect(places.running()).toBe(3);
  expect(await places.take('two', async () => 'done')).toBe('done');
  const late = places.take('one', async () => 'late');
  hanging[0]!.end();
  expect(await late).toBe('late');
  for (const { end } of hanging) end();
  await Promise.all(taken);
  await places.onIdle();
  expect(places.running()).toBe(0);
});

test('without patience, work keeps its slot', async () => {
  const places = createPlaces(2);
  const [first, second] = [held(), held()];
  const taken = [first, second].map(({ work }) => places.take('one', work));
  expect(await places.take('two', async () => 'done')).toBe('done');
  expect(second.isBegun()).toBe(false);
  first.end();
  await taken[0];
  second.end();
  await taken[1];
});

test('what work rejects with is what its caller gets, and its slot is free again', async () => {
  const places = createPlaces(2, { patience: 0 });
  await expect(places.take('one', () => Promise.reject(new Error('Broken.')))).rejects.toThrow('Broken.');
  expect(await places.take('one', async () => 1)).toBe(1);
  expect(places.running()).toBe(0);
});
