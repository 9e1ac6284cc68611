import { kinds, types } from '../model/kinds.ts';
import { bytesIn, type CollectedFile, type Compiled, type GivenRuleset } from '../compile/compile.ts';
import { formatOfFile, isUrlPath, type Coordinate } from '../model/address.ts';
import {
  codingAnnotation,
  contentDigest,
  formatAnnotation,
  imageAnnotation,
  sourceAnnotation,
  type ArtifactConfig,
  type Descriptor,
  type Manifest,
  type Provenance,
  resultPath,
  type View,
} from '../model/artifact.ts';
import { isImageName, largestImage, largestImages, readImage } from '../model/image.ts';
import { repositoryName } from '../model/connection.ts';
import type { Digest } from '../model/digest.ts';
import type { Validation } from '../model/problem.ts';
import { encodeJson } from '../model/json.ts';
import { digestInTurns, digestOnce, digestWithOtherEndings } from '../store/digest-in-turns.ts';

/** Everything that an artifact's bytes depend on. */
export interface ArtifactInput {
  coordinate: Coordinate;
  entry: string;
  origin: Pick<Provenance, 'repository' | 'commit' | 'job' | 'signer' | 'approvals'>;
  compiled: Compiled;
  /** Name and version of the compiler. */
  compiler: string;
  validation: Validation;
  ruleset: GivenRuleset | null;
  view: View | undefined;
  /** Whether a view names the blobs of files that it does not publish, as old versions do. */
  namesSources?: boolean | undefined;
}

/** An artifact's bytes, ready to be stored. */
export interface Built {
  /** What only this version has: its document, the representations, the report. */
  unshared: Uint8Array[];
  /** Other files and images, which other versions may have too. */
  shared: Uint8Array[];
  manifest: Uint8Array;
}

/** Hashes what was compiled in turns of the event loop, which a large document would block in `buildArtifact`. */
export async function hashCompiled({ artifact, files }: Compiled): Promise<void> {
  const encoded = artifact?.representations.map(({ bytes }) => bytes) ?? [];
  for (const bytes of [...encoded, ...files.map((file) => file.bytes)]) if (bytes !== null) await digestInTurns(bytes);
}

/** Makes the bytes of an artifact. Pure: `verify` makes the same bytes again. */
export function buildArtifact({
  coordinate,
  entry,
  origin,
  compiled,
  compiler,
  validation,
  ruleset,
  view,
  namesSources,
}: ArtifactInput): Built {
  const { artifact, report, dependencies } = compiled;
  const reportBytes = encodeJson(report);
  const { repository, commit, job, signer, approvals } = origin;
  const config: ArtifactConfig = {
    kind: artifact!.kind,
    specification: artifact!.specification,
    title: artifact!.title,
    description: artifact!.description,
    version: artifact!.version,
    provenance: {
      repository: repository === null ? null : repositoryName(repository),
      commit,
      path: entry,
      blobs: blobsOf({ entry, compiled, view, namesSources }),
      ...(job && { job }),
      ...(signer && { signer }),
      ...(approvals && { approvals }),
    },
    compiler,
    validation,
    ruleset: ruleset?.digest ?? null,
    report: digestOnce(reportBytes),
    ...(view && { view }),
    ...(dependencies && { dependencies }),
  };
  const configBytes = encodeJson(config);
  const { layers, unshared, shared } = layersOf(entry, compiled);
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: types[coordinate.type].artifactType,
    config: describe('application/vnd.stele.config.v1+json', configBytes),
    layers,
  };
  return { unshared: [reportBytes, configBytes, ...unshared], shared, manifest: encodeJson(manifest) };
}

/**
 * The blobs that a provenance names. By the id of a file that a view does not publish, its readers could confirm a guess
 * at what it leaves out.
 */
export function blobsOf({
  entry,
  compiled: { files },
  view,
  namesSources = false,
}: Pick<ArtifactInput, 'entry' | 'compiled' | 'view' | 'namesSources'>): Provenance['blobs'] {
  const isTold = ({ path, bytes }: CollectedFile) => !view || namesSources || bytes !== null || isUrlPath(path);
  const read = view ? files.filter(({ path }) => path !== resultPath(entry)) : files;
  return Object.fromEntries(read.map((file) => [file.path, isTold(file) ? file.blob : null]));
}

/**
 * A compiled view without its author's files, which say what the view leaves out: they are read from their commit again.
 * Of them only images stay, and instead of the entry there is its result.
 */
export function withoutSources(compiled: Compiled, entry: string): Compiled {
  const { artifact } = compiled;
  const files = compiled.files.map((file) =>
    file.path !== entry && isImageName(file.path) ? file : { ...file, bytes: null },
  );
  const written = artifact && bytesIn(artifact, formatOfFile(entry));
  return {
    ...compiled,
    files: [...files, ...(written ? [{ path: resultPath(entry), blob: null, bytes: written }] : [])],
  };
}

/** Identifies the content of a compiled document, whatever its provenance and report (design §7). */
export function contentOf(entry: string, compiled: Compiled): Digest {
  return contentDigest(layersOf(entry, compiled));
}

/**
 * Identifies the same content with the other line endings in the author's text: CRLF for LF, or LF for
 * CRLF. Null without any. A checkout that changes line endings makes no new content.
 */
export async function contentTwin(entry: string, compiled: Compiled): Promise<Digest | null> {
  const format = formatOfFile(entry);
  const { layers } = layersOf(entry, compiled);
  const digest = await digestWithOtherEndings(bytesIn(compiled.artifact!, format));
  if (digest === null) return null;
  const isWritten = ({ annotations }: Descriptor) => annotations?.[formatAnnotation] === format;
  return contentDigest({ layers: layers.map((layer) => (isWritten(layer) ? { ...layer, digest } : layer)) });
}

/** The layers of a version: one for each representation, and for each file that was read. */
function layersOf(
  entry: string,
  { artifact, files }: Compiled,
): Pick<Built, 'unshared' | 'shared'> & { layers: Descriptor[] } {
  const representations = artifact!.representations.map(({ bytes }) => bytes);
  const shared: Uint8Array[] = [];
  const layers: Descriptor[] = artifact!.representations.map(({ format, coding, bytes }) =>
    describe(kinds[artifact!.kind].stored[format], bytes, { [formatAnnotation]: format, [codingAnnotation]: coding }),
  );
  let left = largestImages;
  for (const { path, bytes } of files) {
    if (bytes === null) continue;
    const isImage = path !== entry && isImageName(path);
    const image = isImage ? readImage(bytes) : null;
    // What is too large, beside those that were asked for before, is not part of the version.
    if (isImage && (image === null || bytes.byteLength > Math.min(largestImage, left))) continue;
    if (isImage) left -= bytes.byteLength;
    (path === entry ? representations : shared).push(bytes);
    const size = image?.width && image.height ? `${image.width}x${image.height}` : '';
    const about = { [sourceAnnotation]: path, ...(image && { [imageAnnotation]: size }) };
    layers.push(describe(image?.type ?? 'application/octet-stream', bytes, about));
  }
  return { layers, unshared: representations, shared };
}

function describe(mediaType: string, bytes: Uint8Array, annotations?: Record<string, string>): Descriptor {
  return { mediaType, digest: digestOnce(bytes), size: bytes.byteLength, ...(annotations && { annotations }) };
}
