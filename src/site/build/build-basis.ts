import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, type Digest } from '../../model/digest.ts';

const program = ['../../', '../../../templates/', '../../../content/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

/**
 * Identifies the program and its templates (`own`: the operator's templates, or null). Files from
 * another one are built again. Reads synchronously: nobody else waits, and a thread for each of a
 * thousand small files costs more than reading it.
 */
export function programDigest(packageVersion: string | null): Digest {
  const digests: Digest[] = [];
  for (const folder of packageVersion === null ? program : [...program, packageVersion]) {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    for (const name of names.sort()) digests.push(digestOf(name.slice(folder.length)), digestOf(readFileSync(name)));
  }
  return digestOf(digests.join('\n'));
}
