import { comparedWith } from '../../model/compared-with.ts';
import type { VersionChanges } from '../../model/comparison.ts';
import { digestOf } from '../../model/digest.ts';
import { encodeJson } from '../../model/json.ts';
import { timeOfVersion, type Resource, type Version } from '../../model/resource.ts';
import type { Artifact, Turn } from '../../compile/compile.ts';
import { publishedAs, compareWith } from './compare-versions.ts';
import type { Registry } from '../registry.ts';

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
  const after = { ...publishedAs(artifact), at: timeOfVersion(foreseen.version) };
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
