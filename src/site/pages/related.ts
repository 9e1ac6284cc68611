import { anonymous, type Principal } from '../../model/access.ts';
import { formatAddress, parseCoordinate } from '../../model/address.ts';
import { type Resource, nameOf } from '../../model/resource.ts';
import { policyOf } from '../../registry/gate/policy.ts';
import { gateOrganizations, mayReadFindingsOf } from '../../registry/gate/show-report.ts';
import type { GrantedVersion } from '../../registry/read.ts';
import { findReadable, listReadable } from '../../registry/readable.ts';
import type { Site } from '../site.ts';
import { listDependants } from '../../registry/graph/dependants.ts';
import { rowOf } from './listings.ts';

/** Other resources on the page of a resource. Contains only those that the reader may see. */
export interface Related {
  /** The ruleset of the resource. Null if it has none or the reader may not see it. */
  ruleset: { text: string; href: string } | null;
  /** Whether the reader may read what the ruleset found: only who may read the ruleset. */
  areFindingsShown: boolean;
  /** The resources that are checked by this ruleset. Null if the resource is not a ruleset. */
  users: object[] | null;
  /** The organizations whose resources this depends on. */
  organizations: string[];
}

/**
 * Public pages are cached for everyone, so they list only public resources. The page of a ruleset
 * is not cached and depends on its reader.
 */
export async function relatedTo(site: Site, granted: GrantedVersion, reader: Principal): Promise<Related> {
  const { resource } = granted;
  const isForAll = isSameForAll(resource);
  const { ruleset: checking } = await policyOf(site.registry, resource);
  const named = checking === null ? null : parseCoordinate(checking);
  return {
    ...(await relatedResources(site, resource, reader)),
    areFindingsShown: await mayReadFindingsOf(site.registry, isForAll ? anonymous : reader, granted),
    organizations: [...(named ? [named.coordinate.org] : []), ...(await gateOrganizations(site.registry, granted))],
  };
}

function isSameForAll({ visibility, type }: Resource): boolean {
  return visibility === 'public' && type !== 'rulesets';
}

/** The part that does not depend on the version. */
export async function relatedResources(
  site: Site,
  resource: Resource,
  reader: Principal,
): Promise<Pick<Related, 'ruleset' | 'users'>> {
  const isForAll = isSameForAll(resource);
  return {
    ruleset: await rulesetLink(site, resource, isForAll ? anonymous : reader),
    users: resource.type === 'rulesets' ? await rulesetUsers(site, resource, reader) : null,
  };
}

async function rulesetLink({ registry, links }: Site, resource: Resource, reader: Principal) {
  const { ruleset: name } = await policyOf(registry, resource);
  const parsed = name === null ? null : parseCoordinate(name);
  if (parsed === null) return null;
  if ((await findReadable(registry, reader, parsed.coordinate)) === null) return null;
  const path = formatAddress({ kind: 'resource', ...parsed, view: 'document', format: null });
  return { text: name!, href: links.path(path) };
}

/** The resources that are checked by any version of a ruleset, and those that extend it, that the reader may see. */
async function rulesetUsers(site: Site, ruleset: Resource, reader: Principal): Promise<object[]> {
  const own = nameOf(ruleset);
  const all = await listReadable(site.registry, reader);
  const users = new Map<string, Resource>();
  for (const resource of all) {
    const { ruleset: name } = await policyOf(site.registry, resource);
    const parsed = name === null ? null : parseCoordinate(name);
    if (parsed !== null && nameOf(parsed.coordinate) === own) users.set(nameOf(resource), resource);
  }
  for (const { resource } of await listDependants(site.registry, reader, ruleset))
    users.set(nameOf(resource), resource);
  return [...users.values()].map((resource) => rowOf(site, resource));
}
