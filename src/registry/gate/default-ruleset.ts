import { organizationIn } from '../../config/organization-config.ts';
import { organizationRef, type OrganizationSettings } from '../../model/gate.ts';
import type { Registry } from '../registry.ts';

/** The default ruleset that the configuration gives an organization, or null. It counts before what people set. */
export function ruleOfConfiguration({ config }: Pick<Registry, 'config'>, org: string): string | null {
  return organizationIn(config, org)?.defaults.ruleset ?? null;
}

/** The coordinate of an organization's default ruleset, or null. */
export async function defaultRuleset(registry: Pick<Registry, 'config' | 'refs'>, org: string): Promise<string | null> {
  const configured = ruleOfConfiguration(registry, org);
  if (configured !== null) return configured;
  return (await registry.refs.read<OrganizationSettings>(organizationRef(org)))?.value.ruleset ?? null;
}
