import { isItem } from './entry.ts';
import { positionOf, type HeldRecord, type HeldItem } from './held.ts';
import type { State } from './state.ts';

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

/** Values that were computed from a state's records. */
export interface Projections {
  /** As the state is now. It changes with the state: read it at once. */
  projected<V>(projection: Projection<V>): V;
}

export function createProjections(state: State): Projections {
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
    projected<V>(projection: Projection<V>) {
      if (!views.has(projection)) {
        const view = projection.create();
        for (const [name, { bare, items }] of state.records()) {
          projection.change(view, name, undefined, bare.value);
          for (const item of items) projection.change(view, item.name, undefined, item.value);
        }
        views.set(projection, view);
      }
      return views.get(projection) as V;
    },
  };
}

function itemAt(held: HeldRecord | null | undefined, order: string): HeldItem | undefined {
  const item = held?.items[positionOf(held.items, order)];
  return item?.order === order ? item : undefined;
}
