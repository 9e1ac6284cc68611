import { organizationIn } from '../../config/organization-config.ts';
import { RegistryError } from '../../model/errors.ts';
import { organizationRef, type OrganizationSettings } from '../../model/gate.ts';
import type { Guard } from '../change-resource.ts';
import { resolveRuleset } from './ruleset-gate.ts';
import { ruleOfConfiguration } from './default-ruleset.ts';
import type { Author, Registry } from '../registry.ts';

/** The settings of an organization that apply now. */
export interface CurrentSettings extends OrganizationSettings {
  /** Whether the configuration says which ruleset, so that it can be changed only there. */
  isConfigured: boolean;
  /** Of the record; 0: nobody changed anything yet. */
  generation: number;
}

/** Reads the settings of an organization. */
export async function readOrganization(registry: Registry, org: string): Promise<CurrentSettings> {
  const stored = await registry.refs.read<OrganizationSettings>(organizationRef(org));
  const configured = ruleOfConfiguration(registry, org);
  const ruleset = configured ?? stored?.value.ruleset ?? null;
  return { ruleset, isConfigured: configured !== null, generation: stored?.generation ?? 0 };
}

/**
 * Changes the settings of an organization. Publishing checks with the new ruleset in every process
 * within 1 s; what is published stays. Throws `conflict` if the configuration says which ruleset,
 * and `refused` if the ruleset does not exist.
 */
export async function changeOrganization(
  registry: Registry,
  org: string,
  { ruleset }: Partial<OrganizationSettings>,
  author: Author,
  guard: Guard = () => undefined,
): Promise<CurrentSettings> {
  if (ruleset !== undefined && ruleOfConfiguration(registry, org) !== null) {
    const { defaults } = organizationIn(registry.config, org)!;
    throw new RegistryError(
      'conflict',
      `The configuration of the registry says that ${defaults.ruleset} is the default ruleset of ${org}. Change it there.`,
    );
  }
  await resolveRuleset(registry, org, ruleset ?? null);
  await registry.refs.update<OrganizationSettings>(organizationRef(org), (current) => {
    guard({ generation: current?.generation ?? 0 });
    if (ruleset === undefined || ruleset === (current?.value.ruleset ?? null)) return null;
    return { value: { ruleset }, change: { ...author, action: 'change ruleset' } };
  });
  return readOrganization(registry, org);
}
