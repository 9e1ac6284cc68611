import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, type Digest } from '../../model/digest.ts';

const program = ['../../', '../../../templates/', '../../../content/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/**
 * Identifies the program and its templates (`own`: the operator's templates, or null). Files from
 * another one are built again.
 */
export async function programDigest(own: string | null): Promise<Digest> {
  const digests: Digest[] = [];
  for (const folder of own === null ? program : [...program, own]) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const name of names.sort()) digests.push(digestOf(name.slice(folder.length)), digestOf(await readFile(name)));
  }
  return digestOf(digests.join('\n'));
}
