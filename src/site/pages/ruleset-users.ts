import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import { listReadable } from '../../registry/readable.ts';
import { rulesetName } from '../../registry/gate/ruleset-gate.ts';
import { rowOf } from './listings.ts';
import type { Site } from '../site.ts';

/** The resources that are checked by any version of a ruleset and that the reader may see. */
export async function rulesetUsers(site: Site, ruleset: Resource, reader: Principal): Promise<object[]> {
  const own = nameOf(ruleset);
  const all = await listReadable(site.registry, reader);
  const users: object[] = [];
  for (const resource of all) {
    const name = await rulesetName(site.registry, resource);
    const parsed = name === null ? null : parseCoordinate(name);
    if (parsed !== null && nameOf(parsed.coordinate) === own) users.push(rowOf(site, resource));
  }
  return users;
}
