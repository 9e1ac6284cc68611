import type { Manifest } from '../../model/artifact.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { decodeJson, encodeJson } from '../../model/json.ts';
import { siteArtifactType, type DeploymentContents } from '../model/documentation-site.ts';
import type { Registry } from '../../registry/registry.ts';
import { readObject } from '../../registry/stored.ts';

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
