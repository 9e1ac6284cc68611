import type { Principal } from '../../model/access.ts';
import { createAnchors } from '../../model/anchor.ts';
import { parseCoordinate } from '../../model/address.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { Outline } from '../../model/outline.ts';
import type { EmbeddedVersion } from '../../model/sites/deployment.ts';
import { outlineOf } from '../derived.ts';
import { grantRead, grantVersion, type GrantedVersion } from '../read.ts';
import type { Registry } from '../registry.ts';

/** The version that a coordinate means for a reader; null if they cannot read it. */
export async function resolveEmbed(
  registry: Registry,
  reader: Principal,
  text: string,
): Promise<{ granted: GrantedVersion; embedded: EmbeddedVersion } | null> {
  const parsed = parseCoordinate(text);
  if (parsed === null) return null;
  const { coordinate, selector } = parsed;
  try {
    const granted = await grantRead(registry, reader, coordinate);
    const selected = granted && grantVersion(granted, selector);
    if (!selected) return null;
    const { manifest, label } = selected.granted.version;
    const follows = selector.kind === 'latest' || !selected.exact;
    return { granted: selected.granted, embedded: { manifest, label, follows } };
  } catch (error) {
    // Deleted or withdrawn: as absent as if it had never been there.
    if (isRegistryError(error, 'gone')) return null;
    throw error;
  }
}

/** The anchor of an operation on its API's page: `GET /payments/{id}`, or its id. Null: there is none. */
export function anchorOfOperation({ operations }: Pick<Outline, 'operations'>, wanted: string): string | null {
  const anchors = createAnchors();
  const named = operations.map((operation) => ({ operation, anchor: anchors.operation(operation) }));
  const found =
    named.find(({ operation }) => operation.id === wanted) ??
    named.find(
      ({ operation: { method, path } }) =>
        `${method} ${path}`.toLowerCase() === wanted.replace(/\s+/g, ' ').toLowerCase(),
    );
  return found?.anchor ?? null;
}

/** Whether an API has an operation. True if that cannot be found out. */
export async function hasOperation(registry: Registry, granted: GrantedVersion, wanted: string): Promise<boolean> {
  const outline = await outlineOf(registry, granted);
  return outline === null || outline.truncated || anchorOfOperation(outline, wanted) !== null;
}
