import type { Digest } from '../../model/digest.ts';
import { insteadOf, isRegistryError } from '../../model/errors.ts';
import type { Bucket } from '../bucket.ts';
import { corrupt } from '../records.ts';
import { entryIn, entryKey, readEntry, type SealedEntry, logFolder, parseEntryKey } from './entry.ts';
import { type State, generationOf, createState } from './state.ts';
import type { Objects } from '../objects.ts';
import { createPacer, readEntries, readFrames, readIndex, readSegment } from './summary.ts';

/** An entry of a log that is damaged or missing. Nothing after it is known. */
export interface LogDamage {
  entry: number;
  detail: string;
}

/** Milliseconds between two lists of the newest entry, and of a log that lost its newest: it may be repaired. */
const pause = 60_000;
const shortPause = 1000;

/**
 * Follows a log from its state on: reads what other processes append to it. A missing entry is not
 * taken for the end: `newest`, the number of the newest entry that is there, and `expected`, of the
 * newest that others know of, say how far the log reaches, and so does a list now and then.
 */
export function followLog(
  bucket: Bucket,
  log: string,
  state: State,
  {
    monotonic,
    openedAt,
    newest,
    expected,
    read,
  }: {
    monotonic: () => number;
    openedAt: number;
    newest: number;
    expected: number;
    /** Called with each entry that was read. */
    read: (entry: SealedEntry) => void;
  },
) {
  let lookedAt = openedAt;
  /** The newest entry that was ever written, as far as is known here. */
  let end = Math.max(newest, expected);
  /** The first of the newest entries that were read and are not there any more. */
  let lost = lostOf(newest, state.sequence);
  let checkedAt = state.sequence < end || lost !== null ? Number.NEGATIVE_INFINITY : openedAt;
  let readAt = checkedAt;
  /** An entry that was read, and is not as it was. */
  let gone: { sequence: number; digest: Digest } | null = null;
  let damage: LogDamage | null = null;
  let following: { startedAt: number; answer: Promise<void> } | null = null;

  /** Lists the newest entry, if that is due. */
  async function look(): Promise<void> {
    const time = monotonic();
    if (time - lookedAt < (lost === null && gone === null ? pause : shortPause)) return;
    lookedAt = time;
    if (gone !== null && (await isStored(bucket, log, gone))) gone = null;
    // What is appended while the list runs may not be in it.
    const reached = state.sequence;
    const { newest: newestNow, gap } = await newestRun(bucket, log);
    end = Math.max(end, newestNow);
    // An entry that is written while the list runs may not be in it, and one after it may.
    const isGap = gap !== null && gap <= reached && (await bucket.getPart(entryKey(log, gap), 0, 1)) === null;
    lost = isGap ? gap : lostOf(newestNow, reached);
  }

  /** Reads on. Returns where it has to stop before the end. */
  async function readOn(): Promise<LogDamage | null> {
    for (;;) {
      if (gone !== null) return { entry: gone.sequence, detail: 'It is missing or was changed.' };
      const startedAt = monotonic();
      const sequence = state.sequence + 1;
      const key = entryKey(log, sequence);
      const bytes = await bucket.get(key);
      // An own append, or another reader, may have been faster.
      if (state.sequence >= sequence) continue;
      if (bytes === null) {
        const missing = lost ?? (sequence <= end ? sequence : null);
        if (missing !== null) return { entry: missing, detail: 'It is missing.' };
        checkedAt = readAt = startedAt;
        return null;
      }
      const entry = entryIn(bytes, sequence);
      if (entry === null) return { entry: sequence, detail: 'It was changed or is damaged.' };
      if (entry.previous !== state.digest) return { entry: sequence, detail: 'It does not follow the one before it.' };
      state.apply(entry, bytes.byteLength);
      read(entry);
    }
  }

  /** Reads to the end. Rejects with `corrupt` at an entry that is damaged or missing. */
  async function follow(): Promise<void> {
    // If the bucket cannot be listed, reading it reports why.
    const looked = look().catch(() => undefined);
    if (lost !== null || gone !== null) await looked;
    damage = await readOn();
    if (damage !== null) throw corrupt(`Entry ${damage.entry} of the log ${log}: ${damage.detail}`);
  }

  /** Whether that was done within `maxAge` milliseconds. */
  const isFresh = (maxAge: number): boolean => monotonic() - checkedAt < maxAge;

  return {
    follow,
    isFresh,
    /** Whether the log was read to its end within `maxAge` milliseconds. Own appends do not count. */
    wasRead: (maxAge: number) => isFresh(maxAge) && monotonic() - readAt < maxAge,
    /**
     * As `follow`, unless that was done within `maxAge` milliseconds. Callers share a running read that is as young, and
     * one that has not begun: those whose changes were committed together ask one after the other.
     */
    refresh(maxAge: number): Promise<void> {
      if (isFresh(maxAge)) return Promise.resolve();
      const time = monotonic();
      if (following && time - following.startedAt < maxAge) return following.answer;
      const begin = (): Promise<void> => {
        begun.startedAt = monotonic();
        return follow();
      };
      const begun = { startedAt: Infinity, answer: Promise.resolve().then(begin) };
      following = begun;
      // A damaged entry is not read again for each reader; after a failed read it is.
      begun.answer.catch((error: unknown) => {
        if (following === begun && !isRegistryError(error, 'corrupt')) following = null;
      });
      return begun.answer;
    },
    /** Notes that nothing else had been appended at a time. It may be long ago, and others may have appended since. */
    wasAtEnd: (time: number) => void (checkedAt = Math.max(checkedAt, time)),
    /** Notes that an entry was written: if it is missing, the log is damaged. */
    expect(sequence: number): void {
      end = Math.max(end, sequence);
      // Nothing that was read before counts as the end any more.
      if (sequence > state.sequence) checkedAt = Number.NEGATIVE_INFINITY;
    },
    /** Notes that an entry that was read is not there any more, or another one. Nothing behind it is read until it is back. */
    lose(entry: { sequence: number; digest: Digest }): void {
      gone = entry;
      lookedAt = monotonic();
      checkedAt = Number.NEGATIVE_INFINITY;
    },
    /** Where the last read had to stop; null if it reached the end. */
    damage: () => damage,
  };
}

/** Whether an entry that was read is as it was. Also true where the bucket does not tell. */
export async function isStored(
  bucket: Bucket,
  log: string,
  { sequence, digest }: { sequence: number; digest: Digest },
): Promise<boolean> {
  const entry = await readEntry(bucket, log, sequence).catch(() => undefined);
  return entry === undefined || entry?.digest === digest;
}

function lostOf(newest: number, reached: number): number | null {
  return newest < reached ? newest + 1 : null;
}

/**
 * Opens the state of a log: the newest checkpoint, the segments after it, and the entries after
 * those. Stops before an entry that is damaged or missing. `newest`: the number of the newest entry. `isSummarized`: whether the
 * state is of a summary.
 */
export async function openState(
  bucket: Bucket,
  objects: Objects,
  partition: string,
): Promise<{ state: State; newest: number; at: string | null; isSummarized: boolean }> {
  const { newest, tip } = await findTip(bucket, partition);
  const summary = await openSummary(objects, tip).catch(insteadOf('corrupt', null));
  const state = summary ?? createState();
  const pace = createPacer();
  try {
    for await (const { entry, bytes } of readEntries(bucket, partition, state, newest)) {
      state.apply(entry, bytes.byteLength);
      await pace(bytes.byteLength);
    }
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
  }
  return { state, newest, at: tip?.at ?? null, isSummarized: summary !== null };
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
async function newestRun(bucket: Bucket, partition: string): Promise<{ newest: number; gap: number | null }> {
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
    const tip = await readEntry(bucket, partition, sequence);
    if (tip !== null) return { newest, tip };
  }
  return { newest, tip: null };
}

/** The state that the index of an entry leads to. Null if the entry names none: then all entries are read. */
async function openSummary(objects: Objects, tip: SealedEntry | null): Promise<State | null> {
  if (tip === null || tip.index === null) return null;
  const { checkpoint, segments } = await readIndex(objects, tip.index);
  const pace = createPacer();
  const state =
    checkpoint === null
      ? createState()
      : createState(await readFrames(objects, checkpoint.frames), {
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
}
