import { LRUCache } from 'lru-cache';
import { digestOf, type Digest } from '../model/digest.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import { assertKey, type Bucket } from './bucket.ts';
import {
  corrupt,
  decodeGeneration,
  generationKey,
  listGenerations,
  parseGenerationKey,
  type Generation,
} from './generations.ts';
import { decodeJson, encodeJson } from '../model/json.ts';

/** Who made a change and how: recorded with each generation. */
export interface Change {
  actor: string;
  origin: string | null;
  action: string;
  operation?: string;
}

type Decision<T> = { value: T; change: Change } | null;
export type Decide<T> = (current: Generation<T> | null) => Decision<T> | Promise<Decision<T>>;

/**
 * Named values with a history (design §5). A name is a bucket key of at least two segments and
 * never the parent of another name (`a/b` and `a/b/c`). An invalid name throws a TypeError. A
 * history never loses or changes a generation, and each generation holds the digest of the previous
 * one.
 */
export interface Refs {
  /**
   * Returns the newest generation, or null. Writes of other processes are seen within `maxAge`, own
   * writes at once.
   */
  read<T>(name: string): Promise<Generation<T> | null>;

  /** Returns the newest generation in the bucket, or null, without using the cache. */
  readFresh<T>(name: string): Promise<Generation<T> | null>;

  /**
   * Appends a generation. `decide` gets the newest one and returns the next value with its change,
   * or null to change nothing. It must have no side effects: it runs again if another writer was
   * faster. Resolves to the newest generation. Rejects with `outcome_unknown` if the write was sent
   * and cannot be read back.
   */
  update<T>(name: string, decide: Decide<T>): Promise<Generation<T> | null>;

  /** Yields every generation, newest first. Throws `corrupt` if the chain is broken. */
  history<T>(name: string): AsyncIterable<Generation<T>>;

  /**
   * Yields the names with the prefix (after the name `after`) in order. `prefix` ends with `/` or
   * is empty.
   */
  list(prefix: string, after?: string): AsyncIterable<string>;

  /**
   * Calls the listener with each name appended to through this object, once it is durable. Returns
   * a function that stops it. Appends of other processes are not reported. A listener must not
   * throw.
   */
  watch(listener: (name: string) => void): () => void;
}

export interface RefsOptions {
  /** The time recorded with a change. */
  now: () => Date;
  /** Monotonic clock in milliseconds, for the age of cached values. */
  monotonic: () => number;
  /** Returns a unique string of key characters. */
  uniqueId: () => string;
  /** Milliseconds for which a cached value counts as the newest. */
  maxAge?: number;
}

const attempts = 200;

interface Known {
  checkedAt: number;
  newest: { generation: Generation<unknown>; digest: Digest } | null;
}

/** Creates refs on a bucket. */
export function createRefs(bucket: Bucket, { now, monotonic, uniqueId, maxAge = 500 }: RefsOptions): Refs {
  const known = new LRUCache<string, Known>({ max: 50_000 });
  const pending = new Map<string, { startedAt: number; answer: Promise<Known> }>();
  const turns = new Map<string, Promise<unknown>>();
  const listeners = new Set<(name: string) => void>();

  function remember(name: string, entry: Known): Known {
    const old = known.get(name);
    // A listing may start before a write and end after it. Generations never vanish: the higher one
    // wins.
    if ((old?.newest?.generation.generation ?? 0) > (entry.newest?.generation.generation ?? 0)) return old!;
    known.set(name, entry);
    return entry;
  }

  async function readNewest(name: string): Promise<Known> {
    assertName(name);
    const checkedAt = monotonic();
    const generation = await newestNumber(name);
    if (generation === null) return remember(name, { checkedAt, newest: null });
    const old = known.get(name)?.newest;
    if (old?.generation.generation === generation) return remember(name, { checkedAt, newest: old });
    const key = generationKey(name, generation);
    const bytes = await bucket.get(key);
    if (bytes === null) throw corrupt(`${key} was listed but is gone.`);
    return remember(name, { checkedAt, newest: { generation: decodeGeneration(key, bytes), digest: digestOf(bytes) } });
  }

  /** Lists one key; more only if a foreign file sorts before the generations. */
  async function newestNumber(name: string): Promise<number | null> {
    const folder = `refs/${name}/`;
    const [first] = await bucket.list(folder, { limit: 1 });
    if (first === undefined) return null;
    const found = parseGenerationKey(first);
    if (found?.name === name) return found.generation;
    for await (const page of listGenerations(bucket, folder)) {
      const newest = page.find((each) => each.name === name);
      if (newest) return newest.generation;
    }
    return null;
  }

  /** Readers share a running read, unless it started more than `maxAge` ago. */
  function readShared(name: string): Promise<Known> {
    const startedAt = monotonic();
    const running = pending.get(name);
    if (running && startedAt - running.startedAt < maxAge) return running.answer;
    const answer = readNewest(name).finally(() => pending.get(name)?.answer === answer && pending.delete(name));
    pending.set(name, { startedAt, answer });
    return answer;
  }

  /** Writers of one process take turns at a name; otherwise they would make each other retry. */
  function takeTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(name) ?? Promise.resolve()).then(work, work);
    turns.set(name, turn);
    const leave = () => void (turns.get(name) === turn && turns.delete(name));
    turn.then(leave, leave);
    return turn;
  }

  /** Writes one generation. Returns whether the stored one is ours. */
  async function append(key: string, bytes: Uint8Array, writeId: string): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      const answer = await bucket.putIfAbsent(key, bytes).catch((error: unknown) => ({ error }));
      if (answer === 'created') return true;
      const failure = typeof answer === 'object' ? answer.error : undefined;
      // Reading back would prove nothing.
      if (isRegistryError(failure, 'outcome_unknown')) throw outcomeUnknown(failure);
      // After the first attempt, an earlier write may still arrive.
      if (attempt === 0 && isRegistryError(failure, 'unavailable')) throw failure;
      try {
        const stored = await bucket.get(key);
        if (stored !== null) return decodeGeneration(key, stored).writeId === writeId;
      } catch (error) {
        if (isRegistryError(error, 'corrupt')) throw error;
        throw outcomeUnknown(error);
      }
      // It may still arrive. Retrying with the same writeId is safe.
      if (attempt === 2) throw outcomeUnknown(failure);
    }
  }

  return {
    async read<T>(name: string) {
      const entry = known.get(name);
      const fresh = entry && monotonic() - entry.checkedAt < maxAge ? entry : await readShared(name);
      return (fresh.newest?.generation ?? null) as Generation<T> | null;
    },

    async readFresh<T>(name: string) {
      return ((await readNewest(name)).newest?.generation ?? null) as Generation<T> | null;
    },

    async update<T>(name: string, decide: Decide<T>) {
      return takeTurn(name, async () => {
        for (let attempt = 0; attempt < attempts; attempt++) {
          const { newest } = await readNewest(name);
          const current = (newest?.generation ?? null) as Generation<T> | null;
          const decision = await decide(current);
          if (decision === null) return current;
          const next: Generation<T> = {
            generation: (current?.generation ?? 0) + 1,
            previous: newest?.digest ?? null,
            writeId: uniqueId(),
            at: now().toISOString(),
            ...decision.change,
            value: decision.value,
          };
          const bytes = encodeJson(next);
          if (await append(generationKey(name, next.generation), bytes, next.writeId)) {
            // Cache a decoded copy: the caller still holds the object.
            const stored = decodeJson<Generation<T>>(bytes);
            remember(name, { checkedAt: monotonic(), newest: { generation: stored, digest: digestOf(bytes) } });
            for (const listener of listeners) listener(name);
            return stored;
          }
        }
        const message = 'Too many concurrent changes to the same resource; nothing was changed. Try again.';
        throw new RegistryError('conflict', message, { retryAfter: 1, cause: new Error(name) });
      });
    },

    async *history<T>(name: string) {
      let expected: Digest | null | undefined;
      for (let generation = (await readNewest(name)).newest?.generation.generation ?? 0; generation > 0; generation--) {
        const key = generationKey(name, generation);
        const bytes = await bucket.get(key);
        if (bytes === null || (expected !== undefined && expected !== digestOf(bytes))) {
          throw corrupt(`The chain is broken at ${key}.`);
        }
        const decoded = decodeGeneration<T>(key, bytes);
        expected = decoded.previous;
        yield decoded;
      }
    },

    async *list(prefix, afterName) {
      const after = afterName === undefined ? undefined : `refs/${afterName}/~`;
      for await (const page of listGenerations(bucket, `refs/${prefix}`, after)) {
        yield* new Set(page.map(({ name }) => name));
      }
    },

    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function assertName(name: string): void {
  assertKey(generationKey(name, 1));
  if (!name.includes('/')) throw new TypeError(`Not the name of a ref: ${JSON.stringify(name)}`);
}

function outcomeUnknown(cause: unknown): RegistryError {
  const message =
    'The store did not confirm the change. Retry with the same Idempotency-Key, or check whether it was made.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
