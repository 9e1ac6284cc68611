import type { Principal } from '../model/access.ts';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { parseOrganizationRef, type OrganizationSettings } from '../model/gate.ts';
import { nameOf, type Resource } from '../model/resource.ts';
import { configuredDefaults } from './gate/policy.ts';
import { mayRead, mayReadOrganization } from './readable.ts';
import type { Registry } from './registry.ts';

/** Longest list of names in the message. The rest are counted. */
const maxNames = 20;

/**
 * Throws `conflict` if the coordinate is a ruleset in use: by a resource of any organization, at
 * any version, or as an organization's default. The message names what the principal may read and
 * counts the rest.
 */
export async function assertUnattached(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<void> {
  if (coordinate.type !== 'rulesets') return;
  const name = formatCoordinate(coordinate);
  const isIt = (ruleset: string | null | undefined) => nameOfRuleset(ruleset ?? '') === name;
  const readable: string[] = [];
  let others = 0;
  for (const [org, { defaults }] of Object.entries(registry.config.organizations)) {
    if (!isIt(defaults.ruleset)) continue;
    if (mayReadOrganization(principal, org)) readable.push(`the default of ${org}`);
    else others++;
  }
  for await (const ref of registry.refs.list('organizations/')) {
    const org = parseOrganizationRef(ref)!;
    const set = (await registry.refs.read<OrganizationSettings>(ref))?.value;
    if (configuredDefaults(registry, org).ruleset !== undefined || !isIt(set?.ruleset)) continue;
    if (mayReadOrganization(principal, org)) readable.push(`the default of ${org}`);
    else others++;
  }
  for await (const ref of registry.refs.list('resources/')) {
    const resource = (await registry.refs.read<Resource>(ref))?.value;
    if (!resource || resource.deletedAt !== null || !isIt(resource.ruleset)) continue;
    if (mayRead(principal, resource)) readable.push(nameOf(resource));
    else others++;
  }
  if (readable.length + others === 0) return;
  const attached = readable.slice(0, maxNames);
  others += readable.length - attached.length;
  const counted = others === 0 ? [] : [`${others} other${others === 1 ? '' : 's'}`];
  throw new RegistryError(
    'conflict',
    `${name} is attached to ${joinAnd([...attached, ...counted])}. Detach it first, or delete it with ?force: then nothing can be published there until another ruleset is attached.`,
    { extra: { attached, others } },
  );
}

/** The coordinate of a ruleset without its version; null if the text is not a coordinate. */
function nameOfRuleset(text: string): string | null {
  const parsed = parseCoordinate(text);
  return parsed && formatCoordinate(parsed.coordinate);
}

function joinAnd(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
