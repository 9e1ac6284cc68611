import type { Descriptor } from '../../model/artifact.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { encodeJson } from '../../model/json.ts';

/** The media type of a report, and the artifact type of its manifest. */
export const reportType = 'application/vnd.stele.report.v1+json';
const manifestType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';

/** The bytes of the empty config of an artifact (OCI image specification, guidance for an empty descriptor). */
export const emptyBlob = Buffer.from('{}');
export const emptyDigest: Digest = digestOf(emptyBlob);

/**
 * The manifest of a version's report: an artifact whose `subject` is the version. Made from the
 * version alone, so it always has the same digest.
 */
export function reportArtifact(
  version: { digest: Digest; size: number },
  report: { digest: Digest; size: number },
): { bytes: Uint8Array; descriptor: Descriptor & { artifactType: string } } {
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: reportType,
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: emptyDigest, size: emptyBlob.byteLength },
    layers: [{ mediaType: reportType, digest: report.digest, size: report.size }],
    subject: { mediaType: manifestType, digest: version.digest, size: version.size },
  };
  const bytes = encodeJson(manifest);
  const descriptor = {
    mediaType: manifestType,
    digest: digestOf(bytes),
    size: bytes.byteLength,
    artifactType: reportType,
  };
  return { bytes, descriptor };
}

/** The index of what refers to a version (OCI distribution specification, referrers API). */
export function referrersIndex(manifests: readonly Descriptor[]): Uint8Array {
  return encodeJson({ schemaVersion: 2, mediaType: indexType, manifests });
}

export { indexType, manifestType };
