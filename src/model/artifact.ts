import type { Approval } from './approval.ts';
import type { Kind } from './kinds.ts';
import type { Format } from './address.ts';
import type { Dependency } from './dependency.ts';
import type { Validation } from './problem.ts';
import { digestOf, hexOf, type Digest } from './digest.ts';
import { imageTypes, type ImageType, type ShownImage } from './image.ts';
import type { JobOrigin } from './access.ts';

export type Coding = 'identity' | 'gzip' | 'br' | 'zstd';

/** A digest with what is needed to fetch it (OCI image specification, content descriptors). */
export interface Descriptor {
  mediaType: string;
  digest: Digest;
  size: number;
  annotations?: Record<string, string>;
}

/**
 * Where the input came from. `repository` and `commit` are null for an upload. For an upload from a
 * CI job, `job` is set: `repository` and `commit` are what the job's issuer states, and `path` is
 * not a file of that repository.
 */
export interface Provenance {
  repository: string | null;
  commit: string | null;
  path: string;
  /**
   * Git blob ids of every file that was read, by path. Null for a file that was looked up and is
   * missing, and for one that a view does not publish. Of a registry's document, by its URL: the digest of its manifest.
   */
  blobs: Record<string, string | null>;
  job?: Omit<JobOrigin, 'repository' | 'commit'>;
  /** Whose signature of the commit was verified. Absent: none was. */
  signer?: CommitSigner;
  /** What was decided about its changes before it was published. Absent: nothing had to be. */
  approvals?: Approval[];
}

/** Who signed a commit, as the configuration names the key. */
export interface CommitSigner {
  name: string;
  /** `SHA256:…` of an ssh key, as `ssh-keygen -l` prints it, or the fingerprint of an OpenPGP key in hexadecimal digits. */
  key: string;
}

/** What a document is and says of itself. */
export interface DocumentFacts {
  kind: Kind;
  /** Version of the specification the document follows: `3.1.0`, `2020-12`, … */
  specification: string;
  title: string;
  description: string;
  /** The version stated in the document, or null. */
  version: string | null;
}

/** The description of a version: the manifest's `config` object. Without a time, so that it can be reproduced. */
export interface ArtifactConfig extends DocumentFacts {
  provenance: Provenance;
  /** The compiler that made the artifact: name, version, and the runtime whose codecs compressed it. */
  compiler: string;
  validation: Validation;
  /** The manifest of the ruleset. Its name is in the report, which not everybody may read whole. */
  ruleset: Digest | null;
  report: Digest;
  /** What is published of the file at `provenance.path`. Absent: all of it. */
  view?: View;
  /** What it refers to in the registry. Absent: nothing. */
  dependencies?: readonly Dependency[];
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
/** Of a source that is an image: its size, `640x480`, or empty if it has none. */
export const imageAnnotation = 'dev.stele.image';

/** The layer with this format and coding, or null. */
export function findLayer(manifest: Manifest, format: Format, coding: Coding): Descriptor | null {
  return (
    manifest.layers.find(
      ({ annotations }) => annotations?.[formatAnnotation] === format && annotations[codingAnnotation] === coding,
    ) ?? null
  );
}

/** The layers that hold the author's original files, by path. */
export function sourceLayers(manifest: Manifest): Map<string, Descriptor> {
  return new Map(
    manifest.layers.flatMap((layer) => {
      const path = layer.annotations?.[sourceAnnotation];
      return path === undefined ? [] : [[path, layer] as const];
    }),
  );
}

/** The images that the document shows, with their layers. */
export function imageLayers(manifest: Pick<Manifest, 'layers'>): { image: ShownImage; layer: Descriptor }[] {
  return manifest.layers.flatMap((layer) => {
    const { [sourceAnnotation]: path, [imageAnnotation]: size } = layer.annotations ?? {};
    const extension = imageTypes[layer.mediaType as ImageType] as string | undefined;
    if (path === undefined || size === undefined || extension === undefined) return [];
    const [width, height] = size === '' ? [null, null] : (size.split('x').map(Number) as [number, number]);
    return [{ image: { path, name: `${hexOf(layer.digest).slice(0, 16)}.${extension}`, width, height }, layer }];
  });
}

/**
 * The digest of the content that a manifest publishes. It covers the uncompressed bytes of each
 * format and the images. Codings are left out because a newer codec may compress the same bytes differently, and
 * provenance because the same document in a later commit is the same content.
 */
export function contentDigest(manifest: Pick<Manifest, 'layers'>): Digest {
  const lines = manifest.layers
    .filter(({ annotations }) => annotations?.[codingAnnotation] === 'identity')
    .map(({ digest, annotations }) => `${annotations![formatAnnotation]} ${digest}`);
  const images = imageLayers(manifest).map(({ image, layer }) => `image ${image.path} ${layer.digest}`);
  return digestOf([...lines, ...images].sort().join('\n'));
}

/** What is published of a document, instead of all of it. */
export interface View {
  /** Paths of OpenAPI Overlays, in the order in which they are applied. */
  overlays: string[];
  /** Whose document it is: what `x-internal` and `x-audience` exclude is left out. Null: nothing is. */
  audience: string | null;
}

/** A view of a file, one of several documents that a repository makes of it. */
export interface FileView extends View {
  file: string;
}

/** The path of a view among the documents of a repository. `#` keeps it apart from files. */
export function viewPath(file: string, slug: string): string {
  return `${file}#${slug}`;
}

/** The path of the file that a document is read from. */
export function fileOf({ path, view }: { path: string; view?: FileView | undefined }): string {
  return view?.file ?? path;
}

/** The path under which a version keeps what its view left of the entry, instead of the files that it was made from. */
export function resultPath(entry: string): string {
  return `view/${entry}`;
}

/** The path of the file in a version that its document is compiled from again. */
export function storedEntry({ provenance, view }: { provenance: { path: string }; view?: View | undefined }): string {
  return view === undefined ? provenance.path : resultPath(provenance.path);
}

/** A view in words: `the overlays a.yaml and b.yaml, for the audience public`. */
export function viewInWords({ overlays, audience }: View): string {
  const files = `${overlays.length === 1 ? 'the overlay' : 'the overlays'} ${overlays.join(', ')}`;
  const reader = `the audience ${audience}`;
  if (overlays.length === 0) return `for ${reader}`;
  return audience === null ? `with ${files}` : `with ${files}, for ${reader}`;
}
