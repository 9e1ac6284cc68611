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

/** The manifest of something that is about a version: its bytes, and what lists of referrers say of it. */
export interface Referrer {
  bytes: Uint8Array;
  descriptor: Descriptor & { artifactType: string };
}

/**
 * An artifact with one layer whose `subject` is a version: its report or its attestation. Made from these alone, so it
 * always has the same digest.
 */
export function referrerOf(
  version: { digest: Digest; size: number },
  layer: { type: string; digest: Digest; size: number },
  annotations?: Record<string, string>,
): Referrer {
  const { type, digest, size } = layer;
  const manifest = {
    schemaVersion: 2,
    mediaType: manifestType,
    artifactType: type,
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: emptyDigest, size: emptyBlob.byteLength },
    layers: [{ mediaType: type, digest, size }],
    subject: { mediaType: manifestType, digest: version.digest, size: version.size },
    ...(annotations && { annotations }),
  };
  const bytes = encodeJson(manifest);
  const about = { mediaType: manifestType, digest: digestOf(bytes), size: bytes.byteLength, artifactType: type };
  return { bytes, descriptor: { ...about, ...(annotations && { annotations }) } };
}

/** The index of what refers to a version (OCI distribution specification, referrers API). */
export function referrersIndex(manifests: readonly Descriptor[]): Uint8Array {
  return encodeJson({ schemaVersion: 2, mediaType: indexType, manifests });
}

export { indexType, manifestType };
