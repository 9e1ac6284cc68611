import { isDeepStrictEqual } from 'node:util';
import { generateKeyBetween } from 'fractional-indexing';
import { itemName, listIn } from '../../model/record-places.ts';
import { type LogChange, type ItemChange, type RecordChange, isItem, type SealedEntry } from './entry.ts';
import type { Generation } from '../records.ts';
import type { Digest } from '../../model/digest.ts';

/** An item of a record's list as it is now. */
export interface HeldItem {
  name: string;
  order: string;
  /** Sequence number of the entry that changed it last. */
  sequence: number;
  value: unknown;
}

/** A record as it is now. Never changed: a later state is another object. */
export interface HeldRecord {
  /** Sequence number of the entry that changed it last. */
  sequence: number;
  /** Its newest generation; `value` lacks the list's items. */
  bare: Generation<unknown>;
  list: string | null;
  /** In ascending order. */
  items: readonly HeldItem[];
}

const whole = new WeakMap<HeldRecord, Generation<unknown>>();

/** Kept beside the items, so that a change of one of many does not touch the others. */
const values = new WeakMap<readonly HeldItem[], readonly unknown[]>();

function valuesOf(items: readonly HeldItem[]): readonly unknown[] {
  return values.getOrInsertComputed(items, () => items.map(({ value }) => value));
}

/** The newest generation with its whole value. */
export function generationOf(held: HeldRecord): Generation<unknown> {
  const { list, bare, items } = held;
  if (list === null) return bare;
  return whole.getOrInsertComputed(held, () => ({
    ...bare,
    value: { ...(bare.value as object), [list]: valuesOf(items) },
  }));
}

/** The state after a change of a record and of its items, in the entry with this number and time. */
function afterChange(
  held: HeldRecord | null,
  change: RecordChange,
  items: readonly ItemChange[],
  { sequence, at }: { sequence: number; at: string },
): HeldRecord {
  return {
    sequence,
    bare: generationIn(change, at),
    list: change.list ?? null,
    items: withItems(held?.items ?? [], items, sequence),
  };
}

/** The generation that a change makes; its value lacks the list's items. */
export function generationIn(change: RecordChange, at: string): Generation<unknown> {
  const { generation, writeId, actor, origin, action, operation, value } = change;
  return { generation, writeId, at, actor, origin, action, ...(operation !== undefined && { operation }), value };
}

function withItems(items: readonly HeldItem[], changes: readonly ItemChange[], sequence: number): readonly HeldItem[] {
  if (changes.length === 0) return items;
  const [first, ...others] = changes.map(({ name, order, value }) => ({ name, order, sequence, value }));
  const place = (all: readonly HeldItem[], { order }: HeldItem) => {
    const index = positionOfItem(all, order);
    return [index, all[index]?.order === order ? 1 : 0] as const;
  };
  // Copies the list once: it may be long, and usually one item is added.
  const [at, replaced] = place(items, first!);
  const next = items.toSpliced(at, replaced, first!);
  const nextValues = valuesOf(items).toSpliced(at, replaced, first!.value);
  for (const item of others) {
    const [index, count] = place(next, item);
    next.splice(index, count, item);
    nextValues.splice(index, count, item.value);
  }
  values.set(next, nextValues);
  return next;
}

/** Index of the first item that does not stand before this place. */
export function positionOfItem(items: readonly HeldItem[], order: string): number {
  return positionIn(items, order, (item) => item.order);
}

/** Index of the first of all whose text is not below this one. */
export function positionIn<T>(all: readonly T[], text: string, textOf: (one: T) => string = String): number {
  let [low, high] = [0, all.length];
  if (high > 0 && textOf(all[high - 1]!) < text) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (textOf(all[middle]!) < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The changes that lead from a state to a value, items first. Items are compared by identity before they are compared by value. */
export function changesTo(
  held: HeldRecord | null,
  name: string,
  value: unknown,
  details: Omit<RecordChange, 'name' | 'generation' | 'last' | 'value' | 'list'>,
): LogChange[] {
  const generation = (held?.bare.generation ?? 0) + 1;
  const change = { name, generation, last: held?.sequence ?? null, ...details };
  const list = listIn(name);
  if (list === null) return [{ ...change, value }];
  const { [list.field]: items, ...rest } = value as Record<string, unknown>;
  const changes: LogChange[] = [];
  const old = held?.items ?? [];
  const oldValues = valuesOf(old);
  const all = items as Record<string, unknown>[];
  let next = 0;
  while (next < old.length && oldValues[next] === all[next]) next++;
  let before: string | null = old[next - 1]?.order ?? null;
  for (const item of all.slice(next)) {
    if (old[next]?.value === item) {
      before = old[next++]!.order;
      continue;
    }
    const itemKey = itemName(list, name, list.keyOf(item));
    const oldItem = old[next]?.name === itemKey ? old[next++]! : null;
    const order: string = oldItem?.order ?? generateKeyBetween(before, old[next]?.order ?? null);
    before = order;
    if (oldItem && isDeepStrictEqual(oldItem.value, item)) continue;
    changes.push({ name: itemKey, owner: name, generation, last: oldItem?.sequence ?? null, order, value: item });
  }
  if (next !== old.length) throw new TypeError(`Items of ${name} were removed or moved.`);
  return [...changes, { ...change, value: rest, list: list.field }];
}

/** See `createState`. */
export type State = ReturnType<typeof createState>;

type Listener = (entry: SealedEntry, before: ReadonlyMap<string, HeldRecord | null>) => void;

/** What the entries of a log lead to: its records as they are now. `records`: those of a checkpoint, which it begins with. */
export function createState(
  records: Map<string, HeldRecord> = new Map(),
  { sequence, digest, index, size }: { sequence: number; digest: Digest | null; index: Digest | null; size: number } = {
    sequence: 0,
    digest: null,
    index: null,
    size: 0,
  },
) {
  const listeners: Listener[] = [];
  /** Bytes that a record's change took in the log; absent where a checkpoint holds it. */
  const weights = new Map<string, number>();
  /** All names in order; null until they are asked for. */
  let sorted: string[] | null = null;

  /** Adds what the entry's changes take. What takes the place of another counts once. */
  function weigh({ changes }: SealedEntry, bytes: number): void {
    const share = bytes / changes.length;
    for (const change of changes) {
      if (change.last === null) size += share;
      if (isItem(change)) continue;
      if (change.last !== null) size += share - (weights.get(change.name) ?? share);
      weights.set(change.name, share);
    }
  }

  function advance(changed: ReadonlyMap<string, HeldRecord>, entry: SealedEntry, bytes: number): void {
    const before = new Map([...changed.keys()].map((name) => [name, records.get(name) ?? null]));
    for (const [name, held] of changed) {
      if (!records.has(name)) sorted?.splice(positionIn(sorted, name), 0, name);
      records.set(name, held);
    }
    ({ sequence, digest } = entry);
    index = entry.index;
    weigh(entry, bytes);
    for (const listener of listeners) listener(entry, before);
  }

  return {
    /** Number and digest of the newest applied entry. */
    get sequence() {
      return sequence;
    },
    get digest() {
      return digest;
    },
    /** The index that the newest entry names. */
    get index() {
      return index;
    },
    /** Bytes that the records as they are now take, roughly. */
    get size() {
      return size;
    },
    get: (name: string): HeldRecord | null => records.get(name) ?? null,
    /** The names with the prefix (after the name `after`), in order. */
    names(prefix: string, after?: string): string[] {
      sorted ??= [...records.keys()].sort();
      const from = positionIn(sorted, after !== undefined && after >= prefix ? `${after}\0` : prefix);
      // `~` sorts after every character of a name.
      return sorted.slice(from, positionIn(sorted, `${prefix}~`));
    },
    /** Applies the next entry. `bytes`: its length. */
    apply(entry: SealedEntry, bytes: number): void {
      const current = (name: string): HeldRecord | null => records.get(name) ?? null;
      advance(recordsAfter(entry.changes, entry, current), entry, bytes);
    },
    /** Applies the next entry, whose records are known already. */
    adopt: advance,
    /** Calls the listener with each entry that is applied from now on, and its records before it. */
    listen: (listener: Listener) => void listeners.push(listener),
    records: () => [...records],
  };
}

/** The records that an entry's changes lead to. */
export function recordsAfter(
  changes: readonly LogChange[],
  at: { sequence: number; at: string },
  current: (name: string) => HeldRecord | null,
): Map<string, HeldRecord> {
  const changed = new Map<string, HeldRecord>();
  let items: ItemChange[] = [];
  for (const change of changes) {
    if (isItem(change)) items.push(change);
    else {
      changed.set(change.name, afterChange(changed.get(change.name) ?? current(change.name), change, items, at));
      items = [];
    }
  }
  return changed;
}

/**
 * A value that is computed from a log's records and kept up to date with them, such as a sum.
 * `change` takes each change of a record, whose value lacks the items of its list, or of an item.
 * `before` is undefined for a new one. It is called once for each record when it is first asked
 * for, and then only for what changes.
 */
export interface Projection<V> {
  create(): V;
  change(view: V, name: string, before: unknown, after: unknown): void;
}

/** Values that are computed from a state's records. */
export function createProjections(state: State) {
  const views = new Map<Projection<unknown>, unknown>();

  function changeAll(name: string, before: unknown, after: unknown): void {
    for (const [projection, view] of views) projection.change(view, name, before, after);
  }

  state.listen(({ changes }, before) => {
    if (views.size === 0) return;
    for (const [name, old] of before) changeAll(name, old?.bare.value, state.get(name)!.bare.value);
    // One entry may change an item twice.
    const items = new Map(changes.filter(isItem).map((change) => [change.name, change]));
    for (const [name, { owner, order }] of items)
      changeAll(name, itemAt(before.get(owner), order)?.value, itemAt(state.get(owner), order)!.value);
  });

  return {
    /** As the state is now. It changes with the state: read it at once. */
    projected<V>(projection: Projection<V>): V {
      return views.getOrInsertComputed(projection, () => {
        const view = projection.create();
        for (const [name, { bare, items }] of state.records()) {
          projection.change(view, name, undefined, bare.value);
          for (const item of items) projection.change(view, item.name, undefined, item.value);
        }
        return view;
      }) as V;
    },
  };
}

function itemAt(held: HeldRecord | null | undefined, order: string): HeldItem | undefined {
  const item = held?.items[positionOfItem(held.items, order)];
  return item?.order === order ? item : undefined;
}
