import type { ArtifactConfig, Manifest } from '../../model/artifact.ts';
import type { VersionChanges } from '../../model/comparison.ts';
import { isDigest, type Digest } from '../../model/digest.ts';
import { decodeJson } from '../../model/json.ts';
import { parseSiteRef, type DocumentationSite } from '../../model/sites/documentation-site.ts';
import { parseResourceRef, type Resource } from '../../model/resource.ts';

/** What a record refers to. */
export interface References {
  /** Manifests of versions and deployments. What a manifest refers to belongs to them too. */
  manifests: Digest[];
  /** Other objects. A digest that is here may also be none of an object. */
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
  const { versions } = value as Resource;
  const held = versions.filter(({ status }) => status.state !== 'withdrawn');
  return {
    manifests: held.map(({ manifest }) => manifest),
    objects: held.flatMap(({ changes }) =>
      changes && isComparisonKept(value as Resource, changes) ? [changes.digest] : [],
    ),
  };
}

/** Whether the version that another was compared with is still there. A comparison quotes both. */
function isComparisonKept({ versions }: Pick<Resource, 'versions'>, { from }: VersionChanges): boolean {
  return versions.some(({ label, status }) => label === from && status.state !== 'withdrawn');
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
