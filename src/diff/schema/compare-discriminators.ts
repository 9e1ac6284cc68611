import { entriesOf, objectOf, textOf } from '../../render/json-value.ts';
import { codeOf, placesOf, quote, report, sayHas, type Pair } from '../report.ts';
import { reportLists } from './compare-values.ts';
import type { SchemaView } from './read-schema.ts';
import type { Located } from './schema-parts.ts';

interface Discriminator {
  property: string;
  mapping: ReadonlyMap<string, string>;
  pointer: string;
}

/** Compares `discriminator`: the property that says which alternative is meant, and its values. */
export function compareDiscriminators(pair: Pair): void {
  const [old, current] = [read(pair.before), read(pair.after)];
  if (old === null && current === null) return;
  const at = placesOf(pair, old, current);
  const [from, to] = [old?.property ?? null, current?.property ?? null];
  const says = sayHas('the discriminator', from && quote(from), to && quote(to));
  if (old === null || current === null)
    return report(pair, 'risky', codeOf('discriminator', from, to), says, { before: from, after: to, at });
  if (from !== to) report(pair, 'changes', 'discriminator-property-changed', says, { before: from, after: to, at });
  const names = [old, current].map(({ mapping }) => new Set([...mapping.keys()].map((name) => JSON.stringify(name))));
  reportLists(pair, 'discriminator-mapping', [names[0]!, names[1]!], at, {
    removed: ['narrows', (values) => `no longer maps the discriminator's value ${values}`],
    added: ['widens', (values) => `also maps the discriminator's value ${values}`],
  });
  for (const [value, target] of old.mapping) {
    const other = current.mapping.get(value);
    if (other === undefined || schemaName(other) === schemaName(target)) continue;
    const meaning = `maps the discriminator's value ${quote(value)} to ${quote(other)} instead of ${quote(target)}`;
    report(pair, 'changes', 'discriminator-mapping-changed', meaning, { before: target, after: other, at });
  }
}

function read(view: SchemaView): Discriminator | null {
  const stated: Located<unknown> | null = view.first('discriminator');
  if (stated === null) return null;
  const { value, pointer } = stated;
  // In 2.0 it is the name of the property.
  if (typeof value === 'string') return { property: value, mapping: new Map(), pointer };
  const { propertyName, mapping } = objectOf(value);
  return {
    property: textOf(propertyName),
    mapping: new Map(entriesOf(mapping).map(([key, target]) => [key, textOf(target)])),
    pointer,
  };
}

function schemaName(target: string): string {
  return target.slice(target.lastIndexOf('/') + 1);
}
