import { isDeepStrictEqual } from 'node:util';
import { listAll, type Bucket } from '../bucket.ts';
import type { Generation } from '../generations.ts';
import type { Objects } from '../objects.ts';
import {
  entryIn,
  entryKey,
  isItem,
  logFolder,
  logOf,
  parseEntryKey,
  type ItemChange,
  type SealedEntry,
} from './entry.ts';
import type { Head } from './heads.ts';
import { generationOf } from './held.ts';
import { openState } from './open-state.ts';
import { createState, type State } from './state.ts';

/** Called by a check of a log: with each entry, and with each thing that is not as it was written. */
export interface LogCheckListener {
  entry(entry: SealedEntry): void;
  /** `key`: of the bucket. */
  damaged(key: string, detail: string): void;
}

/** Yields the logs of a bucket. */
export async function* listLogs(bucket: Bucket): AsyncGenerator<string> {
  for (let after = 'log/'; ;) {
    const [key] = await bucket.list('log/', { after, limit: 1 });
    if (key === undefined) return;
    const log = key.split('/')[1]!;
    yield log;
    // `~` sorts after every key of the log.
    after = `log/${log}/~`;
  }
}

/** What a check of a log found. */
export interface CheckedLog {
  /** The newest generation of each record, up to the first damaged entry. */
  records: Map<string, Generation<unknown>>;
  /** The last entry before the first damaged one; null if there is none. */
  head: Head | null;
  /** The number of the newest entry that is there. */
  newest: number;
}

/**
 * Reads a whole log: every entry must be as it was written and follow the one before, and its
 * summary must lead to the same records as its entries.
 */
export async function checkLog(
  bucket: Bucket,
  objects: Objects,
  log: string,
  { entry: found, damaged }: LogCheckListener,
): Promise<CheckedLog> {
  const state = createState({ records: new Map(), sequence: 0, digest: null, index: null, size: 0 });
  let isSound = true;
  let previous: SealedEntry['previous'] = null;
  let last = 0;
  for (const sequence of await sequencesIn(bucket, log, damaged)) {
    const key = entryKey(log, sequence);
    if (sequence > last + 1) {
      damaged(
        entryKey(log, last + 1),
        `The entry is missing${sequence > last + 2 ? `, and so are ${sequence - last - 2} after it` : ''}.`,
      );
      [isSound, previous] = [false, null];
    }
    const bytes = await bucket.get(key);
    const entry = bytes === null ? null : entryIn(bytes, sequence, key);
    if (entry === null) damaged(key, bytes === null ? 'The entry is missing.' : 'The entry was changed or is damaged.');
    else {
      const isNext = entry.previous === previous || (previous === null && sequence > 1);
      if (!isNext) damaged(key, 'It does not follow the entry before it.');
      const isOwn = entry.changes.every((change) => isItem(change) || logOf(change.name) === log);
      if (!isOwn) damaged(key, 'It is an entry of another log.');
      isSound &&= isNext && isOwn;
      found(entry);
    }
    isSound &&= entry !== null;
    if (isSound) state.apply(entry!, bytes!.byteLength);
    previous = entry?.digest ?? null;
    last = sequence;
  }
  const { state: summary } = await openState(bucket, objects, log);
  if (!isSame(state, summary)) {
    damaged(logFolder(log), 'Its checkpoint or a segment leads to other records than its entries.');
  }
  const { sequence, digest } = state;
  return {
    records: new Map(state.records().map(([name, held]) => [name, generationOf(held)])),
    head: digest && { log, sequence, digest },
    newest: last,
  };
}

/** The numbers of the entries that are there, oldest first. */
async function sequencesIn(bucket: Bucket, log: string, damaged: LogCheckListener['damaged']): Promise<number[]> {
  const sequences: number[] = [];
  for await (const key of listAll(bucket, logFolder(log))) {
    const parsed = parseEntryKey(key);
    if (parsed === null) damaged(key, 'Stele did not write this file and ignores it. Move it away.');
    else sequences.push(parsed.sequence);
  }
  return sequences.reverse();
}

/** Yields the entries after a number, oldest first, up to the first that is missing or damaged. */
export async function* entriesAfter(bucket: Bucket, log: string, sequence: number): AsyncGenerator<SealedEntry> {
  for (let next = sequence + 1; ; next++) {
    const key = entryKey(log, next);
    const bytes = await bucket.get(key);
    const entry = bytes && entryIn(bytes, next, key);
    if (!entry) return;
    yield entry;
  }
}

function isSame(replayed: State, summary: State): boolean {
  // A summary may reach past a damaged entry that it covers.
  if (summary.sequence !== replayed.sequence) return summary.sequence > replayed.sequence;
  const records = replayed.records();
  return (
    summary.records().length === records.length &&
    records.every(([name, held]) => isDeepStrictEqual(summary.get(name), held))
  );
}

/** The changes of list items in an entry. */
export function itemsIn(entry: SealedEntry): ItemChange[] {
  return entry.changes.filter(isItem);
}
