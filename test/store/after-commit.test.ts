import { expect, test } from 'vitest';
import { watchingCommits, createRefs } from '../../src/store/refs.ts';
import { createMemoryBucket } from '../memory-store.ts';

const change = { actor: 'a', origin: null, action: 'test' };

test('a fence holds for a change that is watched', async () => {
  let id = 0;
  const refs = createRefs(createMemoryBucket(), {
    now: () => new Date(0),
    monotonic: () => 0,
    uniqueId: () => `id${id++}`,
  });
  const fence = { name: 'fences/acme/one', generation: 7 };
  const write = watchingCommits({ refs }, (registry) =>
    registry.refs.update('resources/acme/apis/pay', () => ({ value: { versions: [] }, change }), { fence }),
  );
  await expect(write).rejects.toMatchObject({ code: 'unavailable' });
});
