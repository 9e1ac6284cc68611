import { listOf } from '../../render/json-value.ts';
import { placesOf, quote, report, type Judgement, type Pair, type Pointers } from '../report.ts';
import { textOfValue, type SchemaView } from './read-schema.ts';

const maxNames = 10;

/** Compares the lists of allowed values: `enum` and `const`. */
export function compareValues(pair: Pair): void {
  const { before, after } = pair;
  const [old, current] = [before.values?.value ?? null, after.values?.value ?? null];
  if (old === null && current === null) return compareKnown(pair);
  const at = placesOf(pair, before.values, after.values);
  const details = { before: old && listed(whole(before, old)), after: current && listed(whole(after, current)), at };
  if (old === null)
    return report(pair, 'narrows', 'became-enum', `allows only ${details.after}; it allowed any value`, details);
  if (current === null)
    return report(pair, 'widens', 'enum-removed', `allows any value; it allowed only ${details.before}`, details);
  // Where no value is left, readers know none of them.
  const added = old.isDisjointFrom(current) ? 'widens' : widensValues(pair);
  reportLists(pair, 'enum-value', [old, current], at, {
    removed: ['narrows', (values) => `no longer allows ${values}`],
    added: [added, (values) => `also allows ${values}`],
  });
}

/** The judgement on new values of a list. In responses it is the organization's: most readers pass over one. */
export function widensValues({ direction, walk }: Pair): Judgement {
  return direction === 'response' ? walk.rules.enums : 'widens';
}

/** Adds null if it is allowed, since the compared lists leave it out. */
function whole({ allowsNull }: SchemaView, values: ReadonlySet<string>): string[] {
  return allowsNull === true ? [...values, 'null'] : [...values];
}

type Says = readonly [Judgement, (values: string) => string];

/** Reports the removed and the added values of a list. */
export function reportLists(
  pair: Pair,
  name: string,
  [old, current]: readonly [ReadonlySet<string>, ReadonlySet<string>],
  at: Pointers,
  rules: { removed: Says; added: Says },
): void {
  const [removed, added] = [listed([...old.difference(current)]), listed([...current.difference(old)])];
  const [[loses, saysLess], [gains, saysMore]] = [rules.removed, rules.added];
  if (removed !== '') report(pair, loses, `${name}-removed`, saysLess(removed), { before: removed, at });
  if (added !== '')
    report(pair, gains, `${name}-added`, saysMore(added), {
      after: added,
      at,
      ...(gains !== 'safe' && { effect: 'widens' }),
    });
}

/** Compares values that are named although others are allowed, too. */
function compareKnown(pair: Pair): void {
  compareExtensible(pair);
  const [old, current] = [pair.before.names, pair.after.names];
  const values = [old?.value ?? new Set<string>(), current?.value ?? new Set<string>()] as const;
  reportLists(pair, 'open-enum-value', values, placesOf(pair, old, current), {
    removed: ['safe', (names) => `no longer names ${names} among its values`],
    added: ['safe', (names) => `names ${names} among its values, and allows others, too`],
  });
}

/** `x-extensible-enum` lists values to which others may be added at any time. */
function compareExtensible(pair: Pair): void {
  const [before, after] = [pair.before.first('x-extensible-enum'), pair.after.first('x-extensible-enum')];
  if (before === null || after === null) return;
  const setOf = ({ value }: { value: unknown }) => new Set(listOf(value).map(textOfValue));
  reportLists(pair, 'extensible-enum-value', [setOf(before), setOf(after)], placesOf(pair, before, after), {
    removed: ['narrows', (values) => `no longer allows ${values}`],
    added: ['safe', (values) => `also allows ${values}`],
  });
}

function listed(values: readonly string[]): string {
  const rest = values.length > maxNames ? ` and ${values.length - maxNames} more` : '';
  return values.slice(0, maxNames).map(quote).join(', ') + rest;
}
