import { isDeepStrictEqual } from 'node:util';
import { generateKeyBetween } from 'fractional-indexing';
import { itemName, listIn } from '../../model/record-places.ts';
import type { Change, ItemChange, RecordChange } from './entry.ts';
import type { Generation } from '../generations.ts';

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
  let listed = values.get(items);
  if (listed === undefined) values.set(items, (listed = items.map(({ value }) => value)));
  return listed;
}

/** The newest generation with its whole value. */
export function generationOf(held: HeldRecord): Generation<unknown> {
  if (held.list === null) return held.bare;
  let value = whole.get(held);
  if (value === undefined) {
    value = { ...held.bare, value: { ...(held.bare.value as object), [held.list]: valuesOf(held.items) } };
    whole.set(held, value);
  }
  return value;
}

/** The state after a change of a record and of its items, in the entry with this number and time. */
export function afterChange(
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
    const index = positionOf(all, order);
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
export function positionOf(items: readonly { order: string }[], order: string): number {
  let [low, high] = [0, items.length];
  if (high > 0 && items[high - 1]!.order < order) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.order < order) low = middle + 1;
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
): Change[] {
  const generation = (held?.bare.generation ?? 0) + 1;
  const change = { name, generation, last: held?.sequence ?? null, ...details };
  const list = listIn(name);
  if (list === null) return [{ ...change, value }];
  const { [list.field]: items, ...rest } = value as Record<string, unknown>;
  const changes: Change[] = [];
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
