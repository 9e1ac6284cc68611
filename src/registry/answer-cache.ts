import { LRUCache } from 'lru-cache';
import type { Reads } from '../store/log/reads.ts';
import type { Refs } from '../store/refs.ts';

// All answers that are remembered in memory are here, with one rule: an answer is valid while every
// record that was read for it is as it was then. What depends on its key alone, such as on a digest
// in it, is always valid.

/** Size and limit of something in memory, in bytes. Above the limit, the least recently used goes first. */
export interface MemoryUse {
  bytes: number;
  limit: number;
}

/** Answers in memory. Above the limit, the least recently used goes first. */
export interface AnswerCache {
  /** Runs work, and adds to `reads` what it reads: for `keep`. */
  noting<T>(reads: Reads, work: () => T): T;
  /** The valid answer for this key. Undefined if there is none, or if finding out would mean waiting. */
  find<T>(key: string): T | undefined;
  /** Keeps an answer. `reads`: what was read for it. `bytes`: what it takes in memory, roughly. */
  keep<T>(key: string, answer: T, reads: Reads, bytes: number): void;
  forget(key: string): void;
  /**
   * The valid answer for this key, else `make`'s, which is kept. `make` reads all that its answer depends on besides the
   * key: what its caller read is not noted. Callers that ask for it meanwhile share the promise. Rejections are not kept.
   */
  answer<T>(key: string, make: () => T | Promise<T>, bytesOf: (answer: T) => number): Promise<T>;
  /** As `answer`, for what a digest in the key determines. All scopes share it. */
  content<T>(key: string, make: () => Promise<T>, bytesOf: (answer: T) => number): Promise<T>;
  /**
   * A separate set of answers in the same memory: for a server with other links and templates, or
   * for a view with other records (`refs`).
   */
  scope(refs?: Notes): AnswerCache;
  /** For a short-lived view: shares contents, and keeps no answers. */
  contentsOnly(): AnswerCache;
  use(): MemoryUse;
}

type Notes = Pick<Refs, 'noting' | 'noteAll' | 'areSame' | 'areStillSame'>;

interface Entry {
  answer: unknown;
  reads: Reads;
}

const defaultLimit = 128 * 1024 * 1024;
/** Bytes that an entry takes besides its answer and its key, roughly. */
const overhead = 300;

/** Bytes of each name in `reads`, roughly. */
const nameSize = 150;

/** Creates an empty memory of answers that are made of these records. `limit`: in bytes. */
export function createAnswerCache(refs: Notes, { limit = defaultLimit }: { limit?: number } = {}): AnswerCache {
  const entries = new LRUCache<string, Entry>({ maxSize: limit });
  const running = new Map<string, { reads: Reads; answer: Promise<unknown> }>();
  let scopes = 0;

  function keepEntry(key: string, answer: unknown, reads: Reads, bytes: number): void {
    const size = Math.ceil(overhead + 2 * key.length + nameSize * reads.size + bytes);
    entries.set(key, { answer, reads }, { size });
  }

  async function makeOnce<T>(
    key: string,
    { noting, areStillSame }: Notes,
    make: () => T | Promise<T>,
    bytesOf: (answer: T) => number,
  ): Promise<Entry> {
    const going = running.get(key);
    if (going !== undefined && (await areStillSame(going.reads))) return { ...going, answer: await going.answer };
    const reads: Reads = new Map();
    const pending = { reads, answer: noting(reads, async () => make()) };
    running.set(key, pending);
    try {
      const answer = await pending.answer;
      keepEntry(key, answer, reads, bytesOf(answer));
      return { answer, reads };
    } finally {
      if (running.get(key) === pending) running.delete(key);
    }
  }

  const contents: Pick<AnswerCache, 'content' | 'use'> = {
    async content<T>(key: string, make: () => Promise<T>, bytesOf: (answer: T) => number) {
      const entry = entries.get(key) ?? (await makeOnce(key, refs, () => refs.noting(new Map(), make), bytesOf));
      return entry.answer as T;
    },
    use: () => ({ bytes: entries.calculatedSize, limit }),
  };

  function scopeOf(own: Notes): AnswerCache {
    // No content's key begins like that.
    const prefix = `\n${scopes++}\n`;
    return {
      ...contents,
      noting: own.noting,
      find<T>(key: string) {
        const entry = entries.get(prefix + key);
        return entry !== undefined && own.areSame(entry.reads) === true ? (entry.answer as T) : undefined;
      },
      keep: (key, answer, reads, bytes) => keepEntry(prefix + key, answer, reads, bytes),
      forget: (key) => void entries.delete(prefix + key),
      async answer<T>(key: string, make: () => T | Promise<T>, bytesOf: (answer: T) => number) {
        const kept = entries.get(prefix + key);
        const isValid = kept !== undefined && (await own.areStillSame(kept.reads));
        const { answer, reads } = isValid ? kept : await makeOnce(prefix + key, own, make, bytesOf);
        own.noteAll(reads);
        return answer as T;
      },
      scope: (other = own) => scopeOf(other),
      contentsOnly: () => ({ ...scopeOf(own), ...nothing }),
    };
  }

  return scopeOf(refs);
}

const nothing: Pick<AnswerCache, 'find' | 'keep' | 'answer'> = {
  find: () => undefined,
  keep() {},
  answer: async (_key, make) => make(),
};
