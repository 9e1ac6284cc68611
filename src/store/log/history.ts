import { isRegistryError } from '../../model/errors.ts';
import type { Bucket } from '../bucket.ts';
import type { Objects } from '../objects.ts';
import { isItem, type SealedEntry, decodeEntry, entryKey, type ItemChange, type RecordChange } from './entry.ts';
import { type State, generationIn, generationOf, positionOfItem, type HeldRecord, type HeldItem } from './state.ts';
import { createPacer, readEntries, readIndex, readSegment, type Index } from './summary.ts';
import { type Generation, corrupt } from '../records.ts';
import { LRUCache } from 'lru-cache';

/** A change without its value. */
export interface Noted extends Pick<Generation<unknown>, 'generation' | 'at' | 'actor' | 'origin' | 'action'> {
  name: string;
}

/** A change, with the value that it gave the record: without the list that is stored item by item. */
export interface LoggedChange extends Pick<Generation<unknown>, 'generation' | 'at' | 'value'> {
  name: string;
  entry: number;
}

/** The changes in the entries after one, up to another. */
export async function* changesSince(
  bucket: Bucket,
  partition: string,
  after: number,
  last: number,
): AsyncGenerator<LoggedChange> {
  const start = { sequence: after, digest: undefined };
  for await (const { entry } of readEntries(bucket, partition, start, last))
    for (const change of entry.changes)
      if (!isItem(change)) {
        const { name, generation, value } = change;
        yield { name, generation, value, at: entry.at, entry: entry.sequence };
      }
}

/** All changes of a log, oldest first. */
export function createTrail(bucket: Bucket, objects: Objects, partition: string, state: State) {
  let trail: Promise<Noted[]> | null = null;
  let length = 0;
  // Entries that come while the log is read are added after what is read, and before anybody gets it.
  state.listen((entry) => {
    trail?.then(
      (notes) => (length = notes.push(...notesOf(entry))),
      () => undefined,
    );
  });

  async function readAll(): Promise<Noted[]> {
    const end = state.sequence;
    const entries: Noted[] = [];
    const intern = createIntern();
    const pace = createPacer();
    for await (const { entry, bytes } of readLog(bucket, objects, partition, state, end)) {
      for (const note of notesOf(entry)) entries.push(intern(note));
      await pace(bytes);
    }
    length = entries.length;
    return entries;
  }

  return {
    /** Reads the log when it is first called. After that the list grows with the log. */
    read(): Promise<readonly Noted[]> {
      trail ??= readAll().catch((error: unknown) => {
        trail = null;
        throw error;
      });
      return trail;
    },
    /** Number of changes in memory. */
    length: () => length,
  };
}

function notesOf({ at, changes }: SealedEntry): Noted[] {
  return changes.flatMap((change) => {
    if (isItem(change)) return [];
    const { name, generation, actor, origin, action } = change;
    return [{ name, generation, at, actor, origin, action }];
  });
}

/** Keeps one copy of texts that occur often. */
function createIntern(): (note: Noted) => Noted {
  const texts = new Map<string, string>();
  const once = (text: string): string => texts.getOrInsert(text, text);
  return ({ name, actor, origin, action, ...rest }) => ({
    ...rest,
    name: once(name),
    actor: once(actor),
    origin: origin && once(origin),
    action: once(action),
  });
}

/**
 * Yields the entries up to `end`, oldest first: out of segments as far as there are any. Reads all
 * entries one by one if a segment cannot be read.
 */
async function* readLog(
  bucket: Bucket,
  objects: Objects,
  partition: string,
  state: State,
  end: number,
): AsyncGenerator<{ entry: SealedEntry; bytes: number }> {
  let reached = 0;
  try {
    for (const index of await indexesOf(objects, state)) {
      for (const segment of index.segments) {
        for await (const each of readSegment(objects, segment)) {
          const { sequence } = each.entry;
          if (sequence <= reached || sequence > end) continue;
          reached = sequence;
          yield each;
        }
      }
    }
  } catch (error) {
    if (!isRegistryError(error, 'corrupt')) throw error;
  }
  const start = { sequence: reached, digest: undefined };
  for await (const { entry, bytes } of readEntries(bucket, partition, start, end)) {
    yield { entry, bytes: bytes.byteLength };
  }
}

/** The newest index and those before it, oldest first. */
async function indexesOf(objects: Objects, { index: newest }: State): Promise<Index[]> {
  const indexes: Index[] = [];
  for (let digest = newest; digest !== null; digest = indexes[0]!.older)
    indexes.unshift(await readIndex(objects, digest));
  return indexes;
}

/** A generation, and the number of its entry in the log. */
export type PastGeneration<T> = Generation<T> & { sequence: number };

/**
 * Yields every generation of a record, newest first, from its state now: each change names the
 * entry that holds the one before. Throws `corrupt` if an entry is damaged or gone.
 */
export async function* historyOf(
  bucket: Bucket,
  partition: string,
  name: string,
  newest: HeldRecord,
): AsyncGenerator<PastGeneration<unknown>> {
  const read = createReader(bucket, partition);
  for (let held: HeldRecord | null = newest; held !== null; held = await before(read, name, held)) {
    yield { ...generationOf(held), sequence: held.sequence };
  }
}

type Read = (sequence: number) => Promise<SealedEntry>;

function createReader(bucket: Bucket, partition: string): Read {
  const entries = new LRUCache<number, SealedEntry>({ max: 16 });
  return async (sequence) => {
    const cached = entries.get(sequence);
    if (cached) return cached;
    const key = entryKey(partition, sequence);
    const bytes = await bucket.get(key);
    if (bytes === null) throw corrupt(`${key} is gone.`);
    const entry = decodeEntry(bytes, sequence, key);
    entries.set(sequence, entry);
    return entry;
  };
}

async function before(read: Read, name: string, held: HeldRecord): Promise<HeldRecord | null> {
  const { generation } = held.bare;
  const { changes } = await read(held.sequence);
  const { last } = recordIn(changes, name, generation, held.sequence);
  if (last === null) return null;
  let { items } = held;
  for (const change of changes) {
    if (!isItem(change) || change.owner !== name || change.generation !== generation) continue;
    items = withItem(items, change.order, change.last === null ? null : await itemAt(read, change, change.last));
  }
  const entry = await read(last);
  const change = recordIn(entry.changes, name, generation - 1, last);
  return { sequence: last, bare: generationIn(change, entry.at), list: change.list ?? null, items };
}

function recordIn(changes: SealedEntry['changes'], name: string, generation: number, sequence: number): RecordChange {
  const change = changes.find((each) => !isItem(each) && each.name === name && each.generation === generation);
  if (change === undefined || isItem(change))
    throw corrupt(`Entry ${sequence} lacks generation ${generation} of ${name}.`);
  return change;
}

/** An item as an earlier entry left it. */
async function itemAt(read: Read, { name, owner, generation }: ItemChange, sequence: number): Promise<HeldItem> {
  const { changes } = await read(sequence);
  const change = changes.findLast((each) => isItem(each) && each.name === name && each.generation < generation);
  if (change === undefined || !isItem(change)) throw corrupt(`Entry ${sequence} lacks ${name} of ${owner}.`);
  return { name, order: change.order, sequence, value: change.value };
}

function withItem(items: readonly HeldItem[], order: string, item: HeldItem | null): HeldItem[] {
  const index = positionOfItem(items, order);
  return item === null ? items.toSpliced(index, 1) : items.with(index, item);
}
