import { conflict } from '../../model/errors.ts';
import {
  gateFrom,
  organizationRef,
  type Gate,
  type OrganizationDefaults,
  type OrganizationSettings,
} from '../../model/gate.ts';
import type { Visibility } from '../../model/access.ts';
import type { Validation } from '../../model/problem.ts';
import type { Guard } from '../lives.ts';
import { resolveRuleset } from './ruleset-gate.ts';
import { configuredDefaults, defaultsOf } from './policy.ts';
import type { Author, Registry } from '../registry.ts';

/** What an administrator changes. Absent members stay as they are. */
export type OrganizationChange = { ruleset?: string | null } & {
  [K in keyof OrganizationDefaults]: NonNullable<OrganizationDefaults[K]>;
};

/** The settings of an organization that apply now. */
export interface CurrentSettings extends Gate {
  ruleset: string | null;
  visibility: Visibility;
  validation: Validation;
  /** Names of the settings that the configuration says, so that they can be changed only there. */
  configured: string[];
  /** Of the record; 0: nobody changed anything yet. */
  generation: number;
}

/** Reads the settings of an organization. */
export async function readOrganization(registry: Registry, org: string): Promise<CurrentSettings> {
  const stored = await registry.refs.read<OrganizationSettings>(organizationRef(org));
  const defaults = await defaultsOf(registry, org);
  const configured = Object.keys(configuredDefaults(registry, org));
  const { ruleset = null } = defaults;
  return { ruleset, ...settingsFrom(defaults), configured, generation: stored?.generation ?? 0 };
}

/** What counts where nothing is said is what a resource has by itself. */
function settingsFrom(defaults: OrganizationDefaults): Gate & Pick<CurrentSettings, 'visibility' | 'validation'> {
  const { visibility = 'private', validation = 'strict' } = defaults;
  return { visibility, validation, ...gateFrom(defaults) };
}

/**
 * Changes the settings of an organization. Publishing goes by them in every process within 1 s; what is
 * published stays. Throws `conflict` for a setting that the configuration says, and `refused` if the
 * ruleset does not exist.
 */
export async function changeOrganization(
  registry: Registry,
  org: string,
  change: OrganizationChange,
  author: Author,
  guard: Guard = () => undefined,
): Promise<CurrentSettings> {
  const configured = configuredDefaults(registry, org);
  for (const [name, value] of Object.entries(configured)) {
    const asked = change[name as keyof OrganizationChange];
    // A form sends what it shows.
    if (asked === undefined || (asked === value && name !== 'ruleset')) continue;
    const what = name === 'ruleset' ? `that ${String(value)} is the default ruleset` : `what counts as ${name}`;
    throw conflict(`The configuration of the registry says ${what} of ${org}. Change it there.`);
  }
  const { ruleset, ...given } = change;
  await resolveRuleset(registry, org, ruleset ?? null);
  await registry.refs.update<OrganizationSettings>(organizationRef(org), (current) => {
    guard({ generation: current?.generation ?? 0 });
    const old: OrganizationSettings = current?.value ?? { ruleset: null };
    const before = settingsFrom(old.defaults ?? {});
    const defaults = Object.entries(given).filter(
      ([name, value]) => !Object.hasOwn(configured, name) && value !== before[name as keyof OrganizationDefaults],
    );
    const isNewRuleset = ruleset !== undefined && ruleset !== old.ruleset;
    if (!isNewRuleset && defaults.length === 0) return null;
    const action = `change ${[...(isNewRuleset ? ['ruleset'] : []), ...defaults.map(([name]) => name)].join(', ')}`;
    const value = {
      ruleset: ruleset === undefined ? old.ruleset : ruleset,
      ...((old.defaults || defaults.length > 0) && { defaults: { ...old.defaults, ...Object.fromEntries(defaults) } }),
    };
    return { value, change: { ...author, action } };
  });
  return readOrganization(registry, org);
}
