import type { Kind } from './kinds.ts';
import type { Format } from './address.ts';
import type { Validation } from './problem.ts';
import { digestOf, type Digest } from './digest.ts';
import type { JobOrigin } from './job.ts';

export type Coding = 'identity' | 'gzip' | 'br' | 'zstd';

/** A digest with what is needed to fetch it (OCI image specification, content descriptors). */
export interface Descriptor {
  mediaType: string;
  digest: Digest;
  size: number;
  annotations?: Record<string, string>;
}

/**
 * Where the input came from. Null members: the document was uploaded. With `job` it was uploaded as well, by a CI job: then
 * repository and commit are those that the job ran for, as its issuer says, and `path` is no file of theirs.
 */
export interface Provenance {
  repository: string | null;
  commit: string | null;
  path: string;
  /** Git blob ids of every file that was read, by path; null where a file that was looked for is absent. */
  blobs: Record<string, string | null>;
  job?: Omit<JobOrigin, 'repository' | 'commit'>;
}

/** What a version says about itself: the manifest's `config` object. Holds no time, so that it can be made again. */
export interface ArtifactConfig {
  kind: Kind;
  /** Version of the specification the document follows: `3.1.0`, `2020-12`, … */
  specification: string;
  title: string;
  description: string;
  /** The version that the document states, or null. */
  version: string | null;
  provenance: Provenance;
  /** The compiler that made it: name, version, and the runtime whose codecs compressed it. */
  compiler: string;
  validation: Validation;
  ruleset: Digest | null;
  report: Digest;
}

/** An artifact's manifest (OCI image manifest 1.1 with `artifactType`). Its digest is the version's identity. */
export interface Manifest {
  schemaVersion: 2;
  mediaType: 'application/vnd.oci.image.manifest.v1+json';
  artifactType: string;
  config: Descriptor;
  layers: Descriptor[];
}

export const formatAnnotation = 'dev.stele.format';
export const codingAnnotation = 'dev.stele.coding';
export const sourceAnnotation = 'dev.stele.source';

/** The layer that holds a format in a coding, or null. */
export function findLayer(manifest: Manifest, format: Format, coding: Coding): Descriptor | null {
  return (
    manifest.layers.find(
      ({ annotations }) => annotations?.[formatAnnotation] === format && annotations[codingAnnotation] === coding,
    ) ?? null
  );
}

/** The layers that hold the files as their author wrote them, by path. */
export function sourceLayers(manifest: Manifest): Map<string, Descriptor> {
  return new Map(
    manifest.layers.flatMap((layer) => {
      const path = layer.annotations?.[sourceAnnotation];
      return path === undefined ? [] : [[path, layer] as const];
    }),
  );
}

/**
 * The digest over what a manifest publishes: its formats' bytes. Codings are left out (a newer codec may pack the
 * same bytes otherwise), and so is provenance (the same document in a later commit is the same content).
 */
export function contentDigest(manifest: Manifest): Digest {
  const lines = manifest.layers
    .filter(({ annotations }) => annotations?.[codingAnnotation] === 'identity')
    .map(({ digest, annotations }) => `${annotations![formatAnnotation]} ${digest}`);
  return digestOf(lines.sort().join('\n'));
}
