import { digestOf, type Digest } from '../../model/digest.ts';
import { type BundlePlace, siteArtifactType, type DeploymentContents } from '../model/documentation-site.ts';
import type { Registry } from '../../registry/registry.ts';
import { inGroups } from '../../scheduling/turns.ts';
import { readObject } from '../../registry/stored.ts';
import type { Manifest } from '../../model/artifact.ts';
import { decodeJson, encodeJson } from '../../model/json.ts';

// A site has thousands of small files, and an object of its own for each would cost a write to disk.
// The first line keeps a bundle from being the same object as anything else, such as a document that
// is withdrawn and deleted.
const head = Buffer.from('stele bundle 1\n');
const maxBytes = 256 * 1024;

/** Pieces of bytes in objects that can be stored. */
export interface Bundled {
  /** In the order of the pieces. */
  places: BundlePlace[];
  /** The objects, with their digests in the places. */
  objects: Uint8Array[];
}

/** Joins pieces into objects, several in each. */
export function bundlePieces(pieces: readonly Uint8Array[]): Bundled {
  const groups = inGroups(pieces, { bytes: maxBytes }, ({ byteLength }) => byteLength);
  const objects = groups.map((group) => Buffer.concat([head, ...group]));
  const places = groups.flatMap((group, index) => {
    const digest = digestOf(objects[index]!);
    let at = head.byteLength;
    return group.map(({ byteLength: size }): BundlePlace => {
      const place = { bundle: digest, at, size };
      at += size;
      return place;
    });
  });
  return { places, objects };
}

/** The bytes at a place. */
export async function readPlace(registry: Pick<Registry, 'objects'>, place: BundlePlace): Promise<Uint8Array> {
  return (await readPlaces(registry, [place]))[0]!;
}

/** The bytes at several places. Each bundle is read once. */
export function readPlaces(registry: Pick<Registry, 'objects'>, places: readonly BundlePlace[]): Promise<Uint8Array[]> {
  const bundles = new Map<Digest, Promise<Uint8Array>>();
  return Promise.all(
    places.map(async ({ bundle: digest, at, size }) =>
      (await bundles.getOrInsertComputed(digest, () => readObject(registry, digest))).subarray(at, at + size),
    ),
  );
}

/** A deployment's bytes besides its bundles, ready to be stored. */
export interface BuiltDeployment {
  manifest: Uint8Array;
  digest: Digest;
  /** The report and the contents. */
  pieces: Uint8Array[];
}

/**
 * Makes the manifest of a deployment: an OCI image manifest as that of a version, so that whatever
 * keeps, checks and copies versions does the same with deployments.
 */
export function buildDeployment(contents: DeploymentContents, report: Uint8Array): BuiltDeployment {
  const config = encodeJson(contents);
  const bundles = new Map<Digest, number>();
  for (const { bundle, at, size } of [...Object.values(contents.pages), ...Object.values(contents.files)])
    bundles.set(bundle, Math.max(bundles.get(bundle) ?? 0, at + size));
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: siteArtifactType,
    config: {
      mediaType: 'application/vnd.stele.site.config.v1+json',
      digest: digestOf(config),
      size: config.byteLength,
    },
    layers: [...bundles]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([digest, size]) => ({ mediaType: 'application/vnd.stele.bundle.v1', digest, size })),
  };
  const bytes = encodeJson(manifest);
  return { manifest: bytes, digest: digestOf(bytes), pieces: [report, config] };
}

/** What a deployment consists of. */
export async function readContents(registry: Pick<Registry, 'objects'>, manifest: Digest): Promise<DeploymentContents> {
  const { config } = decodeJson<Manifest>(await readObject(registry, manifest, manifest));
  return decodeJson<DeploymentContents>(await readObject(registry, config.digest, manifest));
}
