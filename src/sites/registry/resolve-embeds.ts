import type { Principal } from '../../model/access.ts';
import { createAnchors, type Outline } from '../../model/outline.ts';
import { parseCoordinate } from '../../model/address.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { EmbeddedVersion } from '../model/documentation-site.ts';
import { outlineOf } from '../../registry/derived.ts';
import { grantRead, grantVersion, type GrantedVersion } from '../../registry/read.ts';
import type { Registry } from '../../registry/registry.ts';

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
export function anchorOfOperation(outline: Pick<Outline, 'operations'>, wanted: string): string | null {
  return createFindAnchor(outline)(wanted);
}

/** As `anchorOfOperation`, for many of one outline. */
function createFindAnchor({ operations }: Pick<Outline, 'operations'>): (wanted: string) => string | null {
  const anchors = createAnchors();
  const byId = new Map<string, string>();
  const byName = new Map<string, string>();
  for (const operation of operations) {
    const { id, method, path } = operation;
    const anchor = anchors.operation(operation);
    const name = `${method} ${path}`.toLowerCase();
    if (id !== null && !byId.has(id)) byId.set(id, anchor);
    if (!byName.has(name)) byName.set(name, anchor);
  }
  return (wanted) => byId.get(wanted) ?? byName.get(wanted.replace(/\s+/g, ' ').toLowerCase()) ?? null;
}

/** The operations among these that an API does not have. None if the API cannot be read. */
export async function absentOperations(
  registry: Registry,
  granted: GrantedVersion,
  wanted: Iterable<string>,
): Promise<string[]> {
  const outline = await outlineOf(registry, granted);
  if (outline === null || outline.truncated) return [];
  const anchorOf = createFindAnchor(outline);
  return [...wanted].filter((operation) => anchorOf(operation) === null);
}
