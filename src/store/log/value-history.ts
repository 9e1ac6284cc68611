import { LRUCache } from 'lru-cache';
import type { Bucket } from '../bucket.ts';
import { corrupt, type Generation } from '../generations.ts';
import { decodeEntry, entryKey, isItem, type ItemChange, type RecordChange, type SealedEntry } from './entry.ts';
import { generationIn, generationOf, positionOf, type HeldRecord, type HeldItem } from './held.ts';

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

/** The record as it was one generation earlier; null before the first. */
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
  const index = positionOf(items, order);
  return item === null ? items.toSpliced(index, 1) : items.with(index, item);
}
