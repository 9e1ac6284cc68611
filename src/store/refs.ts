import { digestOf, type Digest } from '../model/digest.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import { assertKey, type Bucket } from './bucket.ts';

/** One step in a ref's history: a JSON document that is never changed. */
export interface Generation<T> {
  /** 1 for the first. */
  generation: number;
  /** Digest of the previous generation's bytes; null for the first. */
  previous: Digest | null;
  /** Names this one write, so that a writer whose answer was lost can tell its own write from another's. */
  writeId: string;
  /** ISO 8601, UTC. */
  at: string;
  /** Who did it: a principal, or the part of Stele that did. Holds no secret. */
  actor: string;
  /** Where it came from: a network address, a sync run, `cli`; null where nothing is known. */
  origin: string | null;
  /** What was done, in one word or two: `publish 1.4.0`. */
  action: string;
  /** Names the request that asked for it, where that may be repeated; a repetition knows its own write by it. */
  operation?: string;
  value: T;
}

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
  now: () => Date;
  /** A string that no other call returns, of key characters. */
  uniqueId: () => string;
  /** Milliseconds for which a value read is taken as the newest. */
  maxAge?: number;
}

const highest = 10 ** 15 - 1;
const attempts = 200;

/** The bucket key of a generation: newest sorts first, so that a list of one key finds it. */
export function generationKey(name: string, generation: number): string {
  return `refs/${name}/${String(highest - generation).padStart(15, '0')}`;
}

/** The name and generation that a bucket key stands for. */
export function parseGenerationKey(key: string): { name: string; generation: number } {
  const cut = key.lastIndexOf('/');
  return { name: key.slice('refs/'.length, cut), generation: highest - Number(key.slice(cut + 1)) };
}

interface Known {
  checkedAt: number;
  newest: { generation: Generation<unknown>; digest: Digest } | null;
}

/** Refs on a bucket. */
export function createRefs(bucket: Bucket, { now, uniqueId, maxAge = 500 }: RefsOptions): Refs {
  const known = new Map<string, Known>();
  const pending = new Map<string, { startedAt: number; answer: Promise<Known> }>();
  const turns = new Map<string, Promise<unknown>>();
  const listeners = new Set<(name: string) => void>();

  function remember(name: string, entry: Known): Known {
    const old = known.get(name);
    // A listing that began before a write may end after it: generations never vanish, so the higher one is the truth.
    if ((old?.newest?.generation.generation ?? 0) > (entry.newest?.generation.generation ?? 0)) return old!;
    known.delete(name);
    known.set(name, entry);
    if (known.size > 50_000) known.delete(known.keys().next().value!);
    return entry;
  }

  async function readNewest(name: string): Promise<Known> {
    assertName(name);
    const checkedAt = now().getTime();
    const [key] = await bucket.list(`refs/${name}/`, { limit: 1 });
    if (key === undefined) return remember(name, { checkedAt, newest: null });
    const { generation } = parseGenerationKey(key);
    const old = known.get(name)?.newest;
    if (old?.generation.generation === generation) return remember(name, { checkedAt, newest: old });
    const bytes = await bucket.get(key);
    if (bytes === null)
      throw new RegistryError('corrupt', `Generation ${generation} of ${name} was listed but is gone.`);
    return remember(name, { checkedAt, newest: { generation: decodeGeneration(key, bytes), digest: digestOf(bytes) } });
  }

  /** Readers that come while the bucket is being asked share its answer, unless it was asked too long ago for them. */
  function readShared(name: string): Promise<Known> {
    const startedAt = now().getTime();
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
      try {
        const stored = await bucket.get(key);
        if (stored !== null) return decodeGeneration(key, stored).writeId === writeId;
      } catch (error) {
        if (isRegistryError(error)) throw error;
        throw outcomeUnknown(key, error);
      }
      // Only of a first write is it certain that nothing is on its way.
      if (attempt === 0 && typeof answer === 'object' && isRegistryError(answer.error, 'unavailable'))
        throw answer.error;
      // Not there yet, though it may still arrive: the same write again, under the same writeId, is safe.
      if (attempt === 2) throw outcomeUnknown(key, typeof answer === 'object' ? answer.error : undefined);
    }
  }

  return {
    async read<T>(name: string) {
      const entry = known.get(name);
      const fresh = entry && now().getTime() - entry.checkedAt < maxAge ? entry : await readShared(name);
      return (fresh.newest?.generation ?? null) as Generation<T> | null;
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
          const bytes = Buffer.from(JSON.stringify(next));
          if (await append(generationKey(name, next.generation), bytes, next.writeId)) {
            // What is kept is what was stored, not an object that the caller holds too.
            const stored = JSON.parse(bytes.toString()) as Generation<T>;
            remember(name, { checkedAt: now().getTime(), newest: { generation: stored, digest: digestOf(bytes) } });
            for (const listener of listeners) listener(name);
            return stored;
          }
        }
        throw new RegistryError('conflict', `Too many writers at once on ${name}; nothing was changed. Try again.`, {
          retryAfter: 1,
        });
      });
    },

    async *history<T>(name: string) {
      let expected: Digest | null | undefined;
      for (let generation = (await readNewest(name)).newest?.generation.generation ?? 0; generation > 0; generation--) {
        const key = generationKey(name, generation);
        const bytes = await bucket.get(key);
        if (bytes === null || (expected !== undefined && expected !== digestOf(bytes))) {
          throw new RegistryError(
            'corrupt',
            `The history of ${name} is broken at generation ${generation}. Run \`stele fsck\`.`,
          );
        }
        const decoded = decodeGeneration<T>(key, bytes);
        expected = decoded.previous;
        yield decoded;
      }
    },

    async *list(prefix, afterName) {
      const start = `refs/${prefix}`;
      let after = afterName === undefined ? undefined : `refs/${afterName}/~`;
      for (;;) {
        const keys = await bucket.list(start, after === undefined ? {} : { after });
        if (keys.length === 0) return;
        const names = new Set(keys.map((key) => parseGenerationKey(key).name));
        yield* names;
        after = `refs/${[...names].at(-1)!}/~`; // follows every generation of the last name
      }
    },

    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * The number of the newest generation of each name with the prefix, in order of the names: one listing, nothing is read. For what keeps many refs in
 * mind and wants to know which of them changed.
 */
export async function* newestGenerations(
  bucket: Pick<Bucket, 'list'>,
  prefix: string,
): AsyncGenerator<{ name: string; generation: number }> {
  let after: string | undefined;
  for (;;) {
    const keys = await bucket.list(`refs/${prefix}`, after === undefined ? {} : { after });
    if (keys.length === 0) return;
    let last: string | null = null;
    for (const found of keys.map(parseGenerationKey)) {
      if (found.name === last) continue;
      last = found.name;
      yield found;
    }
    after = `refs/${last!}/~`; // follows every generation of the last name
  }
}

function assertName(name: string): void {
  assertKey(generationKey(name, 1));
  if (!name.includes('/')) throw new TypeError(`Not the name of a ref: ${JSON.stringify(name)}`);
}

function decodeGeneration<T>(key: string, bytes: Uint8Array): Generation<T> {
  const decoded = parseJson(Buffer.from(bytes).toString()) as Partial<Generation<T>> | null | undefined;
  if (decoded?.generation !== parseGenerationKey(key).generation || typeof decoded.writeId !== 'string') {
    throw new RegistryError('corrupt', `${key} does not hold its generation. Run \`stele fsck\`.`);
  }
  return decoded as Generation<T>;
}

/** The value, or undefined for what is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function outcomeUnknown(key: string, cause: unknown): RegistryError {
  const { name } = parseGenerationKey(key);
  return new RegistryError(
    'outcome_unknown',
    `The store did not say whether the change to ${name} was written. Ask for it again, or repeat the request with the same Idempotency-Key.`,
    { cause },
  );
}
