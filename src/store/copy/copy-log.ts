import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { Bucket } from '../bucket.ts';
import { listLogs } from '../log/check-log.ts';
import { decodeEntry, entryKey, type SealedEntry } from '../log/entry.ts';
import { newestSequence } from '../log/open-state.ts';
import type { CopyListener } from './copy-keys.ts';

/** Numbers of the newest entries by log. */
export type Tips = ReadonlyMap<string, number>;

/** Entries that are read at once, and written where nobody opens the copy yet. One that was stopped may lack any of them. */
const atOnce = 64;

/** Reads how far each log reaches: those of organizations first, so that the registry's knows them all. */
export async function readTips(bucket: Bucket): Promise<Tips> {
  const tips = new Map<string, number>();
  // `@acme` sorts before `registry`.
  for await (const log of listLogs(bucket)) tips.set(log, await newestSequence(bucket, log));
  return tips;
}

/** Rejects with `conflict` unless the logs of the copy are beginnings of those of the store. */
export async function assertSameStore(from: Bucket, into: Bucket): Promise<void> {
  const tips = await readTips(from);
  for (const [log, reached] of await readTips(into)) {
    const tip = tips.get(log) ?? 0;
    if (reached > tip) throw isOther(log, reached, tip);
    const key = entryKey(log, reached);
    const [theirs, ours] = await Promise.all([from.get(key), into.get(key)]);
    const [there, here] = [theirs, ours].map((bytes) => entryIn(bytes, reached, key, undefined).entry?.digest);
    // A damaged one is reported when it is copied.
    if (there !== undefined && here !== undefined && there !== here) throw isOther(log, reached, tip);
  }
}

function isOther(log: string, reached: number, tip: number): RegistryError {
  const message =
    reached > tip
      ? `The copy has ${reached} entries of the log ${log}, and the store only ${tip}: the store lost its newest entries, or the copy is of another store.`
      : `Entry ${reached} of the log ${log} is another one in the copy: the copy is of another store.`;
  return new RegistryError('conflict', `${message} Use an empty folder.`);
}

export interface LogCopy {
  /** Number of the last entry. */
  tip: number;
  /** Whether an entry is copied. The copy ends before the first that is not. */
  takes: (entry: SealedEntry) => boolean;
  /** Whether the copy can be opened already: then whatever stops this leaves no gap between its entries. */
  isOpen: boolean;
}

/**
 * Copies the entries of a log, oldest first. Stops before a damaged entry and reports it. Rejects
 * with `conflict` if the other bucket has other entries. Returns how many it copied.
 */
export async function copyLog(
  from: Bucket,
  into: Bucket,
  log: string,
  { tip, takes, isOpen }: LogCopy,
  listener: CopyListener,
): Promise<number> {
  const reached = await newestSequence(into, log);
  if (reached > tip) {
    throw isOther(log, reached, tip);
  }
  let count = 0;
  let previous: SealedEntry['digest'] | null | undefined;
  // Copies the last ones again: a copy that was stopped may lack some of them.
  for (let first = Math.max(1, reached - atOnce + 1); first <= tip; first += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, tip - first + 1) }, (_, index) => first + index);
    const read = await Promise.all(numbers.map((number) => from.get(entryKey(log, number))));
    const sound: { key: string; bytes: Uint8Array; mayBeThere: boolean }[] = [];
    let isOver = false;
    for (const [index, bytes] of read.entries()) {
      const key = entryKey(log, numbers[index]!);
      const { entry, fault } = entryIn(bytes, numbers[index]!, key, previous);
      if (entry === null) listener.damaged(key, fault);
      isOver = entry === null || !takes(entry);
      if (isOver) break;
      previous = entry!.digest;
      sound.push({ key, bytes: bytes!, mayBeThere: numbers[index]! <= reached });
    }
    const copy = async ({ key, bytes, mayBeThere }: (typeof sound)[number]): Promise<boolean> =>
      !(mayBeThere && (await isThere(into, key, bytes))) && copyEntry(into, key, bytes, listener);
    const copied = isOpen ? await Array.fromAsync(sound, copy) : await Promise.all(sound.map(copy));
    count += copied.filter(Boolean).length;
    if (isOver) return count;
  }
  return count;
}

/** `previous`: digest of the entry before; undefined if it is not known. */
function entryIn(
  bytes: Uint8Array | null,
  sequence: number,
  key: string,
  previous: SealedEntry['previous'] | undefined,
): { entry: SealedEntry; fault: '' } | { entry: null; fault: string } {
  if (bytes === null) return { entry: null, fault: 'The entry is missing.' };
  try {
    const entry = decodeEntry(bytes, sequence, key);
    const isNext = sequence === 1 ? entry.previous === null : previous === undefined || entry.previous === previous;
    return isNext ? { entry, fault: '' } : { entry: null, fault: 'It does not follow the entry before it.' };
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    return { entry: null, fault: 'The entry was changed or is damaged.' };
  }
}

async function copyEntry(into: Bucket, key: string, bytes: Uint8Array, { copied }: CopyListener): Promise<boolean> {
  if ((await into.putIfAbsent(key, bytes)) === 'created') {
    copied(key, bytes.byteLength);
    return true;
  }
  if (await isThere(into, key, bytes)) return false;
  throw new RegistryError('conflict', `The copy has another entry at ${key}. It is of another store, or damaged.`);
}

async function isThere(into: Bucket, key: string, bytes: Uint8Array): Promise<boolean> {
  const there = await into.get(key);
  return there !== null && Buffer.compare(there, bytes) === 0;
}
