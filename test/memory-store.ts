import { assertKey, type Bucket } from '../src/store/bucket.ts';
import { assertCacheKey, type Cache } from '../src/store/cache.ts';

/** A planned failure of one call. */
export type Fault =
  | 'fail' // it rejects, and nothing happened
  | 'fail-after' // it rejects after it succeeded: the reply was lost
  | 'lose'; // putIfAbsent: another writer was faster; the rival bytes are stored and it returns `exists`

/** A bucket in memory. */
export interface MemoryBucket extends Bucket {
  /** Makes the next `count` calls of the method whose key satisfies `when` fail this way. */
  fault(
    method: keyof Bucket,
    kind: Fault,
    options?: { count?: number; when?: (key: string) => boolean; rival?: Uint8Array },
  ): void;
  /** Returns the number of calls of each method. */
  calls(): Record<keyof Bucket, number>;
}

interface Planned {
  method: keyof Bucket;
  kind: Fault;
  left: number;
  when: (key: string) => boolean;
  rival: Uint8Array;
}

/**
 * Creates an empty bucket. Bytes are copied in and out, so that callers cannot change what is
 * stored.
 */
export function createMemoryBucket(): MemoryBucket {
  const entries = new Map<string, Uint8Array>();
  const counts = { get: 0, getPart: 0, putIfAbsent: 0, list: 0, delete: 0, check: 0 };
  let planned: Planned[] = [];

  async function run<T>(method: keyof Bucket, key: string, work: () => T): Promise<T> {
    counts[method]++;
    const plan = planned.find((candidate) => candidate.method === method && candidate.when(key));
    if (plan && --plan.left === 0) planned = planned.filter((other) => other !== plan);
    await Promise.resolve();
    if (plan?.kind === 'fail') throw new Error(`Planned failure of ${method} ${key}`);
    if (plan?.kind === 'lose' && !entries.has(key)) entries.set(key, plan.rival);
    const result = work();
    if (plan?.kind === 'fail-after') throw new Error(`Planned loss of the answer of ${method} ${key}`);
    return result;
  }

  return {
    async get(key) {
      assertKey(key);
      return run('get', key, () => entries.get(key)?.slice() ?? null);
    },
    async getPart(key, start, end) {
      assertKey(key);
      return run('getPart', key, () => entries.get(key)?.slice(start, end) ?? null);
    },
    async putIfAbsent(key, bytes) {
      assertKey(key);
      const copy = bytes.slice();
      return run('putIfAbsent', key, () => {
        if (entries.has(key)) return 'exists';
        entries.set(key, copy);
        return 'created';
      });
    },
    async list(prefix, { after = '', limit = 1000 } = {}) {
      return run('list', prefix, () =>
        [...entries.keys()]
          .filter((key) => key.startsWith(prefix) && key > after)
          .sort()
          .slice(0, limit),
      );
    },
    async delete(key) {
      assertKey(key);
      return run('delete', key, () => void entries.delete(key));
    },
    check: () => run('check', '', () => undefined),
    fault(method, kind, { count = 1, when = () => true, rival = new Uint8Array() } = {}) {
      planned.push({ method, kind, left: count, when, rival });
    },
    calls: () => ({ ...counts }),
  };
}

/** Creates a cache in memory. */
export function createMemoryCache(): Cache {
  const entries = new Map<string, Uint8Array>();
  return {
    async get(key) {
      assertCacheKey(key);
      return entries.get(key) ?? null;
    },
    async put(key, bytes) {
      assertCacheKey(key);
      entries.set(key, bytes);
    },
    clear: async () => entries.clear(),
  };
}
