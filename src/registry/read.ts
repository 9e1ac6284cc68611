import type { Principal } from '../model/access.ts';
import { formatCoordinate, type Coordinate, type Format, type Selector } from '../model/address.ts';
import { findLayer, type ArtifactConfig, type Coding, type Manifest } from '../model/artifact.ts';
import type { Digest } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { Report } from '../model/problem.ts';
import { selectVersion, type Resource, type Version } from '../model/resource.ts';
import { readReadable } from './readable.ts';
import type { Registry } from './registry.ts';
import { readJson, readObject } from './stored.ts';

declare const proof: unique symbol;

/**
 * A resource that its reader was found to be allowed to read. Only this file can make one, and whatever opens bytes takes nothing
 * else: serving before the check does not compile (design §3).
 */
export interface Granted {
  readonly [proof]: true;
  readonly resource: Resource;
}

/** A version of a granted resource. */
export interface GrantedVersion extends Granted {
  readonly version: Version;
}

/**
 * The resource, if it is there and the principal may read it. Null tells nothing about which of the two it is not. Rejects with `gone` where
 * the principal could read it before it was deleted: what was promised for ever is missed visibly (design §13, promise 2).
 */
export async function grantRead(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<Granted | null> {
  const resource = (await readReadable(registry, principal, coordinate))?.value;
  if (resource === undefined) return null;
  if (resource.deletedAt !== null) {
    throw new RegistryError('gone', `${formatCoordinate(coordinate)} was deleted. Its name is never used again.`);
  }
  return { resource } as unknown as Granted;
}

/**
 * The version that the selector means; `exact` is false for a range, whose reader is to be redirected to it. Null when there is none.
 * Rejects with `gone` for a withdrawn version.
 */
export function grantVersion(granted: Granted, selector: Selector): { granted: GrantedVersion; exact: boolean } | null {
  const selected = selectVersion(granted.resource, selector);
  if (selected === null) return null;
  const { version, exact } = selected;
  if (version.status.state === 'withdrawn') {
    throw new RegistryError('gone', `Version ${version.label} was withdrawn: ${version.status.reason}`);
  }
  return { granted: { ...granted, version }, exact };
}

/** What there is to send: which bytes, in which format and coding. */
export interface Representation {
  format: Format;
  coding: Coding;
  /** Digest of the bytes as they are sent: the strong entity tag. */
  digest: Digest;
  size: number;
}

/** The representations of a version, read from its manifest. */
export async function readManifest(registry: Registry, { version }: GrantedVersion): Promise<Manifest> {
  return readJson<Manifest>(registry, version.manifest);
}

/** The representation in a format and coding, or null when it was not made. */
export function findRepresentation(manifest: Manifest, format: Format, coding: Coding): Representation | null {
  const layer = findLayer(manifest, format, coding);
  return layer && { format, coding, digest: layer.digest, size: layer.size };
}

/** The bytes of a representation, verified. */
export async function openRepresentation(
  registry: Registry,
  _granted: GrantedVersion,
  { digest }: Representation,
): Promise<Uint8Array> {
  return readObject(registry, digest);
}

/** What the version says about itself: title, specification, provenance, compiler. */
export async function readConfig(registry: Registry, granted: GrantedVersion): Promise<ArtifactConfig> {
  const { config } = await readManifest(registry, granted);
  return readJson<ArtifactConfig>(registry, config.digest);
}

/** What compiling the version found. */
export async function readReport(registry: Registry, granted: GrantedVersion): Promise<Report> {
  const { report } = await readConfig(registry, granted);
  return readJson<Report>(registry, report);
}
