import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What somebody read of the records in logs: single records by their names, and whole logs by theirs (`@acme`), each
 * with the number of the entry that changed it last.
 */
export type Reads = Map<string, number>;

/** In `Reads`: every log, with the sum of the numbers of their newest entries. */
export const everyLog = '*';

/** Notes what is read, for whoever asks for it. */
export function createNotes() {
  const noted = new AsyncLocalStorage<Reads>();
  const note = (name: string, at: number): void => {
    const reads = noted.getStore();
    if (reads !== undefined && !reads.has(name) && !reads.has(everyLog)) reads.set(name, at);
  };
  return {
    /** Runs work, and adds to `reads` what it reads: what it reads twice as it was at first. */
    noting: <T>(reads: Reads, work: () => T): T => noted.run(reads, work),
    isNoting: (): boolean => noted.getStore() !== undefined,
    /** Notes that a record, a log or every log is read now. */
    note,
    /** Notes all of what was read before, and is the same now. */
    noteAll: (reads: Reads): void => reads.forEach((at, name) => note(name, at)),
  };
}
