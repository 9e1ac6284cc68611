import { createAnchors } from '../../model/anchor.ts';
import { compareOutlines, countChanges, operationName, type NameChanges, type Outline } from '../../model/outline.ts';
import { coordinateOf, neighbours } from '../../model/resource.ts';
import { outlineOf } from '../../registry/derived.ts';
import { grantVersion, type GrantedVersion } from '../../registry/read.ts';
import type { Site } from '../site.ts';

/** The most names shown as added, removed and changed, per kind. */
const shown = 200;

/**
 * The changes of a version since the previous one. Null for the first version, or if either has no
 * outline.
 */
export async function describeChanges(site: Site, granted: GrantedVersion): Promise<object | null> {
  const { predecessor } = neighbours(granted.resource, granted.version);
  if (predecessor === null) return null;
  const before = grantVersion(granted, { kind: 'version', version: predecessor.label });
  if (before === null || !before.exact) return null;
  const [old, current] = await Promise.all([
    outlineOf(site.registry, before.granted),
    outlineOf(site.registry, granted),
  ]);
  if (old === null || current === null) return null;
  const changes = compareOutlines(old, current);
  const anchors = anchorsOf(current);
  const groups = [
    describe('Operations', changes.operations, anchors.operations),
    describe('Schemas', changes.schemas, anchors.schemas),
    describe('Rules', changes.rules, anchors.rules),
  ];
  return {
    count: countChanges(changes),
    from: {
      label: predecessor.label,
      href: site.links.to(coordinateOf(granted.resource), { label: predecessor.label }),
    },
    groups: groups.filter(({ kinds }) => kinds.length > 0),
  };
}

type Anchored = ReadonlyMap<string, string>;

/** The anchor of each name on the page of the version. */
function anchorsOf({ operations, schemas, rules }: Outline): Record<'operations' | 'schemas' | 'rules', Anchored> {
  const anchors = createAnchors();
  return {
    operations: new Map(operations.map((operation) => [operationName(operation), anchors.operation(operation)])),
    schemas: new Map(schemas.map(({ name }) => [name, anchors.schema(name)])),
    rules: new Map(rules.map(({ name }) => [name, anchors.rule(name)])),
  };
}

function describe(title: string, changes: NameChanges, anchors: Anchored) {
  const kinds = (['added', 'removed', 'changed'] as const).flatMap((kind) => {
    const names = changes[kind];
    if (names.length === 0) return [];
    const items = names.slice(0, shown).map((name) => ({
      name: name === '' ? 'The schema itself' : name,
      href: kind === 'removed' || !anchors.has(name) ? null : `#${anchors.get(name)}`,
    }));
    return [{ kind, count: names.length, items, more: names.length - items.length }];
  });
  return { title, kinds };
}
