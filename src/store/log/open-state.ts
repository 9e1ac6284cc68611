import { isRegistryError } from '../../model/errors.ts';
import type { Bucket } from '../bucket.ts';
import type { Objects } from '../objects.ts';
import { entryIn, entryKey, logFolder, parseEntryKey, type SealedEntry } from './entry.ts';
import { generationOf } from './held.ts';
import { createState, type State } from './state.ts';
import { createPacer, readEntries, readFrames, readIndex, readSegment } from './summary.ts';

/**
 * Opens the state of a log: the newest checkpoint, the segments after it, and the entries after
 * those. Stops before an entry that is damaged or missing. `newest`: the number of the newest entry.
 */
export async function openState(
  bucket: Bucket,
  objects: Objects,
  partition: string,
): Promise<{ state: State; newest: number }> {
  const { newest, tip } = await findTip(bucket, partition);
  const state = await openSummary(objects, tip);
  const pace = createPacer();
  try {
    for await (const { entry, bytes } of readEntries(bucket, partition, state, newest)) {
      state.apply(entry, bytes.byteLength);
      await pace(bytes.byteLength);
    }
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
  }
  return { state, newest };
}

/** Prepares the lists in frames, so that the first list of all records does not block. */
export async function prepareLists(state: State): Promise<void> {
  const pace = createPacer();
  for (const [name, held] of state.records()) {
    generationOf(held);
    await pace(name.length * (1 + held.items.length));
  }
  state.names('');
}

/** The numbers of the entries, newest first. */
async function* sequencesOf(bucket: Bucket, partition: string): AsyncGenerator<number> {
  const folder = logFolder(partition);
  // More than one key only where a damaged entry, or a file that somebody left, sorts first.
  for (let after: string | undefined, limit = 1; ; limit = 1000) {
    const keys = await bucket.list(folder, after === undefined ? { limit } : { after, limit });
    for (const key of keys) {
      const parsed = parseEntryKey(key);
      if (parsed !== null) yield parsed.sequence;
    }
    if (keys.length === 0) return;
    after = keys.at(-1)!;
  }
}

/** The number of the newest entry; 0 if there is none. */
export async function newestSequence(bucket: Bucket, partition: string): Promise<number> {
  for await (const sequence of sequencesOf(bucket, partition)) return sequence;
  return 0;
}

/** The number of the newest entry, and of one that is missing among the newest 256, which a start reads one by one. */
export async function newestRun(bucket: Bucket, partition: string): Promise<{ newest: number; gap: number | null }> {
  const keys = await bucket.list(logFolder(partition), { limit: 256 });
  const sequences = keys.flatMap((key) => parseEntryKey(key)?.sequence ?? []);
  const before = sequences.findLast((sequence, at) => at > 0 && sequences[at - 1]! > sequence + 1);
  return { newest: sequences[0] ?? 0, gap: before === undefined ? null : before + 1 };
}

/** The number of the newest entry, and the newest one that is as it was written. */
async function findTip(bucket: Bucket, partition: string): Promise<{ newest: number; tip: SealedEntry | null }> {
  let newest = 0;
  for await (const sequence of sequencesOf(bucket, partition)) {
    newest ||= sequence;
    const key = entryKey(partition, sequence);
    const bytes = await bucket.get(key);
    const tip = bytes && entryIn(bytes, sequence, key);
    if (tip !== null) return { newest, tip };
  }
  return { newest, tip: null };
}

/** The state that the index of an entry leads to. Empty if the entry names none, or if it cannot be read: then all entries are read. */
async function openSummary(objects: Objects, tip: SealedEntry | null): Promise<State> {
  const empty = () => createState({ records: new Map(), sequence: 0, digest: null, index: null, size: 0 });
  if (tip === null || tip.index === null) return empty();
  try {
    const index = await readIndex(objects, tip.index);
    const { checkpoint, segments } = index;
    const pace = createPacer();
    const state =
      checkpoint === null
        ? empty()
        : createState({
            records: await readFrames(objects, checkpoint.frames),
            sequence: checkpoint.sequence,
            digest: checkpoint.digest,
            index: tip.index,
            size: checkpoint.frames.reduce((sum, { bytes }) => sum + bytes, 0),
          });
    for (const segment of segments) {
      for await (const { entry, bytes } of readSegment(objects, segment)) {
        state.apply(entry, bytes);
        await pace(bytes);
      }
    }
    return state;
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
    return empty();
  }
}
