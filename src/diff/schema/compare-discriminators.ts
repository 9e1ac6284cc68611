import { entriesOf, objectOf, textOf } from '../../render/json-value.ts';
import { quote, report, type Pair } from '../report.ts';
import type { SchemaView } from './read-schema.ts';
import type { Stated } from './schema-parts.ts';

interface Discriminator {
  property: string;
  mapping: ReadonlyMap<string, string>;
  pointer: string;
}

/** Compares `discriminator`: the property that says which alternative is meant, and its values. */
export function compareDiscriminators(pair: Pair): void {
  const [old, current] = [read(pair.before), read(pair.after)];
  const at = { before: old?.pointer ?? pair.before.pointer, after: current?.pointer ?? pair.after.pointer };
  if (old === null && current === null) return;
  if (old === null || current === null) {
    const says = current
      ? `has the discriminator ${quote(current.property)}; it had none`
      : `no longer has the discriminator ${quote(old!.property)}`;
    const values = { before: old?.property ?? null, after: current?.property ?? null };
    return report(pair, {
      verdict: 'risky',
      name: current ? 'discriminator-set' : 'discriminator-unset',
      says,
      ...values,
      at,
    });
  }
  if (old.property !== current.property)
    report(pair, {
      effect: 'changes',
      name: 'discriminator-property-changed',
      says: `has the discriminator ${quote(current.property)} instead of ${quote(old.property)}`,
      before: old.property,
      after: current.property,
      at,
    });
  const removed = [...old.mapping.keys()].filter((value) => !current.mapping.has(value));
  const added = [...current.mapping.keys()].filter((value) => !old.mapping.has(value));
  if (removed.length > 0)
    report(pair, {
      effect: 'narrows',
      name: 'discriminator-mapping-removed',
      says: `no longer maps the discriminator's value ${listed(removed)}`,
      before: listed(removed),
      at,
    });
  if (added.length > 0)
    report(pair, {
      effect: 'widens',
      name: 'discriminator-mapping-added',
      says: `also maps the discriminator's value ${listed(added)}`,
      after: listed(added),
      at,
    });
  for (const [value, target] of old.mapping) {
    const other = current.mapping.get(value);
    if (other === undefined || schemaName(other) === schemaName(target)) continue;
    const says = `maps the discriminator's value ${quote(value)} to ${quote(other)} instead of ${quote(target)}`;
    report(pair, { effect: 'changes', name: 'discriminator-mapping-changed', says, before: target, after: other, at });
  }
}

function read(view: SchemaView): Discriminator | null {
  const stated: Stated<unknown> | null = view.first('discriminator');
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

function listed(values: readonly string[]): string {
  return values
    .slice(0, 10)
    .map((value) => quote(JSON.stringify(value)))
    .join(', ');
}
