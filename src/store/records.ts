import { RegistryError } from '../model/errors.ts';

/** Named values that change. A name is a bucket key of at least two segments. */
export interface Records {
  /** Returns the newest generation, or null. Writes of other processes are seen within `maxAge`, own writes at once. */
  read<T>(name: string): Promise<Generation<T> | null>;

  /** As `read`, but also sees what other processes wrote a moment ago. */
  readFresh<T>(name: string): Promise<Generation<T> | null>;

  /**
   * Appends a generation. `decide` gets the newest one and returns the next value with its change,
   * or null to change nothing. It must have no side effects and must not change records itself: it
   * runs again if another writer was faster. Resolves to the newest generation. Rejects with
   * `outcome_unknown` if the write was sent and cannot be read back.
   */
  update<T>(name: string, decide: Decide<T>, options?: UpdateOptions): Promise<Generation<T> | null>;

  /**
   * Yields the names with the prefix (after the name `after`) in order, each with the number of its
   * newest generation. `prefix` ends with `/`, and `after` starts with it.
   */
  newest(prefix: string, after?: string): AsyncIterable<{ name: string; generation: number }>;
}

/** What the caller of `update` knows. */
export interface UpdateOptions {
  /**
   * Whether the record probably does not exist: one request less. Only for records that mean nothing
   * any more when their first generation has expired, because its number is then free.
   */
  isNew?: boolean;
  /**
   * Only while a record has this generation (0: while there is none); else the update rejects with
   * `unavailable`. Both are decided by the same entry, so that nothing comes in between. Only for
   * records in the same log; ignored elsewhere.
   */
  fence?: { name: string; generation: number };
  /**
   * Whether `decide` reads other records of the same log: then it sees all that was changed before, also by what waits
   * with it to be written. Ignored for records that expire.
   */
  readsOthers?: boolean;
}

/** What records need besides a bucket. */
export interface RecordsOptions {
  /** The time recorded with a change. */
  now: () => Date;
  /** Monotonic clock in milliseconds, for the age of what is in memory. */
  monotonic: () => number;
  /** Returns a unique string of key characters. */
  uniqueId: () => string;
  /** Milliseconds for which what is in memory counts as the newest. */
  maxAge?: number;
  /** Bytes of logs that are kept in memory, roughly. */
  memory?: number;
  /** Milliseconds between two writes of how far logs reach (`Heads`). Without it nothing is written. */
  headEvery?: number;
  /** Called when a summary or a head of a log cannot be written, and once when a log is damaged. */
  failed?: (error: unknown) => void;
}

/** A named value as one change left it. */
export interface Generation<T> {
  /** 1 for the first. */
  generation: number;
  /** Id of this write, the same for every reader. */
  writeId: string;
  /** ISO 8601, UTC. */
  at: string;
  /** Who made the change: a principal or a part of Stele. Holds no secret. */
  actor: string;
  /** Where it came from: a network address, a sync run, `cli`; null if unknown. */
  origin: string | null;
  /** What was done, such as `publish 1.4.0`. */
  action: string;
  /** Id of the repeatable request that caused it, so that a retry recognizes its own write. */
  operation?: string;
  value: T;
}

/** Who made a change and how: recorded with each generation. */
export type Change = Pick<Generation<unknown>, 'actor' | 'origin' | 'action' | 'operation'>;

type Decision<T> = { value: T; change: Change } | null;

/** Decides on the newest generation what comes next; null changes nothing. */
export type Decide<T> = (current: Generation<T> | null) => Decision<T> | Promise<Decision<T>>;

/** The error for damaged stored data. `detail` goes only to the log: it names keys of the store. */
export function corrupt(detail: string): RegistryError {
  const message = 'A record in the store is damaged. The operator should run `stele fsck`.';
  return new RegistryError('corrupt', message, { cause: new Error(detail) });
}
