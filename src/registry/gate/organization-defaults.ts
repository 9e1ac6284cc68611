import { organizationIn } from '../../config/organization-config.ts';
import type { Visibility } from '../../model/access.ts';
import { organizationRef, type OrganizationDefaults, type OrganizationSettings } from '../../model/gate.ts';
import type { Registry } from '../registry.ts';

type Policy = Pick<Registry, 'config' | 'refs'>;

/** What the configuration says for an organization's resources. It counts before what people set. */
export function configuredDefaults(
  { config }: Pick<Registry, 'config'>,
  org: string,
): OrganizationDefaults & { ruleset?: string } {
  return organizationIn(config, org)?.defaults ?? {};
}

/** What counts for an organization's resources that say nothing of their own. The one place that computes it. */
export async function defaultsOf(
  policy: Policy,
  org: string,
): Promise<OrganizationDefaults & { ruleset?: string | null }> {
  const set = (await policy.refs.read<OrganizationSettings>(organizationRef(org)))?.value;
  return { ruleset: set?.ruleset ?? null, ...set?.defaults, ...configuredDefaults(policy, org) };
}

/** The coordinate of an organization's default ruleset, or null. */
export async function defaultRuleset(policy: Policy, org: string): Promise<string | null> {
  return (await defaultsOf(policy, org)).ruleset ?? null;
}

/** Who may read what is new in an organization. */
export async function defaultVisibility(policy: Policy, org: string): Promise<Visibility> {
  return (await defaultsOf(policy, org)).visibility ?? 'private';
}
