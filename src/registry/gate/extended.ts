import type { GivenRuleset } from '../../compile/compile.ts';
import { formatCoordinate, parseCoordinate } from '../../model/address.ts';
import { rangeOf, type Dependency } from '../../model/dependency.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import type { ReportedGate } from '../../model/problem.ts';
import type { Registry } from '../registry.ts';
import { readRuleset } from '../stored.ts';

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
      if (path.some((one) => resourceOf(one) === resourceOf(base)))
        throw new RegistryError('refused', `The ruleset ${name} extends itself: ${chain}. Remove one of them.`);
      if (path.length > maxLevels || Object.keys(extended).length >= maxExtends)
        throw new RegistryError('refused', `The ruleset ${name} extends too many others: ${chain}.`);
      if (Object.hasOwn(extended, base)) continue;
      extended[base] = await find(base).catch((error: unknown) => {
        if (!isRegistryError(error, 'refused')) throw error;
        throw new RegistryError('refused', `The ruleset ${path.at(-1)} extends ${base}. ${error.message}`);
      });
      await follow(extended[base].json, [...path, base]);
    }
  }

  await follow(json, [name]);
  return Object.keys(extended).length === 0 ? null : extended;
}

/** The coordinates that a ruleset extends, also in the files that were made part of it. */
export function coordinatesIn(json: string): string[] {
  const named = (ruleset: unknown): string[] => {
    const written = (ruleset as { extends?: unknown } | null)?.extends;
    const list: unknown[] = Array.isArray(written) ? written : [written];
    return list.flatMap((item): string[] => {
      const target: unknown = Array.isArray(item) ? item[0] : item;
      if (typeof target === 'string') return resourceOf(target) === null ? [] : [target];
      return typeof target === 'object' ? named(target) : [];
    });
  };
  return [...new Set(named(JSON.parse(json)))];
}

/** What a ruleset depends on by extending another one, `name` as written. */
export function dependencyOn(name: string, base: Extended[string]): Dependency {
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

/** The coordinate of a ruleset without its version, or null. */
function resourceOf(name: string): string | null {
  const parsed = parseCoordinate(name);
  return parsed?.coordinate.type === 'rulesets' ? formatCoordinate(parsed.coordinate) : null;
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
