import { LRUCache } from 'lru-cache';
import { decodeJson, encodeJson, parseJson } from '../model/json.ts';
import { conflict } from '../model/errors.ts';
import { assertKey, listAll, type Bucket, putOwn } from './bucket.ts';
import { createInOrder } from '../scheduling/turns.ts';
import {
  corrupt,
  type Decide,
  type Generation,
  type Records,
  type RecordsOptions,
  type UpdateOptions,
} from './records.ts';

/** Records that expire, because they only matter for some days (design §5). */
export interface Work extends Records {
  /**
   * Deletes the records of a kind whose newest generation was written before a time (milliseconds
   * since 1970), and superseded generations from before it. Leaves what is damaged. Returns how
   * many keys it deleted.
   */
  sweep(kind: string, before: number): Promise<number>;
}

const highest = 10 ** 15 - 1;
const attempts = 200;
/** Milliseconds after which a write no longer counts as prompt. Sweeps spare what is younger than a day. */
const longestWrite = 60 * 60_000;

interface LatestKey {
  /** Sequence number of reads and writes, in order of start (reads) and end (writes). */
  turn: number;
  checkedAt: number;
  newest: Generation<unknown> | null;
}

/** Returns the bucket key of a generation. The newest sorts first, so that listing one key finds it. */
export function workKey(name: string, generation: number): string {
  return `work/${name}/${String(highest - generation).padStart(15, '0')}`;
}

/** Parses the key of a generation; null for any other key. */
export function parseWorkKey(key: string): { name: string; generation: number } | null {
  const [, name, number] = /^work\/(.+\/.+)\/(\d{15})$/.exec(key) ?? [];
  return name === undefined || Number(number) >= highest ? null : { name, generation: highest - Number(number) };
}

/** Creates the expiring records on a bucket. `changed` is called with each name that was changed through it. */
export function createWork(
  bucket: Bucket,
  { now, monotonic, uniqueId, maxAge = 500 }: RecordsOptions,
  changed: (name: string) => void,
): Work {
  // No `max`, which would reserve memory for all entries at once.
  const newestByName = new LRUCache<string, LatestKey>({ maxSize: 50_000, sizeCalculation: () => 1 });
  const pending = new Map<string, { startedAt: number; answer: Promise<LatestKey> }>();
  /** Writers of one process take turns at a name; otherwise they would make each other retry. */
  const takeTurn = createInOrder();
  let turn = 0;

  function remember(name: string, entry: LatestKey): LatestKey {
    const old = newestByName.get(name);
    // A listing may start before a write and end after it: then the write counts. Generations do
    // not tell which is newer, for after a sweep they begin at 1 again.
    if (old !== undefined && old.turn > entry.turn) return old;
    newestByName.set(name, entry);
    return entry;
  }

  async function readNewest(name: string): Promise<LatestKey> {
    const asked = { turn: ++turn, checkedAt: monotonic() };
    const generation = await newestNumber(name);
    if (generation === null) return remember(name, { ...asked, newest: null });
    const old = newestByName.get(name)?.newest ?? null;
    // No sweep deletes a record that young, so the same number means the same generation.
    const isYoung = old !== null && now().getTime() - Date.parse(old.at) < longestWrite;
    if (isYoung && old.generation === generation) return remember(name, { ...asked, newest: old });
    const key = workKey(name, generation);
    const bytes = await bucket.get(key);
    // A sweep may have deleted it since it was listed.
    return remember(name, { ...asked, newest: bytes && decodeGeneration(key, bytes) });
  }

  /** Lists one key; more only if a foreign file sorts before the generations. */
  async function newestNumber(name: string): Promise<number | null> {
    const folder = `work/${name}/`;
    const [first] = await bucket.list(folder, { limit: 1 });
    if (first === undefined) return null;
    const newestKey = parseWorkKey(first);
    if (newestKey?.name === name) return newestKey.generation;
    for await (const each of listGenerations(`${name}/`)) if (each.name === name) return each.generation;
    return null;
  }

  /**
   * What is probably the newest, without asking: undefined if that is unknown. What is in memory
   * and young was not swept, so that the next number is taken if it is not the newest.
   */
  function guessNewest(name: string, isNew: boolean): Generation<unknown> | null | undefined {
    const newest = newestByName.get(name)?.newest ?? null;
    if (newest === null) return isNew ? null : undefined;
    return now().getTime() - Date.parse(newest.at) < longestWrite ? newest : undefined;
  }

  /** Readers share a running read, unless it started more than `maxAge` ago. */
  function readShared(name: string): Promise<LatestKey> {
    const startedAt = monotonic();
    const running = pending.get(name);
    if (running && startedAt - running.startedAt < maxAge) return running.answer;
    const answer = readNewest(name).finally(() => pending.get(name)?.answer === answer && pending.delete(name));
    pending.set(name, { startedAt, answer });
    return answer;
  }

  /** The names with the prefix and their generations, newest first within a name, from a key on. */
  async function* listGenerations(
    prefix: string,
    start?: string,
  ): AsyncGenerator<{ name: string; generation: number }> {
    for await (const key of listAll(bucket, `work/${prefix}`, start)) {
      const parsed = parseWorkKey(key);
      if (parsed !== null) yield parsed;
    }
  }

  return {
    async read<T>(name: string) {
      const entry = newestByName.get(name);
      const fresh = entry && monotonic() - entry.checkedAt < maxAge ? entry : await readShared(name);
      return fresh.newest as Generation<T> | null;
    },

    async readFresh<T>(name: string) {
      return (await readNewest(name)).newest as Generation<T> | null;
    },

    async update<T>(name: string, decide: Decide<T>, { isNew = false }: UpdateOptions = {}) {
      return takeTurn(name, async () => {
        for (let attempt = 0; attempt < attempts; attempt++) {
          const startedAt = monotonic();
          const guess = attempt === 0 ? (guessNewest(name, isNew) as Generation<T> | null | undefined) : undefined;
          // A change that was decided from a wrong guess cannot be written; any other answer may be wrong.
          const guessed = guess === undefined ? null : await Promise.try(() => decide(guess)).catch(() => null);
          const current = guessed === null ? ((await readNewest(name)).newest as Generation<T> | null) : guess!;
          const decision = guessed ?? (await decide(current));
          if (decision === null) return current;
          const next: Generation<T> = {
            generation: (current?.generation ?? 0) + 1,
            writeId: uniqueId(),
            at: now().toISOString(),
            ...decision.change,
            value: decision.value,
          };
          const bytes = encodeJson(next);
          const key = workKey(name, next.generation);
          const sentAt = monotonic();
          // A list may name it before the write has ended.
          if (current === null) newestByName.delete(name);
          const isOurs = (stored: Uint8Array) => decodeGeneration(key, stored).writeId === next.writeId;
          if (!(await putOwn(bucket, key, bytes, isOurs))) continue;
          // A process that slept that long may have written a number that a sweep had freed.
          const hasSlept = monotonic() - startedAt > longestWrite;
          if (hasSlept && (await newestNumber(name)) !== next.generation) continue;
          // Cache a decoded copy: the caller still holds the object.
          const stored = decodeJson<Generation<T>>(bytes);
          remember(name, { turn: ++turn, checkedAt: sentAt, newest: stored });
          changed(name);
          return stored;
        }
        const message = 'Too many concurrent changes to the same record; nothing was changed. Try again.';
        throw conflict(message, { retryAfter: 1, cause: new Error(name) });
      });
    },

    async *newest(prefix, afterName) {
      let last: string | null = null;
      const start = afterName === undefined ? undefined : `work/${afterName}/~`;
      for await (const generation of listGenerations(prefix, start)) {
        if (generation.name !== last) yield generation;
        last = generation.name;
      }
    },

    async sweep(kind, before) {
      let deleted = 0;
      let name: string | null = null;
      let expired: string[] = [];
      let isNewestExpired = false;
      const flush = async (): Promise<void> => {
        // The first number stays taken while there is a newer one: see `UpdateOptions.isNew`.
        if (name !== null && !isNewestExpired) expired = expired.filter((key) => key !== workKey(name!, 1));
        // The newest last: until it is gone, nobody takes a superseded one for it.
        for (const key of expired.reverse()) await bucket.delete(key);
        deleted += expired.length;
        expired = [];
      };
      for await (const generation of listGenerations(`${kind}/`)) {
        const isNewest = generation.name !== name;
        if (isNewest) await flush();
        ({ name } = generation);
        if (isNewest) isNewestExpired = false;
        const key = workKey(name, generation.generation);
        const bytes = await bucket.get(key);
        const written = bytes && (parseJson(bytes) as Partial<Generation<unknown>> | null | undefined);
        // The age of a damaged one is unknown. `stele fsck` reports it.
        if (!(Date.parse(String(written?.at)) < before)) continue;
        if (isNewest) isNewestExpired = true;
        if (expired.length === 0) newestByName.delete(name);
        expired.push(key);
      }
      await flush();
      return deleted;
    },
  };
}

/** Decodes the generation stored under a key. Throws `corrupt` for anything else. */
function decodeGeneration<T>(key: string, bytes: Uint8Array): Generation<T> {
  const decoded = parseJson(bytes);
  if (!isGenerationOf(key, decoded)) throw corrupt(`${key} does not hold its generation.`);
  return decoded as Generation<T>;
}

/** Whether a value is the generation that the key names. */
export function isGenerationOf(key: string, value: unknown): value is Generation<unknown> {
  const { generation, writeId } = (value ?? {}) as Partial<Generation<unknown>>;
  return generation === parseWorkKey(key)!.generation && typeof writeId === 'string';
}

/** Throws a TypeError unless the text is the name of a record: a bucket key of at least two segments. */
export function assertName(name: string): void {
  assertKey(workKey(name, 1));
  if (!name.includes('/')) throw new TypeError(`Not the name of a record: ${JSON.stringify(name)}`);
}
