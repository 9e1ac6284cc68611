import type { Generation } from '../generations.ts';
import { isItem } from './entry.ts';
import { generationOf, positionOf } from './held.ts';
import type { State } from './state.ts';

/** The records of a state under some prefixes. */
export interface PrefixLists {
  /** Every record with the prefix, by name. Never changed: a later list is another array. */
  all(prefix: string): readonly Generation<unknown>[];
}

interface List {
  /** In order, and the records in the same places. */
  names: { order: string }[];
  records: readonly Generation<unknown>[];
  changed: Set<string>;
}

/**
 * Creates the lists of a state. A list is read once and then only updated. Callers use a handful of
 * prefixes, and each list is kept.
 */
export function createPrefixLists(state: State): PrefixLists {
  const lists = new Map<string, List>();
  state.listen(({ changes }) => {
    for (const change of changes) {
      const name = isItem(change) ? change.owner : change.name;
      for (const [prefix, { changed }] of lists) if (name.startsWith(prefix)) changed.add(name);
    }
  });

  function take(list: List): void {
    const records = [...list.records];
    for (const name of list.changed) {
      const at = positionOf(list.names, name);
      const isKnown = list.names[at]?.order === name;
      if (!isKnown) list.names.splice(at, 0, { order: name });
      records.splice(at, Number(isKnown), generationOf(state.get(name)!));
    }
    list.records = records;
    list.changed.clear();
  }

  return {
    all(prefix) {
      let list = lists.get(prefix);
      if (list === undefined) {
        const names = state.names(prefix);
        const records = names.map((name) => generationOf(state.get(name)!));
        list = { names: names.map((order) => ({ order })), records, changed: new Set() };
        lists.set(prefix, list);
      }
      if (list.changed.size > 0) take(list);
      return list.records;
    },
  };
}
