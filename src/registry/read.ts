import type { Principal } from '../model/access.ts';
import { formatCoordinate, type Coordinate, type Selector } from '../model/address.ts';
import { imageLayers, type ArtifactConfig, type Descriptor, type Manifest } from '../model/artifact.ts';
import type { Digest } from '../model/digest.ts';
import { insteadOf, gone } from '../model/errors.ts';
import type { Report } from '../model/problem.ts';
import { selectVersion, type Resource, type Version } from '../model/resource.ts';
import { readReadable } from './readable.ts';
import type { Registry } from './registry.ts';
import { readConfigOf, readManifestOf, readObject, readReportOf } from './stored.ts';

declare const proof: unique symbol;

/**
 * A resource that its reader may read. Only this file can create one, and functions that open bytes
 * require it: code that serves before the access check does not compile (design §3).
 */
export interface Granted {
  readonly [proof]: true;
  readonly resource: Resource;
  /** The generation of the resource's record: while it is the same, so is the resource. */
  readonly generation: number;
}

/** A version of a granted resource. */
export interface GrantedVersion extends Granted {
  readonly version: Version;
}

/**
 * Returns the resource if it exists and the principal may read it, else null: the caller cannot
 * tell which. Throws `gone` if the principal could read it before it was deleted, since a permanent
 * URL must not silently disappear (design §13, promise 2).
 */
export async function grantRead(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<Granted | null> {
  const readable = await readReadable(registry, principal, coordinate);
  if (readable === null) return null;
  const { value: resource, generation } = readable;
  if (resource.deletedAt !== null) {
    throw gone(`${formatCoordinate(coordinate)} was deleted. Its name is never used again.`);
  }
  return { resource, generation } as unknown as Granted;
}

/**
 * The version that the selector means; null if it does not exist. `exact` is false for a range: the
 * client is redirected to the version. Throws `gone` if the version was withdrawn.
 */
export function grantVersion(granted: Granted, selector: Selector): { granted: GrantedVersion; exact: boolean } | null {
  const selected = selectVersion(granted.resource, selector);
  if (selected === null) return null;
  const { version, exact } = selected;
  if (version.status.state === 'withdrawn') {
    throw gone(`Version ${version.label} was withdrawn: ${version.status.reason}`);
  }
  return { granted: { ...granted, version }, exact };
}

/** As both: the version that the principal may read. Null also for what was deleted or withdrawn: as absent as if it had never been there. */
export async function findGranted(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
  selector: Selector,
): Promise<ReturnType<typeof grantVersion>> {
  const find = async () => {
    const granted = await grantRead(registry, principal, coordinate);
    return granted && grantVersion(granted, selector);
  };
  return find().catch(insteadOf('gone', null));
}

/** A version's manifest, which lists its representations. */
export async function readManifest(registry: Registry, { version }: GrantedVersion): Promise<Manifest> {
  return readManifestOf(registry, version);
}

/** An image that the version's document shows, by its name in URLs. Null: there is none of this name. */
export async function findImage(registry: Registry, granted: GrantedVersion, name: string): Promise<Descriptor | null> {
  const manifest = await readManifest(registry, granted);
  return imageLayers(manifest).find(({ image }) => image.name === name)?.layer ?? null;
}

/** A version's config: title, specification, provenance, compiler. */
export async function readConfig(registry: Registry, granted: GrantedVersion): Promise<ArtifactConfig> {
  return readConfigOf(registry, granted.version);
}

/** The report of the version's compilation. */
export async function readReport(registry: Registry, granted: GrantedVersion): Promise<Report> {
  return readReportOf(registry, granted.version);
}

/** Every object of a version but its manifest, with its size: the config, the layers, and the report last. */
export async function listBlobs(registry: Registry, granted: GrantedVersion): Promise<[Digest, number][]> {
  const { config, layers } = await readManifest(registry, granted);
  const { report } = await readConfig(registry, granted);
  const { byteLength } = await readObject(registry, report, granted.version.manifest);
  return [...[config, ...layers].map(({ digest, size }): [Digest, number] => [digest, size]), [report, byteLength]];
}

/** The bytes of the manifest, or of an object that it or `listBlobs` names, checked against their digest. */
export async function openBlob(registry: Registry, { version }: GrantedVersion, digest: Digest): Promise<Uint8Array> {
  return readObject(registry, digest, version.manifest);
}
