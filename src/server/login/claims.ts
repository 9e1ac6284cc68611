import type { LoginConfig } from '../../config/login-config.ts';
import type { Grant } from '../../model/access.ts';

/**
 * Values of the configured claim, which is a string or a list of strings. Ignores other types. Null
 * if the claim is missing.
 */
export function readGroups(claims: Readonly<Record<string, unknown>>, claim: string): string[] | null {
  if (!Object.hasOwn(claims, claim)) return null;
  const value = claims[claim];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return [...new Set(values.filter((group) => typeof group === 'string'))];
}

/** The groups that the configuration mentions. Only these are kept in a session. */
export function knownGroups({ organizations = {} }: LoginConfig, groups: readonly string[]): string[] {
  return groups.filter((group) => group !== everybody && Object.hasOwn(organizations, group));
}

const everybody = '*';

/** What members of these groups hold, by organization, as configured now. `*` is everyone. */
export function organizationsOf(
  { organizations = {} }: LoginConfig,
  groups: readonly string[],
): Record<string, readonly Grant[]> {
  const granted = new Map<string, Grant[]>();
  for (const group of [everybody, ...groups]) {
    const entries = Object.hasOwn(organizations, group) ? organizations[group]! : [];
    for (const { organization, scopes, resources = null } of entries) {
      const held = granted.get(organization) ?? [];
      granted.set(organization, [...held, { scopes, resources }]);
    }
  }
  return Object.fromEntries(granted);
}
