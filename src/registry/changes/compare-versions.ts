import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { changeRulesIn } from '../../config/organization-config.ts';
import { notCompared, usualRules, type ChangeRules, type Comparison } from '../../model/comparison.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { encodeJson } from '../../model/json.ts';
import { timeOfVersion, type Resource, type Version } from '../../model/resource.ts';
import type { Artifact, Published, Turn } from '../../compile/compile.ts';
import { isSandboxLost } from '../../compile/sandbox-lost.ts';
import { derive, readPublished } from '../derived.ts';
import type { GrantedVersion } from '../read.ts';
import type { Registry } from '../registry.ts';
import { readJson } from '../stored.ts';

/** The document of an artifact that is not published yet, as it would be served. */
export function publishedAs({ type, kind, representations, removed }: Artifact): Published {
  const json = representations.find(({ format, coding }) => format === 'json' && coding === 'identity')!;
  return { type, kind, json: json.bytes, ...(removed && { removed }) };
}

/**
 * A document that a version is compared with. `at`: its time, ISO 8601. Default: now. `fingerprints`: see `ChangeRules`.
 */
export interface NextDocument extends Published, Pick<ChangeRules, 'fingerprints'> {
  at?: string;
}

/** Compares a published version with a document. Rejects if the sandboxes are not available. */
export async function compareWith(
  registry: Registry,
  { org, versions }: Pick<Resource, 'org' | 'versions'>,
  before: Version,
  { at = registry.now().toISOString(), fingerprints, ...after }: NextDocument,
  turn: Turn,
): Promise<Comparison> {
  const { compiler, config } = registry;
  const old = await readPublished(registry, before);
  const rules = { ...changeRulesIn(config, org, { before, at, versions }), ...(fingerprints && { fingerprints }) };
  return compiler.compare(old, after, config.limits, rules, { org, ...turn });
}

/** Milliseconds until a comparison that exceeded the limits is tried again, and how many are remembered. */
const triedAgainAfter = 60_000;
const triedKept = 1000;

/** When pairs of versions may be compared again, by the monotonic clock. Else every reader would start it again. */
const tried = new WeakMap<Registry['cache'], LRUCache<string, number>>();

/**
 * What changed between two versions that the reader may read. What was compared at publishing is
 * read; everything else is compared now, and cached. What exceeds the limits is tried again after a
 * minute.
 */
export async function comparisonOf(registry: Registry, from: GrantedVersion, to: GrantedVersion): Promise<Comparison> {
  const stored = await keptComparison(registry, from.version, to.version);
  if (stored !== null && stored.reason === null) return stored;
  const { org, versions } = to.resource;
  const { cache, monotonic } = registry;
  const at = timeOfVersion(to.version);
  const rules = changeRulesIn(registry.config, org, { before: from.version, at, versions });
  const isUsual = isDeepStrictEqual(rules, usualRules);
  const judged = isUsual ? '' : `-${hexOf(digestOf(encodeJson(rules)))}`;
  const name = `${hexOf(from.version.manifest)}-${hexOf(to.version.manifest)}${judged}`;
  const until = tried.getOrInsertComputed(cache, () => new LRUCache<string, number>({ max: triedKept }));
  if (monotonic() < (until.get(name) ?? -Infinity)) return stored ?? notCompared(overLimits);
  const make = async () => {
    const after = { ...(await readPublished(registry, to.version)), at };
    const comparison = await compareWith(registry, to.resource, from.version, after, { lane: 'read' });
    return comparison.reason === null ? comparison : null;
  };
  // One that took too long is not begun by every reader again.
  const makeOnce = () =>
    make().catch((error: unknown) => (isSandboxLost(error) ? null : Promise.reject(error as Error)));
  const derived = await derive(registry, 'compared', org, name, makeOnce, { of: [from.version, to.version] });
  if (derived === null) until.set(name, monotonic() + triedAgainAfter);
  return derived ?? stored ?? notCompared(overLimits);
}

const overLimits = 'The documents cannot be compared within the limits.';

/** The comparison with `from` that publishing stored. Null: there is none. */
export async function keptComparison(
  registry: Registry,
  from: Version,
  { changes }: Version,
): Promise<Comparison | null> {
  if (changes?.from !== from.label) return null;
  return readJson<Comparison>(registry, changes.digest).catch(() => null);
}
