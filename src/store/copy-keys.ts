import { listAll, type Bucket } from './bucket.ts';

/** The progress of a copy. */
export interface CopyListener {
  /** `bytes` were copied under a key. */
  copied(key: string, bytes: number): void;
  /** The bytes under a key are damaged and were not copied. */
  damaged(key: string, detail: string): void;
}

const atOnce = 16;

/**
 * Copies what one bucket has under a prefix and the other has not. `faultOf` says what is wrong
 * with the bytes of a key, or null. Copies keys while they are listed, so memory does not grow with their number.
 */
export async function copyKeys(
  from: Bucket,
  into: Bucket,
  prefix: string,
  faultOf: (key: string, bytes: Uint8Array) => string | null | Promise<string | null>,
  { copied, damaged }: CopyListener,
): Promise<void> {
  await inParallel(missingKeys(from, into, prefix), atOnce, async (key) => {
    const bytes = await from.get(key);
    // It was deleted since it was listed.
    if (bytes === null) return;
    const fault = await faultOf(key, bytes);
    if (fault !== null) return damaged(key, fault);
    await into.putIfAbsent(key, bytes);
    copied(key, bytes.byteLength);
  });
}

/** Deletes what the second bucket has under a prefix and the first has not. */
export async function deleteOthers(from: Bucket, into: Bucket, prefix: string): Promise<void> {
  await inParallel(missingKeys(into, from, prefix), atOnce, (key) => into.delete(key));
}

/** The keys with the prefix that the first bucket has and the second has not. */
async function* missingKeys(first: Bucket, second: Bucket, prefix: string): AsyncGenerator<string> {
  const others = listAll(second, prefix);
  let other = await others.next();
  for await (const key of listAll(first, prefix)) {
    while (!other.done && other.value < key) other = await others.next();
    if (other.done || other.value !== key) yield key;
  }
}

/** Works on the items, some at once. Takes no more of them after a failure, with which it rejects. */
export async function inParallel<T>(
  items: AsyncIterable<T>,
  workers: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let isOver = false;
  const worker = async (): Promise<void> => {
    try {
      while (!isOver) {
        const next = await iterator.next();
        if (next.done) return;
        await work(next.value);
      }
    } catch (error) {
      isOver = true;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
