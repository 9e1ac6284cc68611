import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { notFound, conflict } from '../model/errors.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import {
  siteRef,
  type DocumentationSite,
  type SiteCoordinate,
  type SiteName,
} from '../sites/model/documentation-site.ts';
import type { Generation } from '../store/records.ts';
import { withRoom } from './maintenance/quotas.ts';
import type { Author, Registry } from './registry.ts';

/** Names what lives in the registry: a resource, or a documentation site. */
export type Name = Coordinate | SiteCoordinate;

/** The record of what a name names. */
export type RecordOf<N extends Name> = N extends SiteCoordinate ? DocumentationSite : Resource;

/** The name of the record that holds it. */
export function recordRef(of: Name): string {
  return of.type === 'sites' ? siteRef(of) : resourceRef(of);
}

/** Sees the newest generation before it is replaced, and throws to keep it. `If-Match` is checked this way. */
export type Guard = (current: Pick<Generation<unknown>, 'generation'>) => void;

/** The same for a record of this kind. */
export type GuardOf<T> = (current: Generation<T>) => void;

/**
 * Returns the next state of a record and the action to note, or null to change nothing. Throws to stop
 * the change. It may run more than once, so it must have no effects.
 */
type Decide<T> = (current: T) => { next: T; action: string } | null;

/**
 * Appends one generation to the record of something that can be deleted. Throws `not_found`, with this
 * message, if it does not exist or was deleted. `guard`: null: any generation may be replaced.
 */
export async function updateLive<T extends { deletedAt: string | null }>(
  { refs }: Pick<Registry, 'refs'>,
  { name, absent }: { name: string; absent: string },
  author: Author,
  guard: GuardOf<T> | null,
  decide: Decide<T>,
): Promise<Generation<T>> {
  const updated = await refs.update<T>(name, (current) => {
    if (current === null || current.value.deletedAt !== null) throw notFound(absent);
    guard?.(current);
    const decision = decide(current.value);
    return decision && { value: decision.next, change: { ...author, action: decision.action } };
  });
  return updated!;
}

/** As `updateLive`, for the record of a resource or a site. */
export async function updateRecord<N extends Name>(
  registry: Pick<Registry, 'refs'>,
  of: N,
  author: Author,
  guard: GuardOf<RecordOf<N>> | null,
  decide: Decide<RecordOf<N>>,
): Promise<Generation<RecordOf<N>>> {
  const record = { name: recordRef(of), absent: `${formatCoordinate(of)} does not exist.` };
  return updateLive<RecordOf<N>>(registry, record, author, guard, decide);
}

/** A resource's newest state; null if it does not exist or was deleted. Does not check access. */
export async function findResource({ refs }: Pick<Registry, 'refs'>, coordinate: Coordinate): Promise<Resource | null> {
  const resource = (await refs.read<Resource>(resourceRef(coordinate)))?.value ?? null;
  return resource === null || resource.deletedAt !== null ? null : resource;
}

/**
 * A site, as others may have changed it half a second ago; null if there is none or it was deleted.
 * `isFresh`: as it is now, for what decides about a change. Does not check access.
 */
export async function findSite(
  { refs }: Pick<Registry, 'refs'>,
  site: SiteName,
  { isFresh = false } = {},
): Promise<Generation<DocumentationSite> | null> {
  const name = siteRef(site);
  const stored = await (isFresh ? refs.readFresh<DocumentationSite>(name) : refs.read<DocumentationSite>(name));
  return stored?.value.deletedAt === null ? stored : null;
}

/**
 * Deletes a resource or a site. Within 30 days, `restoreRecord` brings it back. The name of a resource
 * is taken from then on; that of a site may be used again. A site keeps its connection, which nobody follows.
 */
export async function deleteRecord<N extends Name>(
  registry: Registry,
  of: N,
  author: Author,
  guard: GuardOf<RecordOf<N>> | null = null,
): Promise<void> {
  const deletedAt = registry.now().toISOString();
  await updateRecord(registry, of, author, guard, (current) => ({
    next: { ...current, ...(of.type !== 'sites' && { connection: null }), deletedAt },
    action: 'delete',
  }));
}

/** Days for which what was deleted can be brought back. */
export const graceDays = 30;

/** Whether something deleted can still be brought back. */
export function isRestorable({ deletedAt }: { deletedAt: string | null }, now: Date): boolean {
  return deletedAt !== null && now.getTime() - Date.parse(deletedAt) < graceDays * 86_400_000;
}

/**
 * Brings a deleted resource or site back with all its versions or deployments, without a connection.
 * Throws `not_found` if it never existed, and `conflict` if it is not deleted or was deleted more than
 * 30 days ago.
 */
export async function restoreRecord<N extends Name>(
  registry: Registry,
  of: N,
  author: Author,
): Promise<Generation<RecordOf<N>>> {
  const name = formatCoordinate(of);
  const restored = await withRoom(registry, of.org, (take) =>
    registry.refs.update<RecordOf<N>>(recordRef(of), (current) => {
      if (current === null) throw notFound(`${name} does not exist.`);
      // The same request again.
      if (author.operation !== undefined && current.operation === author.operation) return null;
      const { value } = current;
      if (value.deletedAt === null) throw conflict(`${name} is not deleted.`);
      if (!isRestorable(value, registry.now())) throw conflict(`${name} was deleted more than ${graceDays} days ago.`);
      take(of.type === 'sites' ? { sites: 1 } : { resources: 1 });
      return { value: { ...value, connection: null, deletedAt: null }, change: { ...author, action: 'undelete' } };
    }),
  );
  return restored!;
}
