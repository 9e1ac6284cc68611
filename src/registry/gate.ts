import { organizationIn } from '../config.ts';
import { formatCoordinate, parseCoordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { selectVersion, type Resource } from '../model/resource.ts';
import type { GivenRuleset } from '../compile/compile.ts';
import type { Registry } from './registry.ts';
import { findReadable } from './readable.ts';
import { readRuleset } from './stored.ts';

/**
 * Coordinate of the ruleset that a resource's documents must pass: its own, else its organization's
 * default, else null. The default is only for APIs: a ruleset that had to pass itself could never
 * be published.
 */
export function rulesetName(
  registry: Pick<Registry, 'config'>,
  { org, type, ruleset }: Pick<Resource, 'org' | 'type' | 'ruleset'>,
): string | null {
  const inherited = type === 'apis' ? organizationIn(registry.config, org)?.defaults.ruleset : null;
  return ruleset ?? inherited ?? null;
}

/**
 * Resolves a ruleset's coordinate to its current content. The publish records the digest. A ruleset
 * of another organization must be public. Throws `refused` if the ruleset does not exist:
 * publishing without the attached check would be unsafe.
 */
export async function resolveRuleset(
  registry: Registry,
  org: string,
  name: string | null,
): Promise<GivenRuleset | null> {
  if (name === null) return null;
  const parsed = parseCoordinate(name);
  if (parsed?.coordinate.type !== 'rulesets') {
    throw new RegistryError(
      'refused',
      `The ruleset ${JSON.stringify(name)} is not a valid coordinate. Use one such as "@acme/rulesets/style".`,
    );
  }
  const reader = { kind: 'key', id: 'gate', org, scopes: ['read'], resources: null } as const;
  const ruleset = await findReadable(registry, reader, parsed.coordinate);
  const selected = ruleset && selectVersion(ruleset.value, parsed.selector);
  if (selected === null || selected.version.status.state === 'withdrawn') {
    throw new RegistryError(
      'refused',
      `The ruleset ${formatCoordinate(parsed.coordinate, parsed.selector)} does not exist. Publish it, or attach another one.`,
    );
  }
  return readRuleset(registry, selected.version.manifest);
}
