import { formatCoordinate, parseCoordinate, type Coordinate } from '../../model/address.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { createReport, problemAtFile } from '../../model/problem.ts';
import type { Compiled, GivenRuleset } from '../../compile/compile.ts';
import type { Registry } from '../registry.ts';
import { findTarget, organizationReader } from '../graph/references.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { readRuleset } from '../stored.ts';
import { defaultsOf } from './policy.ts';
import { coordinatesIn, dependencyOn, resolveExtended } from './extended.ts';

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
  const target = await findTarget(registry, organizationReader(org), parsed.coordinate, parsed.selector);
  if (target === null) {
    throw new RegistryError(
      'refused',
      `The ruleset ${formatCoordinate(parsed.coordinate, parsed.selector)} does not exist. Publish it, or attach another one.`,
    );
  }
  const { label, manifest } = target.version;
  return readRuleset(registry, manifest, `${formatCoordinate(parsed.coordinate)}@${label}`);
}

/** The organizations whose default ruleset does not exist, and why: nothing of theirs can be published. */
export async function missingDefaults(registry: Registry): Promise<{ org: string; detail: string }[]> {
  const missing: { org: string; detail: string }[] = [];
  for (const org of await listOrganizations(registry)) {
    try {
      await resolveRuleset(registry, org, (await defaultsOf(registry, org)).ruleset ?? null);
    } catch (error) {
      if (!isRegistryError(error, 'refused')) throw error;
      missing.push({ org, detail: error.message });
    }
  }
  return missing;
}

/** Rejects a compiled ruleset that extends what cannot be resolved now. Notes what else it extends. */
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
    const find = (name: string) => findRuleset(registry, coordinate.org, name);
    const extended = await resolveExtended(formatCoordinate(coordinate), text, find);
    if (extended === null) return compiled;
    const bases = coordinatesIn(text).map((name) => dependencyOn(name, extended[name]!));
    return { ...compiled, dependencies: [...(compiled.dependencies ?? []), ...bases] };
  } catch (error) {
    if (!isRegistryError(error, 'refused')) throw error;
    const problem = { ...problemAtFile('ruleset-extends', entry, error.message), pointer: '/extends' };
    return { ...compiled, artifact: null, report: createReport([...compiled.report.problems, problem]) };
  }
}
