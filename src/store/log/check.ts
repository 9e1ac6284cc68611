import { isDeepStrictEqual } from 'node:util';
import { isRegistryError } from '../../model/errors.ts';
import { listAll, type Bucket } from '../bucket.ts';
import type { Generation } from '../generations.ts';
import type { Objects } from '../objects.ts';
import { decodeEntry, entryKey, isItem, logFolder, parseEntryKey, type SealedEntry } from './entry.ts';
import { generationOf } from './held.ts';
import { openState } from './open-state.ts';
import { createState, type State } from './state.ts';

/** What a check of a log tells: each entry, and each thing that is not as it was written. */
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

/**
 * Reads a whole log: every entry must be as it was written and follow the one before, and its
 * summary must lead to the same records as its entries. Returns the newest generation of each
 * record, up to the first damaged entry.
 */
export async function checkLog(
  bucket: Bucket,
  objects: Objects,
  log: string,
  { entry: found, damaged }: LogCheckListener,
): Promise<Map<string, Generation<unknown>>> {
  const state = createState({ records: new Map(), sequence: 0, digest: null, index: null, size: 0 });
  const newest = await newestIn(bucket, log, damaged);
  let isSound = true;
  let previous: SealedEntry['previous'] = null;
  for (let sequence = 1; sequence <= newest; sequence++) {
    const key = entryKey(log, sequence);
    const bytes = await bucket.get(key);
    const entry = bytes === null ? null : decoded(bytes, sequence, key);
    if (entry === null) damaged(key, bytes === null ? 'The entry is missing.' : 'The entry was changed or is damaged.');
    else {
      if (sequence > 1 && previous !== null && entry.previous !== previous) {
        damaged(key, 'It does not follow the entry before it.');
        isSound = false;
      }
      found(entry);
    }
    isSound &&= entry !== null;
    if (isSound) state.apply(entry!, bytes!.byteLength);
    previous = entry?.digest ?? null;
  }
  const summary = await openState(bucket, objects, log);
  if (!isSame(state, summary)) {
    damaged(logFolder(log), 'Its checkpoint or a segment leads to other records than its entries.');
  }
  return new Map(state.records().map(([name, held]) => [name, generationOf(held)]));
}

async function newestIn(bucket: Bucket, log: string, damaged: LogCheckListener['damaged']): Promise<number> {
  let newest = 0;
  for await (const key of listAll(bucket, logFolder(log))) {
    const parsed = parseEntryKey(key);
    if (parsed === null) damaged(key, 'Stele did not write this file and ignores it. Move it away.');
    else newest = Math.max(newest, parsed.sequence);
  }
  return newest;
}

function decoded(bytes: Uint8Array, sequence: number, key: string): SealedEntry | null {
  try {
    return decodeEntry(bytes, sequence, key);
  } catch (error) {
    if (isRegistryError(error, 'corrupt')) return null;
    throw error;
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

/** The values of the list items that an entry changes. */
export function itemsIn(entry: SealedEntry): unknown[] {
  return entry.changes.filter(isItem).map(({ value }) => value);
}
