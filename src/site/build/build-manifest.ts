import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDigest, type Digest } from '../../model/digest.ts';

/** The file name of a build's manifest. */
export const manifestName = '.stele-build.json';

/** A file of a build. */
export interface BuiltFile {
  /** Relative to the build's folder, separated by `/`. */
  path: string;
  size: number;
  /** Of a document, where it is the entity tag too, and of a plain file of the search index: the digest of its bytes. */
  digest?: Digest;
  /** Its own `Content-Security-Policy`. */
  policy?: string;
}

/** The paths of a unit's files. */
export function pathsOf({ files }: Pick<BuiltUnit, 'files'>): string[] {
  return files.map(({ path }) => path);
}

/** Files with the same inputs, built again when those change. */
export interface BuiltUnit {
  /** Digest of all inputs of the files. */
  inputs: Digest;
  files: BuiltFile[];
}

/** Header fields by lower-case name, as the server sends them. */
export type Fields = Readonly<Record<string, string>>;

/** The manifest of a build. */
export interface BuildManifest {
  format: 1;
  units: Record<string, BuiltUnit>;
  /** The header fields for each kind of file, without those of single files. */
  headers: Record<string, Fields>;
}

/**
 * Reads the manifest of the build in a folder. Null if there is none that this version can read.
 */
export async function readBuildManifest(folder: string): Promise<BuildManifest | null> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => null);
  return text === null ? null : parseBuildManifest(text);
}

/** Parses a manifest. Null if it is invalid, for example with paths that leave the folder. */
function parseBuildManifest(text: string): BuildManifest | null {
  try {
    const manifest = JSON.parse(text) as BuildManifest;
    const files = Object.values(manifest.units).flatMap((unit) => unit.files);
    const isSound = manifest.format === 1 && typeof manifest.headers === 'object' && files.every(isBuiltFile);
    return isSound && Object.values(manifest.units).every(({ inputs }) => isDigest(inputs)) ? manifest : null;
  } catch {
    return null;
  }
}

function isBuiltFile({ path, size }: BuiltFile): boolean {
  return typeof size === 'number' && isInside(path);
}

/** Whether a path stays in the folder of the build. */
function isInside(path: unknown): boolean {
  if (typeof path !== 'string' || path.includes('\0')) return false;
  return path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}
