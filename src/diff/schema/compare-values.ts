import { listOf } from '../../render/json-value.ts';
import { quote, report, type Pair } from '../report.ts';
import { textOfValue, type SchemaView } from './read-schema.ts';

const mostNamed = 10;

/** Compares the lists of allowed values: `enum` and `const`. */
export function compareValues(pair: Pair): void {
  const { before, after } = pair;
  const [old, current] = [valuesOf(before), valuesOf(after)];
  const at = { before: before.values?.pointer ?? before.pointer, after: after.values?.pointer ?? after.pointer };
  if (old === null && current === null) return compareExtensible(pair);
  const said = { before: old && listed(old), after: current && listed(current), at };
  if (old === null)
    return report(pair, {
      effect: 'narrows',
      name: 'became-enum',
      says: `allows only ${said.after}; it allowed any value`,
      ...said,
    });
  if (current === null)
    return report(pair, {
      effect: 'widens',
      name: 'enum-removed',
      says: `allows any value; it allowed only ${said.before}`,
      ...said,
    });
  const removed = old.filter((value) => !current.includes(value));
  const added = current.filter((value) => !old.includes(value));
  if (removed.length > 0)
    report(pair, {
      effect: 'narrows',
      name: 'enum-value-removed',
      says: `no longer allows ${listed(removed)}`,
      before: listed(removed),
      at,
    });
  if (added.length > 0)
    report(pair, {
      effect: 'widens',
      name: 'enum-value-added',
      says: `also allows ${listed(added)}`,
      after: listed(added),
      at,
    });
}

/** The allowed values. Null is left out where the types say whether it is allowed. */
function valuesOf({ values, types, flat }: SchemaView): string[] | null {
  if (values === null) return null;
  const isSaid = flat.isNullable || types !== null;
  return [...values.value].filter((value) => !(isSaid && value === 'null'));
}

/** `x-extensible-enum` lists values to which others may be added at any time. */
function compareExtensible(pair: Pair): void {
  const name = 'x-extensible-enum';
  const [before, after] = [pair.before.first(name), pair.after.first(name)];
  if (before === null || after === null) return;
  const at = { before: before.pointer, after: after.pointer };
  const [old, current] = [listOf(before.value).map(textOfValue), listOf(after.value).map(textOfValue)];
  const removed = old.filter((value) => !current.includes(value));
  const added = current.filter((value) => !old.includes(value));
  if (removed.length > 0)
    report(pair, {
      effect: 'narrows',
      name: 'extensible-enum-value-removed',
      says: `no longer allows ${listed(removed)}`,
      before: listed(removed),
      at,
    });
  if (added.length > 0)
    report(pair, {
      verdict: 'safe',
      name: 'extensible-enum-value-added',
      says: `also allows ${listed(added)}`,
      after: listed(added),
      at,
    });
}

function listed(values: readonly string[]): string {
  const rest = values.length > mostNamed ? ` and ${values.length - mostNamed} more` : '';
  return values.slice(0, mostNamed).map(quote).join(', ') + rest;
}
