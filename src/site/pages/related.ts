import { anonymous, type Principal } from '../../model/access.ts';
import { formatAddress, parseCoordinate } from '../../model/address.ts';
import type { Resource } from '../../model/resource.ts';
import { rulesetName } from '../../registry/gate.ts';
import { findAmong } from '../../registry/readable.ts';
import { rulesetUsers } from './ruleset-users.ts';
import type { Site } from '../site.ts';

/** What a resource's page tells of other resources, as far as its reader may see them. */
export interface Related {
  /** The ruleset that it is checked by; null where there is none that may be named. */
  ruleset: { text: string; href: string } | null;
  /** What is checked by it; null where it is no ruleset. */
  users: object[] | null;
}

/** A public page that anybody may keep names what everybody may see, whoever reads it; a ruleset's page is made for its reader. */
export async function relatedTo(site: Site, resource: Resource, reader: Principal): Promise<Related> {
  const isForAll = resource.visibility === 'public' && resource.type !== 'rulesets';
  return {
    ruleset: await rulesetLink(site, resource, isForAll ? anonymous : reader),
    users: resource.type === 'rulesets' ? await rulesetUsers(site, resource, reader) : null,
  };
}

async function rulesetLink({ registry, links }: Site, resource: Resource, reader: Principal) {
  const name = rulesetName(registry, resource);
  const parsed = name === null ? null : parseCoordinate(name);
  if (parsed === null) return null;
  if ((await findAmong(registry, reader, parsed.coordinate)) === null) return null;
  const path = formatAddress({ kind: 'resource', ...parsed, view: 'document', format: null });
  return { text: name!, href: links.path(path) };
}
