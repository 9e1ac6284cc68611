import { report, type Below, type Pair } from '../report.ts';
import { limitOf } from './limits.ts';
import type { Schema } from './schema-parts.ts';
import type { SchemaView } from './read-schema.ts';

/** Compares the schemas of a list's items: the first ones one by one, then the others. */
export function compareArrays(pair: Pair, below: Below): void {
  const { before, after } = pair;
  const length = Math.max(before.items.first.length, after.items.first.length);
  // Items beyond the longest valid list cannot break anybody.
  const longest = Math.min(...[before, after].map((view) => limitOf(view, 'maxItems')?.value ?? Infinity));
  for (let at = 0; at < Math.min(length, longest); at++) below(itemAt(before, at), itemAt(after, at));
  const [old, current] = [before.items, after.items];
  const at = { before: old.pointer, after: current.pointer };
  if (!old.isClosed && current.isClosed)
    report(pair, 'narrows', 'additional-items-forbidden', `allows no more than ${length} items`, { at });
  else if (old.isClosed && !current.isClosed)
    report(pair, 'widens', 'additional-items-allowed', `allows more than ${length} items`, { at });
  else if (!current.isClosed && length < longest && (old.rest.length > 0 || current.rest.length > 0))
    below(restOf(before), restOf(after));
}

function itemAt(view: SchemaView, at: number): Schema {
  const { first, isClosed } = view.items;
  return first[at] ?? (isClosed ? [{ value: false, pointer: view.items.pointer }] : restOf(view));
}

function restOf({ items, pointer }: SchemaView): Schema {
  return items.rest.length > 0 ? items.rest : [{ value: true, pointer: `${pointer}/items` }];
}
