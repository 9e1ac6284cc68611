import { isDeepStrictEqual } from 'node:util';
import { listAll, type Bucket } from '../bucket.ts';
import { type Generation, corrupt } from '../records.ts';
import type { Objects } from '../objects.ts';
import { entryIn, entryKey, isItem, logFolder, logOf, parseEntryKey, readEntry, type SealedEntry } from './entry.ts';
import type { Head } from './heads.ts';
import { generationOf, createState, type State } from './state.ts';
import { openState, newestSequence } from './follow-log.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { Digest } from '../../model/digest.ts';
import { readIndex } from './summary.ts';

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
  const state = createState();
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
    const entry = entryIn(bytes, sequence);
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
    const entry = await readEntry(bucket, log, next);
    if (entry === null) return;
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

/** What a log holds now. */
export interface LogContents {
  /** Each record with its newest value. */
  records: Iterable<{ name: string; value: unknown }>;
  /** The objects of its summaries. They can be made again. */
  summaries: Digest[];
}

/** Reads a whole log. Rejects with `corrupt` if one of its entries is damaged: then not all of it is known. */
export async function readLogContents(bucket: Bucket, objects: Objects, log: string): Promise<LogContents> {
  const { state, newest } = await openState(bucket, objects, log);
  if (state.sequence < newest)
    throw corrupt(`${logFolder(log)} has a damaged or missing entry after ${state.sequence}.`);
  const records = state.records().map(([name, held]) => ({ name, value: generationOf(held).value }));
  return { records, summaries: await summariesOf(objects, state.index) };
}

/** The objects that an index and those before it list. As many as can be read. */
async function summariesOf(objects: Objects, newest: Digest | null): Promise<Digest[]> {
  const digests: Digest[] = [];
  try {
    for (let digest = newest; digest !== null;) {
      digests.push(digest);
      const { checkpoint, segments, older } = await readIndex(objects, digest);
      for (const piece of [...(checkpoint?.frames ?? []), ...segments]) digests.push(piece.digest);
      digest = older;
    }
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
  }
  return digests;
}

/**
 * Writes the entries of a log that are damaged or missing again, out of a copy, also those after the
 * newest one. `isShort`: some of those are known to be lost. An entry of the copy is taken only if it is whole and stands between its neighbours.
 * Reports for each whether it is repaired, and why not.
 */
export async function repairLog(
  bucket: Bucket,
  from: Bucket | null,
  { log, isShort }: { log: string; isShort: boolean },
  report: (key: string, isRepaired: boolean, detail: string) => void,
): Promise<void> {
  const newest = await newestSequence(bucket, log);
  const end = from === null ? newest : Math.max(newest, await newestSequence(from, log));
  let previous: SealedEntry | null = null;
  for (let sequence = 1; sequence <= end; sequence++) {
    const entry = await readEntry(bucket, log, sequence);
    if (entry !== null && follows(previous, entry)) {
      previous = entry;
      continue;
    }
    const key = entryKey(log, sequence);
    const copy = from && (await readEntry(from, log, sequence));
    const next = sequence < newest ? await readEntry(bucket, log, sequence + 1) : null;
    const fits = copy !== null && follows(previous, copy) && (next === null || next.previous === copy.digest);
    if (!fits) {
      report(key, false, copy === null ? nowhere(log, sequence) : `The copy has another entry ${sequence} of ${log}.`);
      previous = entry;
      continue;
    }
    const bytes = (await from!.get(key))!;
    await bucket.delete(key);
    const isOurs = (await bucket.putIfAbsent(key, bytes)) === 'created';
    report(key, isOurs, isOurs ? 'Replaced from the copy.' : 'A server wrote another entry. Stop all servers first.');
    previous = isOurs ? copy : null;
  }
  if (isShort && end === newest) report(entryKey(log, end + 1), false, lostFor(log, end));
}

function lostFor(log: string, end: number): string {
  return `No copy has it. To continue without it and what came after it, stop all servers and use --accept-loss ${log}:${end}.`;
}

function nowhere(log: string, sequence: number): string {
  return `No copy has it. To continue with the state before it, back up the store and restore the backup with --to ${log}:${sequence - 1}.`;
}

/** Whether an entry stands after another; true where the one before is not known. */
function follows(previous: SealedEntry | null, entry: SealedEntry): boolean {
  if (entry.sequence === 1) return entry.previous === null;
  return previous === null || entry.previous === previous.digest;
}
