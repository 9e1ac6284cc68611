import type { Descriptor } from '../../model/artifact.ts';
import { digestOf, type Digest } from '../../model/digest.ts';
import { encodeJson } from '../../model/json.ts';
import { LRUCache } from 'lru-cache';
import { createQueues } from '../../scheduling/places.ts';
import { insteadOf, rateLimited } from '../../model/errors.ts';
import { resourceRef } from '../../model/resource.ts';
import { grantVersion, listBlobs, openBlob, type Granted, type GrantedVersion } from '../../registry/read.ts';
import type { Registry } from '../../registry/registry.ts';
import { attest } from '../../registry/transparency/public-log.ts';
import { bundleType, predicateType } from '../../model/transparency/attestation.ts';

/** The media type of a report, and the artifact type of its manifest. */
const reportType = 'application/vnd.stele.report.v1+json';
export const manifestType = 'application/vnd.oci.image.manifest.v1+json';
export const indexType = 'application/vnd.oci.image.index.v1+json';

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
function referrerOf(
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

/** What a version has for OCI clients. */
export interface Contents {
  granted: GrantedVersion;
  /** Digest and size of everything that its manifest and its report's manifest name. */
  blobs: ReadonlyMap<Digest, number>;
  /** The manifest of its report. */
  report: Referrer;
  /** The manifest of its attestation, and what that names. Null for a registry that signs nothing. */
  attestation: (Referrer & { bundle: { digest: Digest; size: number } }) | null;
}

/** Finds what versions have. */
export type ContentsIndex = ReturnType<typeof createContentsIndex>;

type ContentsOf = Omit<Contents, 'granted'>;

/** Bytes that a blob's digest and size take in memory, roughly. */
const blobSize = 200;
/** Digests whose version stays in memory. */
const digestsKept = 50_000;
/** Searches of one resource that may wait, and seconds before a rejected client may retry. */
const maxWaiting = 16;
const retryAfter = 5;

/**
 * Creates an index of a registry. A client asks for a version's manifest and then for its blobs, so
 * the version that has a blob is nearly always in memory. Otherwise the versions of the resource
 * are looked through, newest first and for one request of the resource at a time.
 */
export function createContentsIndex(registry: Registry) {
  const holders = new LRUCache<string, Digest>({ maxSize: digestsKept, sizeCalculation: () => 1 });
  const searches = createQueues(1);

  async function of(granted: GrantedVersion): Promise<Contents> {
    const { resource, version } = granted;
    const make = async (): Promise<ContentsOf> => {
      const blobs = await listBlobs(registry, granted);
      const [digest, size] = blobs.at(-1)!;
      const { byteLength } = await openBlob(registry, granted, version.manifest);
      const named = { digest: version.manifest, size: byteLength };
      const report = referrerOf(named, { type: reportType, digest, size });
      return { blobs: new Map(blobs), report, attestation: await attestationOf(granted, named) };
    };
    const contents = await registry.answers.content(
      `blobs ${resourceRef(resource)} ${version.label} ${version.manifest}`,
      make,
      ({ blobs }) => (blobs.size + 12) * blobSize,
    );
    for (const digest of digestsOf(contents)) holders.set(`${resourceRef(resource)} ${digest}`, version.manifest);
    return { granted, ...contents };
  }

  async function attestationOf(
    granted: GrantedVersion,
    named: { digest: Digest; size: number },
  ): Promise<Contents['attestation']> {
    const attestation = await attest(registry, granted);
    if (attestation === null) return null;
    const bundle = { digest: digestOf(attestation.bundle), size: attestation.bundle.byteLength };
    // As cosign writes them.
    const annotations = {
      'dev.sigstore.bundle.content': 'dsse-envelope',
      'dev.sigstore.bundle.predicateType': predicateType,
    };
    return { ...referrerOf(named, { type: bundleType, ...bundle }, annotations), bundle };
  }

  async function at(granted: Granted, manifest: Digest): Promise<Contents | null> {
    const { versions } = granted.resource;
    if (!versions.some((each) => each.manifest === manifest && each.status.state !== 'withdrawn')) return null;
    return of(grantVersion(granted, { kind: 'digest', digest: manifest })!.granted);
  }

  async function contentsFor(granted: Granted, digest: Digest): Promise<Contents | null> {
    const manifest = holders.get(`${resourceRef(granted.resource)} ${digest}`);
    return manifest === undefined ? null : ifWhole(at(granted, manifest));
  }

  async function search(granted: Granted, digest: Digest): Promise<Contents | null> {
    const before = await contentsFor(granted, digest);
    if (before !== null) return before;
    for (const { manifest } of granted.resource.versions.toReversed()) {
      const contents = await ifWhole(at(granted, manifest));
      if (contents !== null && digestsOf(contents).includes(digest)) return contents;
    }
    return null;
  }

  return {
    of,
    /**
     * The version that has a blob with this digest, or whose report's manifest has it. Null if none
     * has; a damaged version has none. Rejects with `rate_limited` when too many searches of the
     * resource are waiting.
     */
    async holding(granted: Granted, digest: Digest): Promise<Contents | null> {
      const version = await contentsFor(granted, digest);
      if (version !== null) return version;
      const place = resourceRef(granted.resource);
      if (searches.waiting(place) < maxWaiting) return searches.add(place, () => search(granted, digest));
      const message = 'Too many searches of this repository are waiting. Retry later.';
      throw rateLimited(message, { retryAfter });
    },
  };
}

/** Null for a version whose bytes are damaged or missing: it must not hide the others. */
function ifWhole(contents: Promise<Contents | null>): Promise<Contents | null> {
  return contents.catch(insteadOf('corrupt', null));
}

/** The digests of all that clients may ask for beside a version's manifest. */
function digestsOf({ blobs, report, attestation }: ContentsOf): Digest[] {
  const signed = attestation === null ? [] : [attestation.descriptor.digest, attestation.bundle.digest];
  return [...blobs.keys(), report.descriptor.digest, ...signed];
}
