import type { Digest } from '../../model/digest.ts';
import { isItem, type Change, type ItemChange, type SealedEntry } from './entry.ts';
import { afterChange, positionOf, type HeldRecord } from './held.ts';

/** What the entries of a log lead to: its records as they are now. */
export interface State {
  /** Number and digest of the newest applied entry. */
  readonly sequence: number;
  readonly digest: Digest | null;
  /** The index that the newest entry names. */
  readonly index: Digest | null;
  /** Bytes that the records as they are now take, roughly. */
  readonly size: number;
  get(name: string): HeldRecord | null;
  /** The names with the prefix (after the name `after`), in order. */
  names(prefix: string, after?: string): string[];
  /** Applies the next entry. `bytes`: its length. */
  apply(entry: SealedEntry, bytes: number): void;
  /** Applies the next entry, whose records are known already. */
  adopt(records: ReadonlyMap<string, HeldRecord>, entry: SealedEntry, bytes: number): void;
  /** Calls the listener with each entry that is applied from now on, and its records before it. */
  listen(listener: (entry: SealedEntry, before: ReadonlyMap<string, HeldRecord | null>) => void): void;
  /** Every record with its name. */
  records(): [string, HeldRecord][];
}

/** What a state begins with: the records of a checkpoint. */
export interface StateStart extends Pick<State, 'sequence' | 'digest' | 'index' | 'size'> {
  records: Map<string, HeldRecord>;
}

export function createState(start: StateStart): State {
  const { records } = start;
  let { sequence, digest, index, size } = start;
  const listeners: Parameters<State['listen']>[0][] = [];
  /** Bytes that a record's change took in the log; absent where a checkpoint holds it. */
  const weights = new Map<string, number>();
  /** All names in order; null until they are asked for. */
  let sorted: { order: string }[] | null = null;

  function put(name: string, held: HeldRecord): void {
    if (!records.has(name)) insert(name);
    records.set(name, held);
  }

  function insert(name: string): void {
    sorted?.splice(positionOf(sorted, name), 0, { order: name });
  }

  function inOrder(): { order: string }[] {
    sorted ??= [...records.keys()].sort().map((order) => ({ order }));
    return sorted;
  }

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
    for (const [name, held] of changed) put(name, held);
    ({ sequence, digest } = entry);
    index = entry.index;
    weigh(entry, bytes);
    for (const listener of listeners) listener(entry, before);
  }

  return {
    get sequence() {
      return sequence;
    },
    get digest() {
      return digest;
    },
    get index() {
      return index;
    },
    get size() {
      return size;
    },
    get: (name) => records.get(name) ?? null,
    names(prefix, after) {
      const all = inOrder();
      const names: string[] = [];
      const from = after !== undefined && after >= prefix ? positionOf(all, `${after}\0`) : positionOf(all, prefix);
      for (let at = from; all[at]?.order.startsWith(prefix); at++) names.push(all[at]!.order);
      return names;
    },
    apply(entry, bytes) {
      const current = (name: string): HeldRecord | null => records.get(name) ?? null;
      advance(recordsAfter(entry.changes, entry, current), entry, bytes);
    },
    adopt: advance,
    listen: (listener) => void listeners.push(listener),
    records: () => [...records],
  };
}

/** The records that an entry's changes lead to. */
export function recordsAfter(
  changes: readonly Change[],
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
