import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { changeRulesIn } from '../config/organization-config.ts';
import {
  notCompared,
  usualRules,
  type ChangeRules,
  type Comparison,
  type VersionChanges,
} from '../model/comparison.ts';
import { digestOf, hexOf } from '../model/digest.ts';
import { encodeJson } from '../model/json.ts';
import type { Resource, Version } from '../model/resource.ts';
import { type Artifact, type Published, type Turn, bytesIn, isSandboxLost } from '../compile/compile.ts';
import { derive, readPublished } from './derived.ts';
import type { GrantedVersion } from './read.ts';
import type { Registry } from './registry.ts';
import { readJson } from './stored.ts';
import { comparedWith } from '../model/compared-with.ts';

/** The document of an artifact that is not published yet, as it would be served. */
export function publishedAs(artifact: Artifact): Published {
  const { kind, removed } = artifact;
  return { kind, json: bytesIn(artifact, 'json'), ...(removed && { removed }) };
}

/**
 * A document that a version is compared with. `at`: its time, ISO 8601. Default: now. `rules`: in place of the organization's.
 */
export interface NextDocument extends Published {
  rules?: Partial<Pick<ChangeRules, 'fingerprints' | 'enums'>>;
  at?: string;
}

/** Compares a published version with a document. Rejects if the sandboxes are not available. */
export async function compareWith(
  registry: Registry,
  { org, versions }: Pick<Resource, 'org' | 'versions'>,
  before: Version,
  { at = registry.now().toISOString(), rules: own, ...after }: NextDocument,
  turn: Turn,
): Promise<Comparison> {
  const { compiler, config } = registry;
  const old = await readPublished(registry, before);
  const rules = { ...changeRulesIn(config, org, { before, at, versions }), ...own };
  const known = knownVersion(rules, versions, before);
  const told = known === before ? {} : { told: known ? (await readPublished(registry, known)).json : encodeJson({}) };
  return compiler.compare({ ...old, ...told }, after, config.limits, rules, { org, ...turn });
}

/**
 * What readers had when a grace began that ends with the new version, of the old one and those below it: only what that
 * says has been told for so long. Its time is its publication, since an author dates commits. Null: they had none.
 */
function knownVersion({ removal }: ChangeRules, versions: readonly Version[], before: Version): Version | null {
  if (removal === undefined) return before;
  const since = Date.parse(removal.at) - removal.grace * 24 * 60 * 60 * 1000;
  const had = versions.filter(({ publishedAt, status }) => Date.parse(publishedAt) <= since && status.state !== 'withdrawn'); // prettier-ignore
  return had.some(({ label }) => label === before.label)
    ? before
    : comparedWith({ versions: had }, { label: before.label });
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
  const at = to.version.publishedAt;
  const rules = changeRulesIn(registry.config, org, { before: from.version, at, versions });
  const isUsual = isDeepStrictEqual(rules, usualRules);
  const known = knownVersion(rules, versions, from.version)?.manifest;
  const judged = isUsual ? '' : `-${hexOf(digestOf(encodeJson([rules, known])))}`;
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

/** A new version's comparison with the one before it, and its bytes. */
export interface Compared {
  changes: VersionChanges;
  bytes: Uint8Array;
}

/** Compares a version that is about to be published with the one before it. Null: there is none, or it could not be compared: readers try again. */
export async function compareForeseen(
  registry: Registry,
  foreseen: { outcome: 'published' | 'unchanged'; resource: Resource; version: Version },
  artifact: Artifact,
  { isAwaited = false, signal }: Turn,
): Promise<Compared | null> {
  if (foreseen.outcome !== 'published') return null;
  const before = comparedWith(foreseen.resource, foreseen.version);
  if (before === null) return null;
  const after = { ...publishedAs(artifact), at: foreseen.version.publishedAt };
  // What a publish says about its changes must not stop it, and what only could not be compared now is not stored.
  const compared = await compareWith(registry, foreseen.resource, before, after, { isAwaited, signal }).catch(
    (error: unknown) => {
      signal?.throwIfAborted();
      registry.log('warn', 'versions not compared', { from: before.label, error: String(error) });
      return null;
    },
  );
  if (compared === null) return null;
  const bytes = encodeJson(compared);
  const { verdict, counts } = compared;
  return { changes: { from: before.label, verdict, counts, digest: digestOf(bytes) }, bytes };
}

/**
 * The resource with what changed in its new version, if the version before is still the one that it
 * was compared with.
 */
export function withChanges(resource: Resource, label: string, changes: VersionChanges | null): Resource {
  const index = resource.versions.findLastIndex((each) => each.label === label);
  if (changes === null || index < 0) return resource;
  const version = resource.versions[index]!;
  if (comparedWith(resource, version)?.label !== changes.from) return resource;
  return { ...resource, versions: resource.versions.with(index, { ...version, changes }) };
}
