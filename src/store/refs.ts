import { placeOf } from '../model/record-places.ts';
import type { Bucket } from './bucket.ts';
import type { Decide, Generation, Records, RecordsOptions, UpdateOptions } from './records.ts';
import { createLogs } from './log/organization-logs.ts';
import type { PastGeneration } from './log/history.ts';
import { assertName, createWork } from './work.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';

/** See `createRefs`. */
export type Refs = Omit<ReturnType<typeof createRefs>, 'use' | 'settle'>;

/**
 * All records of a registry (design §5). `placeOf` says which are in a log, where every generation
 * is kept and none is ever lost or changed, and which expire. A name is never the parent of another
 * (`a/b` and `a/b/c`). An invalid name throws a TypeError.
 */
export function createRefs(bucket: Bucket, options: RecordsOptions) {
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
    async read<T>(name: string): Promise<Generation<T> | null> {
      assertName(name);
      return recordsOf(name).read(name);
    },
    async readFresh<T>(name: string): Promise<Generation<T> | null> {
      assertName(name);
      return recordsOf(name).readFresh(name);
    },
    async update<T>(name: string, decide: Decide<T>, newest?: UpdateOptions): Promise<Generation<T> | null> {
      assertName(name);
      return recordsOf(name).update(name, decide, newest);
    },
    newest: (prefix: string, after?: string) => recordsOf(prefix).newest(prefix, after),
    /** Yields the names with the prefix (after the name `after`) in order. */
    async *list(prefix: string, after?: string): AsyncGenerator<string> {
      for await (const { name } of recordsOf(prefix).newest(prefix, after)) yield name;
    },
    /**
     * Yields every generation of a record in a log, newest first. Throws `corrupt` if an entry of the
     * log is damaged or gone.
     */
    async *history<T>(name: string): AsyncGenerator<PastGeneration<T>> {
      assertName(name);
      if (placeOf(name).kept === 'days') throw new TypeError(`A record that expires has no history: ${name}`);
      yield* log.history<T>(name);
    },
    /** Every record in logs with the prefix, which ends with a slash, by name. Do not change the array. */
    async all<T>(prefix: string): Promise<readonly Generation<T>[]> {
      if (placeOf(prefix).kept === 'days') throw new TypeError(`Records that expire are not listed whole: ${prefix}`);
      return log.all<T>(prefix);
    },
    /**
     * Calls the listener with each name appended to through this object, once it is durable. Returns
     * a function that stops it. Appends of other processes are not reported. A listener must not
     * throw.
     */
    watch(listener: (name: string) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Deletes expired records (`Work.sweep`). */
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
