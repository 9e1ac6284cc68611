import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDigest, type Digest } from '../../model/digest.ts';

/** Name of the file in which a build says what it wrote. */
export const manifestName = '.stele-build.json';

/** A file of a build. */
export interface BuiltFile {
  /** From the build's folder, `/` between segments. */
  path: string;
  size: number;
  /** Of a document: the digest of the bytes, which is its entity tag. */
  digest?: Digest;
  /** Its own `Content-Security-Policy`. */
  policy?: string;
}

/** Files that are made of the same inputs, and made again when those change. */
export interface BuiltUnit {
  /** Digest over all that the files depend on. */
  inputs: Digest;
  files: BuiltFile[];
}

/** Header fields by lower-case name, as the server sends them. */
export type Fields = Readonly<Record<string, string>>;

/** What a build wrote. */
export interface BuildManifest {
  format: 1;
  units: Record<string, BuiltUnit>;
  /** What the server sends with files of each kind, apart from what each file has of its own. */
  headers: Record<string, Fields>;
}

/** What the build in the folder wrote; null where there is none that this Stele can read. */
export async function readBuildManifest(folder: string): Promise<BuildManifest | null> {
  const text = await readFile(join(folder, manifestName), 'utf8').catch(() => null);
  return text === null ? null : parseBuildManifest(text);
}

/** The manifest in the text. Null for anything else, also for paths that lead out of the folder. */
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
  if (typeof path !== 'string' || typeof size !== 'number') return false;
  return (
    path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..') && !path.includes('\0')
  );
}
