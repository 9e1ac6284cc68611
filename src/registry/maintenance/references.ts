import type { ArtifactConfig, Manifest } from '../../model/artifact.ts';
import { isDigest, type Digest } from '../../model/digest.ts';
import { decodeJson } from '../../model/json.ts';
import { parseSiteRef, type DocumentationSite } from '../../sites/model/documentation-site.ts';
import { parseResourceRef, type Resource, type Version } from '../../model/resource.ts';

/** What a record refers to. */
export interface References {
  /** Manifests of versions and deployments. What a manifest refers to belongs to them too. */
  manifests: Digest[];
  /** Other objects. Some may not be digests of objects. */
  objects: Digest[];
}

/**
 * What a record refers to. In a site, the manifests of its deployments. In a resource, the manifests of its versions that are not withdrawn, and
 * their comparisons with such versions, also if it was deleted. In any other record, every digest, so that no kind is ever forgotten.
 */
export function referencesOf(name: string, value: unknown): References {
  if (parseSiteRef(name) !== null) {
    const { deployments } = value as DocumentationSite;
    return { manifests: deployments.map(({ manifest }) => manifest), objects: [] };
  }
  if (parseResourceRef(name) === null) return { manifests: [], objects: [...digestsIn(value)] };
  const standing = standingOf((value as Resource).versions);
  const held = [...standing.values()];
  return {
    manifests: held.map(({ manifest }) => manifest),
    objects: held.flatMap((version) => neededComparison(version, standing) ?? []),
  };
}

/** The versions that are not withdrawn, by label. A deployment of a site is kept as a version is, and has no status. */
export function standingOf(versions: Iterable<Version>): Map<string, Version> {
  const standing = new Map<string, Version>();
  for (const version of versions)
    if ((version as Partial<Version>).status?.state !== 'withdrawn') standing.set(version.label, version);
  return standing;
}

/** The comparison of a version with another, if both stand: it quotes both, and is deleted with either. */
export function neededComparison({ label, changes }: Version, standing: ReadonlyMap<string, Version>): Digest | null {
  return changes !== undefined && standing.has(label) && standing.has(changes.from) ? changes.digest : null;
}

function* digestsIn(value: unknown): Generator<Digest> {
  if (typeof value === 'string') {
    if (isDigest(value)) yield value;
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) yield* digestsIn(member);
  }
}

/**
 * Every digest that a version needs: its manifest, its config, the report and the layers. `read`
 * returns the bytes of the first two, or null; what only they could tell is then left out.
 */
export async function digestsOfVersion(
  manifest: Digest,
  read: (digest: Digest) => Promise<Uint8Array | null>,
): Promise<Set<Digest>> {
  const digests = new Set<Digest>([manifest]);
  const named = await read(manifest);
  if (named === null) return digests;
  const { config, layers } = decodeJson<Manifest>(named);
  digests.add(config.digest);
  const described = await read(config.digest);
  if (described) digests.add(decodeJson<ArtifactConfig>(described).report);
  for (const { digest } of layers) digests.add(digest);
  return digests;
}
