import { placeOf } from '../model/record-places.ts';
import type { Bucket } from './bucket.ts';
import type { Generation, Records, RecordsOptions } from './records.ts';
import type { Head } from './log/heads.ts';
import { type DamagedLog, type Logs, createLogs } from './log/organization-logs.ts';
import type { Projection } from './log/state.ts';
import type { LoggedChange, Noted, PastGeneration } from './log/history.ts';
import { assertName, createWork, type Work } from './work.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';

/** Lists of records. */
export interface RecordLists {
  /** Yields the names with the prefix (after the name `after`) in order. */
  list(prefix: string, after?: string): AsyncIterable<string>;

  /** Every record in logs with the prefix, which ends with a slash, by name. Do not change the array. */
  all<T>(prefix: string): Promise<readonly Generation<T>[]>;

  /**
   * Reads what other processes changed of records with the prefix a moment ago. Rejects with
   * `corrupt` if a log with such records is damaged: then not all of them are known.
   */
  refresh(prefix: string): Promise<void>;
}

/** What happened to records that are kept in a log. */
export interface RecordHistory {
  /**
   * Yields every generation of a record in a log, newest first. Throws `corrupt` if an entry of the
   * log is damaged or gone.
   */
  history<T>(name: string): AsyncIterable<PastGeneration<T>>;

  /**
   * Returns all changes of an organization's records in its log, oldest first and without their
   * values. The first call reads the whole log.
   */
  trail(organization: string): Promise<readonly Noted[]>;

  /**
   * Yields the changes in an organization's log after the entry with this number (0: all), oldest
   * first. Throws `corrupt` if an entry is damaged or gone.
   */
  changesSince(organization: string, entry: number): AsyncIterable<LoggedChange>;

  /**
   * Returns what is made of all records of an organization, or of those that belong to none (null).
   * It is kept up to date in memory and changes with them, so read it at once.
   */
  projected<V>(organization: string | null, projection: Projection<V>): Promise<V>;
}

/** Tells whether records changed. */
export interface RecordChanges {
  /**
   * The sum of the numbers of these logs' newest entries: while it is the same, so is every record in
   * them. Null if what others appended is not known without waiting. For answers at once.
   */
  tip(logs: Logs): number | null;

  /** As `tip`, after reading what others appended. */
  follow(logs: Logs): Promise<number>;

  /**
   * Calls the listener with each name appended to through this object, once it is durable. Returns
   * a function that stops it. Appends of other processes are not reported. A listener must not
   * throw.
   */
  watch(listener: (name: string) => void): () => void;
}

/** Whether the logs are whole. */
export interface LogHealth {
  /** The logs of which this process knows that they are damaged. They are served up to the damage, and refuse changes. */
  damages(): readonly DamagedLog[];

  /** Looks at every log, so that `damages` and `check` know of all. For the start of a server. */
  examine(): Promise<void>;

  /** Reads the registry's log, and those whose last read failed. Rejects as a request for what is in them does. */
  check(): Promise<void>;

  /**
   * How far an organization's log and the registry's reach, as far as they are in memory. Kept with an
   * answer, it shows later whether the logs still have what the answer tells of.
   */
  heads(organization: string): readonly Head[];

  /** Rejects with `corrupt` if a log does not reach as far as one of these heads. */
  assertReached(heads: readonly Head[]): Promise<void>;
}

/**
 * All records of a registry (design §5). `placeOf` says which are in a log, where every generation
 * is kept and none is ever lost or changed, and which expire. A name is never the parent of another
 * (`a/b` and `a/b/c`). An invalid name throws a TypeError.
 */
export interface Refs extends Records, RecordLists, RecordHistory, RecordChanges, LogHealth {
  /** Deletes expired records (`Work.sweep`). */
  sweep: Work['sweep'];

  /**
   * The time of the newest entry in the logs that were opened, as they were at first (milliseconds since 1970; 0: none):
   * so late it was before this process began.
   */
  writtenUntil(): number;
}

/** Creates the records on a bucket. */
export function createRefs(
  bucket: Bucket,
  options: RecordsOptions,
): Refs & Pick<ReturnType<typeof createLogs>, 'use' | 'settle'> {
  const listeners = new Set<(name: string) => void>();
  const changed = (name: string): void => {
    for (const listener of listeners) listener(name);
  };
  const work = createWork(bucket, options, changed);
  const log = createLogs(bucket, options, changed);

  function recordsOf(name: string): Records {
    return placeOf(name).kept === 'days' ? work : log;
  }

  return {
    ...log,
    async read(name) {
      assertName(name);
      return recordsOf(name).read(name);
    },
    async readFresh(name) {
      assertName(name);
      return recordsOf(name).readFresh(name);
    },
    async update(name, decide, newest) {
      assertName(name);
      return recordsOf(name).update(name, decide, newest);
    },
    newest: (prefix, after) => recordsOf(prefix).newest(prefix, after),
    async *list(prefix, after) {
      for await (const { name } of recordsOf(prefix).newest(prefix, after)) yield name;
    },
    async *history(name) {
      assertName(name);
      if (placeOf(name).kept === 'days') throw new TypeError(`A record that expires has no history: ${name}`);
      yield* log.history(name);
    },
    async all<T>(prefix: string) {
      if (placeOf(prefix).kept === 'days') throw new TypeError(`Records that expire are not listed whole: ${prefix}`);
      return log.all<T>(prefix);
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    sweep: work.sweep,
  };
}

/**
 * Runs work that changes the registry. An error after a commit becomes `outcome_unknown`, because
 * `unavailable` would promise that nothing changed. The work's own errors stay as they are.
 */
export async function watchingCommits<T, R extends { refs: Refs }>(
  registry: R,
  work: (registry: R) => Promise<T>,
): Promise<T> {
  let hasChanged = false;
  const refs: Refs = {
    ...registry.refs,
    async update(name, decide, options) {
      let isChange = false;
      const newest = await registry.refs.update<never>(
        name,
        async (current) => {
          const decision = await decide(current);
          isChange = decision !== null;
          return decision as never;
        },
        options,
      );
      hasChanged ||= isChange;
      return newest;
    },
  };
  try {
    return await work({ ...registry, refs });
  } catch (error) {
    const isOwnWord = isRegistryError(error) && error.code !== 'unavailable' && error.code !== 'corrupt';
    throw !hasChanged || isOwnWord ? error : followUpFailed(error);
  }
}

/** Returns the error for a committed change whose later steps failed. */
export function followUpFailed(cause: unknown): RegistryError {
  const message = 'The change was made, but a later step failed. Retry with the same Idempotency-Key to finish it.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
