import type { Verdict } from '../../model/comparison.ts';
import { listOf } from '../../render/json-value.ts';
import { quote, report, type Pair } from '../report.ts';
import { textOfValue, type SchemaView } from './read-schema.ts';

const maxNames = 10;

/** Compares the lists of allowed values: `enum` and `const`. */
export function compareValues(pair: Pair): void {
  const { before, after } = pair;
  const [old, current] = [before.values && [...before.values.value], after.values && [...after.values.value]];
  const at = { before: before.values?.pointer ?? before.pointer, after: after.values?.pointer ?? after.pointer };
  if (old === null && current === null) return compareKnown(pair);
  const said = { before: old && listed(whole(before, old)), after: current && listed(whole(after, current)), at };
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
      // Where no value is left, readers know none of them.
      ...(removed.length < old.length ? widensValues(pair) : { effect: 'widens' }),
      name: 'enum-value-added',
      says: `also allows ${listed(added)}`,
      after: listed(added),
      at,
    });
}

/** The judgement on new values of a list. In responses it is the organization's: most readers pass over one. */
export function widensValues({ direction, walk }: Pair): { effect: 'widens' } | { verdict: Verdict; effect: 'widens' } {
  return direction === 'response' ? { verdict: walk.rules.enums, effect: 'widens' } : { effect: 'widens' };
}

/** Null is said where it is allowed: the lists that are compared leave it out. */
function whole({ allowsNull }: SchemaView, values: readonly string[]): string[] {
  return allowsNull === true ? [...values, 'null'] : [...values];
}

/** Compares values that are named although others are allowed, too. */
function compareKnown(pair: Pair): void {
  compareExtensible(pair);
  const [old, current] = [pair.before.known, pair.after.known];
  const at = { before: old?.pointer ?? pair.before.pointer, after: current?.pointer ?? pair.after.pointer };
  const none: ReadonlySet<string> = new Set();
  const [was, is] = [old?.value ?? none, current?.value ?? none];
  const [removed, added] = [[...was.difference(is)], [...is.difference(was)]];
  if (removed.length > 0)
    report(pair, {
      verdict: 'safe',
      name: 'open-enum-value-removed',
      says: `no longer names ${listed(removed)} among its values`,
      before: listed(removed),
      at,
    });
  if (added.length > 0)
    report(pair, {
      verdict: 'safe',
      name: 'open-enum-value-added',
      says: `names ${listed(added)} among its values, and allows others, too`,
      after: listed(added),
      at,
    });
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
  const rest = values.length > maxNames ? ` and ${values.length - maxNames} more` : '';
  return values.slice(0, maxNames).map(quote).join(', ') + rest;
}
