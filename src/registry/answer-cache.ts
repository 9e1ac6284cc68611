import { LRUCache } from 'lru-cache';
import type { Refs } from '../store/refs.ts';

// All answers that are remembered in memory are here, with one rule: an answer that was made of
// records is valid while the logs of those records have no newer entry. What depends on its key
// alone, such as on a digest in it, is always valid.

/** The names of the logs that an answer rests on: see `logsOf`. Empty: it depends on its key alone. */
export type Logs = Parameters<Refs['tip']>[0];

/** The logs of an organization's records: its own, and the registry's, which has the keys. */
export function logsOf(org: string): Logs {
  return [`@${org}`, 'registry'];
}

/** How far some logs had been read at a moment. */
export interface Moment {
  logs: Logs;
  tip: number;
}

/** Size and limit of something in memory, in bytes. Above the limit, the least recently used goes first. */
export interface MemoryUse {
  bytes: number;
  limit: number;
}

/** Answers in memory. Above the limit, the least recently used goes first. */
export interface AnswerCache {
  /** How far these logs have been read now. Ask before reading what an answer is made of. */
  moment(logs: Logs): Promise<Moment>;
  /** The valid answer for this key. Undefined if there is none, or if finding out would mean waiting. */
  find<T>(key: string): T | undefined;
  /** Keeps an answer. `bytes`: what it takes in memory, roughly. */
  keep<T>(key: string, answer: T, moment: Moment, bytes: number): void;
  /** Forgets the answer of this key. */
  forget(key: string): void;
  /**
   * The valid answer for this key, else `make`'s, which is kept. Callers that ask for it meanwhile
   * share the promise. Rejections are not kept.
   */
  answer<T>(key: string, logs: Logs, make: () => T | Promise<T>, bytesOf: (answer: T) => number): Promise<T>;
  /** As `answer`, for what a digest in the key determines. All scopes share it. */
  content<T>(key: string, make: () => Promise<T>, bytesOf: (answer: T) => number): Promise<T>;
  /** The content of this key, if it is kept. */
  findContent<T>(key: string): T | undefined;
  /**
   * A separate set of answers in the same memory: for a server with other links and templates, or
   * for a view with other records (`refs`).
   */
  scope(refs?: Tips): AnswerCache;
  /** For a short-lived view: shares contents, and keeps no answers. */
  contentsOnly(): AnswerCache;
  use(): MemoryUse;
}

type Tips = Pick<Refs, 'tip' | 'follow'>;

interface Entry {
  answer: unknown;
  moment: Moment;
}

const defaultLimit = 128 * 1024 * 1024;
/** Bytes that an entry takes besides its answer and its key, roughly. */
const overhead = 300;

/** Creates an empty memory of answers that rest on these records. `limit`: in bytes. */
export function createAnswerCache(refs: Tips, { limit = defaultLimit }: { limit?: number } = {}): AnswerCache {
  const entries = new LRUCache<string, Entry>({ maxSize: limit });
  const running = new Map<string, { tip: number; answer: Promise<unknown> }>();
  let scopes = 0;

  function keepEntry(key: string, answer: unknown, moment: Moment, bytes: number): void {
    entries.set(key, { answer, moment }, { size: Math.ceil(overhead + 2 * key.length + bytes) });
  }

  async function makeOnce<T>(
    key: string,
    moment: Moment,
    make: () => T | Promise<T>,
    bytesOf: (answer: T) => number,
  ): Promise<T> {
    const going = running.get(key);
    if (going?.tip === moment.tip) return going.answer as Promise<T>;
    const pending = { tip: moment.tip, answer: (async () => make())() };
    running.set(key, pending);
    try {
      const answer = await pending.answer;
      keepEntry(key, answer, moment, bytesOf(answer));
      return answer;
    } finally {
      if (running.get(key) === pending) running.delete(key);
    }
  }

  const contents: Pick<AnswerCache, 'content' | 'findContent' | 'use'> = {
    async content<T>(key: string, make: () => Promise<T>, bytesOf: (answer: T) => number) {
      const entry = entries.get(key);
      return entry === undefined ? makeOnce(key, atAnyTime, make, bytesOf) : (entry.answer as T);
    },
    findContent: <T>(key: string) => entries.get(key)?.answer as T | undefined,
    use: () => ({ bytes: entries.calculatedSize, limit }),
  };

  function scopeOf({ tip, follow }: Tips): AnswerCache {
    // No content's key begins like that.
    const prefix = `\n${scopes++}\n`;
    const moment = async (logs: Logs): Promise<Moment> => ({ logs, tip: tip(logs) ?? (await follow(logs)) });
    return {
      ...contents,
      moment,
      find<T>(key: string) {
        const entry = entries.get(prefix + key);
        if (entry === undefined || tip(entry.moment.logs) !== entry.moment.tip) return undefined;
        return entry.answer as T;
      },
      keep: (key, answer, at, bytes) => keepEntry(prefix + key, answer, at, bytes),
      forget: (key) => void entries.delete(prefix + key),
      async answer<T>(key: string, logs: Logs, make: () => T | Promise<T>, bytesOf: (answer: T) => number) {
        const now = await moment(logs);
        const entry = entries.get(prefix + key);
        if (entry?.moment.tip === now.tip) return entry.answer as T;
        return makeOnce(prefix + key, now, make, bytesOf);
      },
      scope: (other = { tip, follow }) => scopeOf(other),
      contentsOnly: () => ({ ...scopeOf({ tip: () => null, follow }), ...nothing }),
    };
  }

  return scopeOf(refs);
}

/** The moment of an answer that depends on its key alone. */
export const atAnyTime: Moment = { logs: [], tip: 0 };

const nothing: Pick<AnswerCache, 'keep' | 'answer'> = { keep() {}, answer: async (_key, _logs, make) => make() };
