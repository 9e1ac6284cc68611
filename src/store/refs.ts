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

/** Who does what: recorded with each generation. */
export interface Change {
  actor: string;
  origin: string | null;
  action: string;
  operation?: string;
}

type Decision<T> = { value: T; change: Change } | null;
export type Decide<T> = (current: Generation<T> | null) => Decision<T> | Promise<Decision<T>>;

/**
 * Named values with a history (design §5). A name is a bucket key of at least two segments, and never the beginning of another name
 * (`a/b` and `a/b/c`); any other name is a bug of the caller and throws a TypeError. The history of a name never loses or changes a
 * generation, and each names the digest of the one before.
 */
export interface Refs {
  /** The newest generation, or null. What another process wrote is seen within `maxAge`; what this one wrote, at once. */
  read<T>(name: string): Promise<Generation<T> | null>;

  /** The newest generation as the bucket has it when it is asked, past everything that is remembered. */
  readFresh<T>(name: string): Promise<Generation<T> | null>;

  /**
   * Appends a generation. `decide` gets the newest one and returns the next value with what to record, or null to leave all as it
   * is; it must have no effects, since it runs again whenever another writer was faster. Resolves to the newest generation, ours
   * if we wrote. Rejects with `outcome_unknown` when the write was sent and its fate cannot be read back.
   */
  update<T>(name: string, decide: Decide<T>): Promise<Generation<T> | null>;

  /** Every generation, newest first. */
  history<T>(name: string): AsyncIterable<Generation<T>>;

  /** The names that start with the prefix (and follow the name `after`), in order. `prefix` ends with `/` or is empty. */
  list(prefix: string, after?: string): AsyncIterable<string>;

  /**
   * Tells of each name that is appended to through this object, once it is durable, until the function that it returns is called. A hint:
   * what other processes append is not told. A listener must not throw.
   */
  watch(listener: (name: string) => void): () => void;
}

export interface RefsOptions {
  /** What is written down as the time of a change. */
  now: () => Date;
  /** Milliseconds that never go back, by which a value ages. */
  monotonic: () => number;
  /** A string that no other call returns, of key characters. */
  uniqueId: () => string;
  /** Milliseconds for which a value read is taken as the newest. */
  maxAge?: number;
}

const attempts = 200;

interface Known {
  checkedAt: number;
  newest: { generation: Generation<unknown>; digest: Digest } | null;
}

/** Refs on a bucket. */
export function createRefs(bucket: Bucket, { now, monotonic, uniqueId, maxAge = 500 }: RefsOptions): Refs {
  const known = new LRUCache<string, Known>({ max: 50_000 });
  const pending = new Map<string, { startedAt: number; answer: Promise<Known> }>();
  const turns = new Map<string, Promise<unknown>>();
  const listeners = new Set<(name: string) => void>();

  function remember(name: string, entry: Known): Known {
    const old = known.get(name);
    // A listing that began before a write may end after it: generations never vanish, so the higher one is the truth.
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

  /** One listing of one key, unless somebody left a file there that sorts before the generations. */
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

  /** Readers that come while the bucket is being asked share its answer, unless it was asked too long ago for them. */
  function readShared(name: string): Promise<Known> {
    const startedAt = monotonic();
    const running = pending.get(name);
    if (running && startedAt - running.startedAt < maxAge) return running.answer;
    const answer = readNewest(name).finally(() => pending.get(name)?.answer === answer && pending.delete(name));
    pending.set(name, { startedAt, answer });
    return answer;
  }

  /** Writers of one process take turns at a name: they would only make each other read again. */
  function takeTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (turns.get(name) ?? Promise.resolve()).then(work, work);
    turns.set(name, turn);
    const leave = () => void (turns.get(name) === turn && turns.delete(name));
    turn.then(leave, leave);
    return turn;
  }

  /** Writes one generation. Tells whether it is ours that stands under its key now. */
  async function append(key: string, bytes: Uint8Array, writeId: string): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      const answer = await bucket.putIfAbsent(key, bytes).catch((error: unknown) => ({ error }));
      if (answer === 'created') return true;
      const failure = typeof answer === 'object' ? answer.error : undefined;
      // Reading back proves nothing then.
      if (isRegistryError(failure, 'outcome_unknown')) throw outcomeUnknown(failure);
      // Only of a first write is it certain that nothing is on its way.
      if (attempt === 0 && isRegistryError(failure, 'unavailable')) throw failure;
      try {
        const stored = await bucket.get(key);
        if (stored !== null) return decodeGeneration(key, stored).writeId === writeId;
      } catch (error) {
        if (isRegistryError(error, 'corrupt')) throw error;
        throw outcomeUnknown(error);
      }
      // Not there yet, though it may still arrive: the same write again, under the same writeId, is safe.
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
            // What is kept is what was stored, not an object that the caller holds too.
            const stored = decodeJson<Generation<T>>(bytes);
            remember(name, { checkedAt: monotonic(), newest: { generation: stored, digest: digestOf(bytes) } });
            for (const listener of listeners) listener(name);
            return stored;
          }
        }
        const message = 'Too many others change the same thing at this moment; nothing was changed. Try again.';
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
    'The store did not say whether the change was written. Repeat the request with the same Idempotency-Key, or look whether it is there.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
