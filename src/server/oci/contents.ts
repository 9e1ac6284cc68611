import { LRUCache } from 'lru-cache';
import type { Digest } from '../../model/digest.ts';
import { resourceRef } from '../../model/resource.ts';
import { grantVersion, listBlobs, readStoredManifest, type Granted, type GrantedVersion } from '../../registry/read.ts';
import type { Registry } from '../../registry/registry.ts';
import { reportArtifact } from './report-artifact.ts';

/** What a version has for OCI clients. */
export interface Contents {
  granted: GrantedVersion;
  /** Digest and size of everything that its manifest and its report's manifest name. */
  blobs: ReadonlyMap<Digest, number>;
  /** The manifest of its report. */
  report: ReturnType<typeof reportArtifact>;
}

/** Finds what versions have. */
export interface ContentsIndex {
  /** What one version has. */
  of(granted: GrantedVersion): Promise<Contents>;
  /** The version that has a blob with this digest, or whose report's manifest has it. Null if none has. */
  holding(granted: Granted, digest: Digest): Promise<Contents | null>;
}

type Kept = Omit<Contents, 'granted'>;

/** Versions whose contents stay in memory, and digests whose version does. */
const versionsKept = 2000;
const digestsKept = 50_000;

/**
 * Creates an index of a registry. A client asks for a version's manifest and then for its blobs, so
 * the version that has a blob is nearly always known. Otherwise all versions of the resource are
 * looked through, newest first and for one request at a time.
 */
export function createContentsIndex(registry: Registry): ContentsIndex {
  const contents = new LRUCache<Digest, Kept>({ max: versionsKept });
  const holders = new LRUCache<string, Digest>({ maxSize: digestsKept, sizeCalculation: () => 1 });
  let searches: Promise<unknown> = Promise.resolve();

  async function of(granted: GrantedVersion): Promise<Contents> {
    const { resource, version } = granted;
    let kept = contents.get(version.manifest);
    if (kept === undefined) {
      const blobs = await listBlobs(registry, granted);
      const [digest, size] = blobs.at(-1)!;
      const { byteLength } = await readStoredManifest(registry, granted);
      const named = { digest: version.manifest, size: byteLength };
      kept = { blobs: new Map(blobs), report: reportArtifact(named, { digest, size }) };
      contents.set(version.manifest, kept);
    }
    const place = resourceRef(resource);
    for (const digest of [...kept.blobs.keys(), kept.report.descriptor.digest]) {
      holders.set(`${place} ${digest}`, version.manifest);
    }
    return { granted, ...kept };
  }

  /** What a version that is not withdrawn has, by its manifest's digest. */
  async function at(granted: Granted, manifest: Digest): Promise<Contents | null> {
    const { versions } = granted.resource;
    if (!versions.some((each) => each.manifest === manifest && each.status.state !== 'withdrawn')) return null;
    return of(grantVersion(granted, { kind: 'digest', digest: manifest })!.granted);
  }

  async function search(granted: Granted, digest: Digest): Promise<Contents | null> {
    for (const { manifest, status } of granted.resource.versions.toReversed()) {
      if (status.state === 'withdrawn') continue;
      const found = await at(granted, manifest);
      if (found !== null && holds(found, digest)) return found;
    }
    return null;
  }

  return {
    of,
    async holding(granted, digest) {
      const known = holders.get(`${resourceRef(granted.resource)} ${digest}`);
      const found = known === undefined ? null : await at(granted, known);
      if (found !== null) return found;
      const turn = searches.then(() => search(granted, digest));
      searches = turn.catch(() => undefined);
      return turn;
    },
  };
}

function holds({ blobs, report }: Contents, digest: Digest): boolean {
  return blobs.has(digest) || report.descriptor.digest === digest;
}
