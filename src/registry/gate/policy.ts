import { organizationIn } from '../../config/organization-config.ts';
import type { Visibility } from '../../model/access.ts';
import {
  gateFrom,
  organizationRef,
  type Gate,
  type GateSettings,
  type OrganizationDefaults,
  type OrganizationSettings,
} from '../../model/gate.ts';
import type { Validation } from '../../model/problem.ts';
import type { Resource } from '../../model/resource.ts';
import type { Registry } from '../registry.ts';

type Settings = Pick<Registry, 'config' | 'refs'>;

/** What the configuration says for an organization's resources. It counts before what people set. */
export function configuredDefaults(
  { config }: Pick<Registry, 'config'>,
  org: string,
): OrganizationDefaults & { ruleset?: string } {
  return organizationIn(config, org)?.defaults ?? {};
}

/** What counts for an organization's resources that say nothing of their own. The one place that computes it. */
export async function defaultsOf(
  registry: Settings,
  org: string,
): Promise<OrganizationDefaults & { ruleset?: string | null }> {
  const set = (await registry.refs.read<OrganizationSettings>(organizationRef(org)))?.value;
  return { ruleset: set?.ruleset ?? null, ...set?.defaults, ...configuredDefaults(registry, org) };
}

/** All that decides whether a document passes, besides the document: what counts for it at a moment. */
export interface Policy extends Gate {
  validation: Validation;
  /**
   * Coordinate of the ruleset that it must pass. An organization's default is only for APIs: a ruleset that
   * had to pass itself could never be published.
   */
  ruleset: string | null;
}

/** The policy of a resource: its own settings, else its organization's, else the usual ones. */
export async function policyOf(
  registry: Settings,
  resource: Pick<Resource, 'org' | 'type' | 'ruleset'> & GateSettings & { validation?: Validation | null },
): Promise<Policy> {
  const defaults = await defaultsOf(registry, resource.org);
  return {
    ...gateFrom(resource, defaults),
    validation: resource.validation ?? defaults.validation ?? 'strict',
    ruleset: resource.ruleset ?? (resource.type === 'apis' ? (defaults.ruleset ?? null) : null),
  };
}

/** Who may read what is new in an organization. */
export async function defaultVisibility(registry: Settings, org: string): Promise<Visibility> {
  return (await defaultsOf(registry, org)).visibility ?? 'private';
}
