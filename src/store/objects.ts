import { digestOf, hexOf, type Digest } from '../model/digest.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import { listAll, type Bucket } from './bucket.ts';

/** Immutable bytes under their digest (design §5). */
export interface Objects {
  /**
   * Stores the bytes and returns their digest once they are durable. Storing the same bytes twice
   * is not an error. Rejects with `unavailable` if the bucket rejects them; retrying is safe.
   */
  put(bytes: Uint8Array | string): Promise<Digest>;
  /** Returns the bytes, or null. Rejects with `corrupt` if they do not match the digest. */
  get(digest: Digest): Promise<Uint8Array | null>;
  /** Yields every stored digest, whether its bytes match or not. */
  list(): AsyncIterable<Digest>;
  /** Removes the bytes. Only for garbage collection and withdrawn versions. */
  delete(digest: Digest): Promise<void>;
}

/** Returns the bucket key of an object: `objects/sha256/ab/cdef…`. */
export function objectKey(digest: Digest): string {
  const hex = hexOf(digest);
  return `objects/sha256/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/** Creates objects on a bucket, with an LRU cache of `cacheBytes` of verified bytes. */
export function createObjects(bucket: Bucket, { cacheBytes = 64 * 1024 * 1024 } = {}): Objects {
  const cache = createByteCache(cacheBytes);
  return {
    async put(bytes) {
      const buffer = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
      const digest = digestOf(buffer);
      const key = objectKey(digest);
      // Do not ask the cache: another process may have deleted the object since.
      const answer = await bucket.putIfAbsent(key, buffer).catch((error: unknown) => ({ error }));
      if (answer === 'created') return digest;
      const cause = typeof answer === 'object' ? answer.error : undefined;
      if (isRegistryError(cause)) throw cause;
      const stored = await bucket.get(key).catch((error: unknown) => {
        throw notStored(error);
      });
      if (stored === null) throw notStored(cause);
      if (digestOf(stored) === digest) return digest;
      throw new RegistryError('corrupt', `The stored bytes of ${digest} do not match it. Run \`stele fsck\`.`);
    },
    async get(digest) {
      const cached = cache.get(digest);
      if (cached) return cached;
      const bytes = await bucket.get(objectKey(digest));
      if (bytes === null) return null;
      if (digestOf(bytes) !== digest) {
        throw new RegistryError('corrupt', `The stored bytes of ${digest} do not match it. Run \`stele fsck\`.`);
      }
      cache.set(digest, bytes);
      return bytes;
    },
    async *list() {
      for await (const key of listAll(bucket, 'objects/sha256/')) {
        yield `sha256:${key.slice('objects/sha256/'.length).replace('/', '')}`;
      }
    },
    async delete(digest) {
      cache.delete(digest);
      await bucket.delete(objectKey(digest));
    },
  };
}

function notStored(cause: unknown): RegistryError {
  const message = 'The store rejected the write; nothing was published. Try again.';
  return new RegistryError('unavailable', message, { cause, retryAfter: 1 });
}

interface ByteCache {
  get(digest: Digest): Uint8Array | undefined;
  set(digest: Digest, bytes: Uint8Array): void;
  delete(digest: Digest): void;
}

/** Least recently used out first: a Map keeps insertion order, and a hit is inserted again. */
function createByteCache(capacity: number): ByteCache {
  const entries = new Map<Digest, Uint8Array>();
  let size = 0;
  function remove(digest: Digest): void {
    size -= entries.get(digest)?.byteLength ?? 0;
    entries.delete(digest);
  }
  return {
    get(digest) {
      const bytes = entries.get(digest);
      if (bytes) {
        entries.delete(digest);
        entries.set(digest, bytes);
      }
      return bytes;
    },
    set(digest, bytes) {
      if (bytes.byteLength > capacity / 4) return;
      remove(digest);
      entries.set(digest, bytes);
      size += bytes.byteLength;
      for (const oldest of entries.keys()) {
        if (size <= capacity) break;
        remove(oldest);
      }
    },
    delete: remove,
  };
}
