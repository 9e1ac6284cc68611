import { expect, test } from 'vitest';
import { encodeJson } from '../../src/model/json.ts';
import { assertFormat, hasFormat } from '../../src/store/format.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { bytesOf } from '../contract/bucket.ts';

test('an empty store gets a format, and is opened again', async () => {
  const bucket = createMemoryBucket();
  expect(await hasFormat(bucket)).toBe(false);
  await assertFormat(bucket);
  expect(await hasFormat(bucket)).toBe(true);
  await assertFormat(bucket);
});

test.each<[string, string, Uint8Array, string]>([
  ['of a later version', 'format', encodeJson({ format: 3 }), 'The store has format 3;'],
  ['that cannot be read', 'format', bytesOf('{"form'), 'The store has format that cannot be read;'],
  ['of an earlier version', 'refs/resources/a/1', bytesOf('{}'), 'The store has format 1,'],
])('a store with a format %s is refused with what to do, and nothing is written', async (_, key, bytes, message) => {
  const bucket = createMemoryBucket();
  await bucket.putIfAbsent(key, bytes);
  await expect(assertFormat(bucket)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      new RegExp(`^${message}.* Use the version of Stele that wrote it, or point Stele to an empty folder`),
    ),
  });
  expect(await bucket.list('', { limit: 10 })).toEqual([key]);
});
