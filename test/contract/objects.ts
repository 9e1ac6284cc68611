import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf, type Digest } from '../../src/model/digest.ts';
import { createObjects, objectKey, packKey } from '../../src/store/objects.ts';
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

    describe('packs', () => {
      const root = bytesOf('the manifest');
      const small = Array.from({ length: 5 }, (_, index) => bytesOf(`piece ${index} `.repeat(200)));
      const large = bytesOf('x'.repeat(64 * 1024 + 1));
      const many = Array.from({ length: 20 }, (_, index) => bytesOf(`${index} `.repeat(15_000)));
      const manifest = digestOf(root);
      const read = async (digest: Digest, pack?: Digest) =>
        Buffer.from((await createObjects(bucket).get(digest, pack)) ?? []).toString();

      test('small pieces are one bucket object with their root; large ones are their own', async () => {
        const objects = createObjects(bucket);
        expect(await objects.putPack(root, [...small, large, small[0]!])).toBe(manifest);
        expect(await bucket.list('')).toEqual([objectKey(digestOf(large)), packKey(manifest)]);
        for (const piece of [root, ...small, large])
          expect(await read(digestOf(piece), manifest)).toBe(Buffer.from(piece).toString());
        expect(await Array.fromAsync(objects.list())).toEqual([digestOf(large)]);
        expect(await Array.fromAsync(objects.listPacks())).toEqual([manifest]);
        expect(await objects.get(digestOf('never'), manifest)).toBeNull();
        expect(await objects.get(digestOf(small[0]!))).toBeNull();
      });

      test('a pack is bounded, whatever there are of pieces', async () => {
        await createObjects(bucket).putPack(root, many);
        expect((await bucket.get(packKey(manifest)))!.byteLength).toBeLessThan(300 * 1024);
        for (const piece of many) expect(await read(digestOf(piece), manifest)).toBe(Buffer.from(piece).toString());
      });

      test('storing it again, with its pieces in another order, loses nothing and succeeds', async () => {
        await createObjects(bucket).putPack(root, many);
        expect(await createObjects(bucket).putPack(root, many.toReversed())).toBe(manifest);
        for (const piece of many) expect(await read(digestOf(piece), manifest)).toBe(Buffer.from(piece).toString());
      });

      test.each([
        ['changed', (bytes: Uint8Array) => bytes.map((byte, index) => (index === bytes.length - 3 ? byte ^ 1 : byte))],
        ['cut off', (bytes: Uint8Array) => bytes.subarray(0, -1)],
        ['emptied', () => new Uint8Array()],
        ['changed in its index', (bytes: Uint8Array) => bytes.map((byte, index) => (index === 40 ? byte ^ 1 : byte))],
        ['replaced by the bytes of its root', () => root],
      ])('pieces of a pack that was %s are never handed out, nor taken for stored', async (_, damage) => {
        await createObjects(bucket).putPack(root, small);
        const bytes = (await bucket.get(packKey(manifest)))!;
        await bucket.delete(packKey(manifest));
        await bucket.putIfAbsent(packKey(manifest), damage(bytes));
        const objects = createObjects(bucket);
        await expect(objects.get(digestOf(small.at(-1)!), manifest)).rejects.toMatchObject({ code: 'corrupt' });
        await expect(objects.putPack(root, small)).rejects.toMatchObject({ code: 'corrupt' });
      });

      test('what is deleted is gone, from memory too, and other packs keep their pieces', async () => {
        const objects = createObjects(bucket);
        const other = await objects.putPack(bytesOf('another manifest'), small);
        await objects.putPack(root, small);
        await objects.get(manifest, manifest);
        await objects.delete(manifest);
        expect(await objects.get(manifest, manifest)).toBeNull();
        expect(await objects.get(digestOf(small[0]!), manifest)).toBeNull();
        expect(await objects.get(digestOf(small[0]!), other)).not.toBeNull();
      });
    });

    test.each(['sha256:', 'sha256:..', 'sha256:../../../etc/passwd', 'md5:0', '', `sha256:${'a'.repeat(100_000)}`])(
      'what is no digest reads nothing: %.40s',
      async (text) => {
        await expect(createObjects(bucket).get(text as Digest)).rejects.toThrow(TypeError);
      },
    );
  });
}
