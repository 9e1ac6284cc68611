import { type GivenRuleset, type Compiled, bytesIn, hasCode, type RulesetCode } from '../../compile/compile.ts';
import { extendsOf, isRulesetCoordinate } from '../../compile/ruleset/ruleset-files.ts';
import { formatCoordinate, parseCoordinate, resourceIn, type Coordinate } from '../../model/address.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { rangeOf, type Dependency } from '../../model/dependency.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { isRegistryError, onRefusal, refused } from '../../model/errors.ts';
import { type ReportedGate, createReport, problemAtFile } from '../../model/problem.ts';
import type { Registry } from '../registry.ts';
import { readRuleset } from '../stored.ts';
import { findTarget, organizationReader } from '../graph/references.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { defaultsOf } from './policy.ts';

type Extended = Record<string, GivenRuleset>;
type Find = (name: string) => Promise<GivenRuleset>;

/** How many rulesets one may extend, in total and in a chain. */
const maxExtends = 50;
const maxLevels = 10;

/**
 * Resolves the coordinates in `extends` of a ruleset, also those of its bases. Null if there are
 * none. Throws `refused` if one does not exist or the chain leads back to itself.
 */
export async function resolveExtended(name: string, json: string, find: Find): Promise<Extended | null> {
  const extended: Extended = {};

  async function follow(text: string, path: readonly string[]): Promise<void> {
    for (const base of coordinatesIn(text)) {
      const chain = [...path, base].join(' → ');
      if (path.some((one) => resourceIn(one) === resourceIn(base)))
        throw refused(`The ruleset ${name} extends itself: ${chain}. Remove one of them.`);
      if (path.length > maxLevels || Object.keys(extended).length >= maxExtends)
        throw refused(`The ruleset ${name} extends too many others: ${chain}.`);
      if (Object.hasOwn(extended, base)) continue;
      extended[base] = await find(base).catch(
        onRefusal('refused', ({ message }) => {
          throw refused(`The ruleset ${path.at(-1)} extends ${base}. ${message}`);
        }),
      );
      await follow(extended[base].json, [...path, base]);
    }
  }

  await follow(json, [name]);
  return Object.keys(extended).length === 0 ? null : extended;
}

/** The coordinates that a ruleset extends, also in the files that were made part of it. */
function coordinatesIn(json: string): string[] {
  const named = (ruleset: JsonObject): string[] =>
    extendsOf(ruleset).flatMap(([target]) =>
      typeof target !== 'string' ? named(target) : isRulesetCoordinate(target) ? [target] : [],
    );
  const ruleset: unknown = JSON.parse(json);
  return isObject(ruleset) ? [...new Set(named(ruleset))] : [];
}

/** What a ruleset depends on by extending another one, `name` as written. */
function dependencyOn(name: string, base: Extended[string]): Dependency {
  const { coordinate, selector } = parseCoordinate(name)!;
  const version = parseCoordinate(base.name)!.selector;
  return {
    coordinate: formatCoordinate(coordinate),
    range: rangeOf(selector),
    version: rangeOf(version),
    digest: base.digest,
    how: 'extends',
  };
}

/** The ruleset that a version was checked against, as its manifest and its report record it. */
export async function readRecorded(
  registry: Pick<Registry, 'objects'>,
  digest: Digest,
  gate: ReportedGate | undefined,
): Promise<GivenRuleset> {
  const ruleset = await readRuleset(registry, digest);
  const { ruleset: named, extended } = gate ?? {};
  const bases = Object.entries(extended ?? {}).map(
    async ([coordinate, base]) => [coordinate, await readRuleset(registry, base)] as const,
  );
  return {
    ...ruleset,
    ...(named !== undefined && { name: named.name }),
    ...(extended !== undefined && { extended: Object.fromEntries(await Promise.all(bases)) }),
  };
}

/** Changes whenever a ruleset or one that it extends does. */
export function rulesetState({ digest, extended }: GivenRuleset): Digest {
  if (extended === undefined) return digest;
  const bases = Object.entries(extended).map(([coordinate, base]) => `${coordinate} ${base.digest}`);
  return digestOf([digest, ...bases.sort()].join('\n'));
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
    throw refused(
      `The ruleset ${JSON.stringify(name)} is not a valid coordinate. Use one such as "@acme/rulesets/style".`,
    );
  }
  const target = await findTarget(registry, organizationReader(org), parsed.coordinate, parsed.selector);
  if (target === null) {
    throw refused(
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
    const { ruleset = null } = await defaultsOf(registry, org);
    const note = onRefusal('refused', ({ message: detail }) => void missing.push({ org, detail }));
    await resolveRuleset(registry, org, ruleset).catch(note);
  }
  return missing;
}

/** Rejects a compiled ruleset that extends what cannot be resolved now. Notes what else it extends. */
export async function withExtendsChecked(
  registry: Registry,
  { coordinate, entry }: { coordinate: Coordinate; entry: string },
  compiled: Compiled,
): Promise<Compiled> {
  if (coordinate.type !== 'rulesets' || compiled.artifact === null) return compiled;
  try {
    const text = Buffer.from(bytesIn(compiled.artifact, 'json')).toString();
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

/**
 * The permission to run the code of rulesets for a document: the operator has allowed it for the organization of each
 * ruleset that has some. `date`: what the code sees as now.
 */
export function codeFor(
  { config }: Pick<Registry, 'config'>,
  { org, type }: Pick<Coordinate, 'org' | 'type'>,
  ruleset: GivenRuleset | null,
  date: string | null,
): { code?: RulesetCode } {
  const isAllowed = (owner: string | undefined) => owner !== undefined && config.rulesets.functions.includes(owner);
  const owners = ruleset === null ? [] : ownersOfCode(ruleset);
  const isNeeded = type === 'rulesets' ? isAllowed(org) || owners.length > 0 : owners.length > 0;
  return isNeeded && owners.every(isAllowed) ? { code: { date } } : {};
}

function ownersOfCode({ name, json, extended = {} }: GivenRuleset): (string | undefined)[] {
  const all = [[name, { json }] as const, ...Object.entries(extended)];
  return all.filter(([, base]) => hasCode(base)).map(([coordinate]) => parseCoordinate(coordinate)?.coordinate.org);
}
