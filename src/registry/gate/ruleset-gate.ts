import { organizationIn } from '../../config/organization-config.ts';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../../model/address.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { Compatibility, GateSettings } from '../../model/gate.ts';
import { createReport, problemAtFile, type BlockOn } from '../../model/problem.ts';
import { selectVersion, type Resource } from '../../model/resource.ts';
import type { Compiled, GivenRuleset } from '../../compile/compile.ts';
import type { Registry } from '../registry.ts';
import { findReadable } from '../readable.ts';
import { readRuleset } from '../stored.ts';
import { defaultRuleset } from './default-ruleset.ts';
import { resolveExtended } from './extended.ts';

/**
 * Coordinate of the ruleset that a resource's documents must pass: its own, else its organization's
 * default, else null. The default is only for APIs: a ruleset that had to pass itself could never
 * be published.
 */
export async function rulesetName(
  registry: Pick<Registry, 'config' | 'refs'>,
  { org, type, ruleset }: Pick<Resource, 'org' | 'type' | 'ruleset'>,
): Promise<string | null> {
  return ruleset ?? (type === 'apis' ? defaultRuleset(registry, org) : null);
}

/** The settings of a resource's gate: its own, else its organization's, else the usual ones. */
export function gateOf(
  registry: Pick<Registry, 'config'>,
  { org, blockOn, ratchet, compatibility }: Pick<Resource, 'org'> & GateSettings,
): { blockOn: BlockOn; ratchet: boolean; compatibility: Compatibility } {
  const defaults: GateSettings = organizationIn(registry.config, org)?.defaults ?? {};
  return {
    blockOn: blockOn ?? defaults.blockOn ?? 'error',
    ratchet: ratchet ?? defaults.ratchet ?? false,
    compatibility: compatibility ?? defaults.compatibility ?? 'none',
  };
}

/**
 * Resolves a ruleset's coordinate to its current content. The publish records the digest. A ruleset
 * of another organization must be public. Throws `refused` if the ruleset does not exist:
 * publishing without the attached check would be unsafe. `find`: reads one ruleset.
 */
export async function resolveRuleset(
  registry: Registry,
  org: string,
  name: string | null,
  find: (name: string) => Promise<GivenRuleset> = (base) => findRuleset(registry, org, base),
): Promise<GivenRuleset | null> {
  if (name === null) return null;
  const ruleset = await find(name);
  const extended = await resolveExtended(name, ruleset.json, find);
  return { ...ruleset, ...(extended !== null && { extended }) };
}

/** The content of a ruleset by its coordinate, without what it extends. Throws `refused` if it does not exist. */
export async function findRuleset(registry: Registry, org: string, name: string): Promise<GivenRuleset> {
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
  const { label, manifest } = selected.version;
  return readRuleset(registry, manifest, `${formatCoordinate(parsed.coordinate)}@${label}`);
}

/** Rejects a compiled ruleset that extends what cannot be resolved now. */
export async function withExtendsChecked(
  registry: Registry,
  { coordinate, entry }: { coordinate: Coordinate; entry: string },
  compiled: Compiled,
): Promise<Compiled> {
  const representations = coordinate.type === 'rulesets' ? compiled.artifact?.representations : undefined;
  const json = representations?.find(({ format, coding }) => format === 'json' && coding === 'identity');
  if (json === undefined) return compiled;
  try {
    const text = Buffer.from(json.bytes).toString();
    await resolveExtended(formatCoordinate(coordinate), text, (name) => findRuleset(registry, coordinate.org, name));
    return compiled;
  } catch (error) {
    if (!isRegistryError(error, 'refused')) throw error;
    const problem = { ...problemAtFile('ruleset-extends', entry, error.message), pointer: '/extends' };
    return { ...compiled, artifact: null, report: createReport([...compiled.report.problems, problem]) };
  }
}
