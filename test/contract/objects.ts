import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf, type Digest } from '../../src/model/digest.ts';
import { createObjects, objectKey } from '../../src/store/objects.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { bytesOf, type OpenedBucket } from './bucket.ts';

/** Checks every promise of Objects on a bucket. `open` gives an empty one each time. */
export function objectsContract(name: string, open: () => Promise<OpenedBucket>): void {
  describe(`objects on ${name}`, () => {
    let opened: OpenedBucket;
    let bucket: Bucket;
    beforeEach(async () => {
      opened = await open();
      bucket = opened.bucket;
    });
    afterEach(() => opened.close());

    async function replace(digest: Digest, bytes: Uint8Array): Promise<void> {
      await bucket.delete(objectKey(digest));
      await bucket.putIfAbsent(objectKey(digest), bytes);
    }

    test('bytes are found under their digest', async () => {
      const objects = createObjects(bucket);
      const digest = await objects.put(bytesOf('inscription'));
      expect(digest).toBe(digestOf('inscription'));
      expect(await objects.put('inscription')).toBe(digest);
      expect(await bucket.list('')).toEqual([objectKey(digest)]);
      expect(objectKey(digest)).toMatch(/^objects\/sha256\/[0-9a-f]{2}\/[0-9a-f]{62}$/);
      for (const reader of [objects, createObjects(bucket), createObjects(bucket, { cacheBytes: 0 })]) {
        expect(Buffer.from((await reader.get(digest))!).toString()).toBe('inscription');
        expect(Buffer.from((await reader.get(digest))!).toString()).toBe('inscription');
      }
    });

    test('no bytes are bytes too, and absent is null', async () => {
      const objects = createObjects(bucket);
      expect(await objects.get(digestOf(''))).toBeNull();
      expect(await objects.put('')).toBe(digestOf(''));
      expect((await objects.get(digestOf('')))?.byteLength).toBe(0);
      expect(await objects.get(digestOf('never'))).toBeNull();
    });

    test('many writers of the same bytes all succeed', async () => {
      const writers = Array.from({ length: 20 }, () => createObjects(bucket));
      const digests = await Promise.all(writers.map((objects) => objects.put('the same')));
      expect(new Set(digests)).toEqual(new Set([digestOf('the same')]));
      expect(await bucket.list('')).toHaveLength(1);
    });

    test.each([
      ['changed', (bytes: Uint8Array) => bytes.map((byte, index) => (index === 3 ? byte ^ 1 : byte))],
      ['cut off', (bytes: Uint8Array) => bytes.subarray(0, -1)],
      ['emptied', () => new Uint8Array()],
      ['lengthened', (bytes: Uint8Array) => Buffer.concat([bytes, bytes])],
    ])('bytes that were %s are never handed out, nor taken for stored', async (_, damage) => {
      const digest = await createObjects(bucket).put('written in stone');
      await replace(digest, damage(bytesOf('written in stone')));
      const objects = createObjects(bucket);
      await expect(objects.get(digest)).rejects.toMatchObject({ code: 'corrupt' });
      await expect(objects.get(digest)).rejects.toMatchObject({ code: 'corrupt' });
      await expect(objects.put('written in stone')).rejects.toMatchObject({ code: 'corrupt' });
      expect(await Array.fromAsync(objects.list())).toEqual([digest]);
    });

    test('the list has every digest', async () => {
      const objects = createObjects(bucket);
      const digests = await Promise.all(Array.from({ length: 40 }, (_, index) => objects.put(`object ${index}`)));
      expect(await Array.fromAsync(objects.list())).toEqual([...digests].sort());
    });

    test('what is deleted is gone, from memory too', async () => {
      const objects = createObjects(bucket);
      const digest = await objects.put('withdrawn');
      await objects.get(digest);
      await objects.delete(digest);
      await objects.delete(digest);
      expect(await objects.get(digest)).toBeNull();
      expect(await bucket.list('')).toEqual([]);
    });

    test('bytes that another process deleted are stored again, whatever this one remembers', async () => {
      const objects = createObjects(bucket);
      const digest = await objects.put('collected');
      await objects.get(digest);
      await createObjects(bucket).delete(digest);
      await objects.put('collected');
      expect(Buffer.from((await createObjects(bucket).get(digest))!).toString()).toBe('collected');
    });

    test('memory is bounded and never wrong', async () => {
      const objects = createObjects(bucket, { cacheBytes: 100 });
      const texts = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(10));
      for (const text of texts) await objects.put(text);
      for (const round of [0, 1, 2]) {
        for (const text of texts) {
          expect(Buffer.from((await objects.get(digestOf(text)))!).toString(), `round ${round}`).toBe(text);
        }
      }
    });

    test.each(['sha256:', 'sha256:..', 'sha256:../../../etc/passwd', 'md5:0', '', `sha256:${'a'.repeat(100_000)}`])(
      'what is no digest reads nothing: %.40s',
      async (text) => {
        await expect(createObjects(bucket).get(text as Digest)).rejects.toThrow(TypeError);
      },
    );
  });
}
