import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import { listDependants } from '../../registry/graph/dependants.ts';
import { listReadable } from '../../registry/readable.ts';
import { rulesetName } from '../../registry/gate/ruleset-gate.ts';
import { rowOf } from './listings.ts';
import type { Site } from '../site.ts';

/** The resources that are checked by any version of a ruleset, and those that extend it, that the reader may see. */
export async function rulesetUsers(site: Site, ruleset: Resource, reader: Principal): Promise<object[]> {
  const own = nameOf(ruleset);
  const all = await listReadable(site.registry, reader);
  const users = new Map<string, Resource>();
  for (const resource of all) {
    const name = await rulesetName(site.registry, resource);
    const parsed = name === null ? null : parseCoordinate(name);
    if (parsed !== null && nameOf(parsed.coordinate) === own) users.set(nameOf(resource), resource);
  }
  for (const { resource } of await listDependants(site.registry, reader, ruleset))
    users.set(nameOf(resource), resource);
  return [...users.values()].map((resource) => rowOf(site, resource));
}
