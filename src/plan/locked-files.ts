import { posix } from 'node:path';
import { isRegistryError } from '../model/errors.ts';
import { lockName, parseLock } from '../model/graph/lock.ts';
import type { Snapshot } from '../source/snapshot.ts';

/** The most locks of a commit that are read. */
const maxLocks = 200;

/**
 * Tells which files discovery passes over because of a `contracts.lock`: they are documents of
 * others. Returns why, in words that complete "it is …", or null. Below an invalid lock, any file
 * may be such a document, and a published name is final.
 */
export async function readLockedFiles(
  snapshot: Snapshot,
  paths: readonly string[],
): Promise<(path: string) => string | null> {
  const files = new Map<string, string>();
  const folders: [folder: string, reason: string][] = [];
  const locks = paths.filter((path) => posix.basename(path) === lockName);
  for (const [index, path] of locks.entries()) {
    const folder = path.slice(0, -lockName.length);
    try {
      const [file] = index < maxLocks ? await snapshot.read([path]) : [];
      if (!file?.found) folders.push([folder, `below ${path}, which cannot be read`]);
      else
        for (const { path: each, contract, version } of parseLock(Buffer.from(file.bytes).toString(), path))
          files.set(folder + each, `${contract}@${version} (${path})`);
    } catch (error) {
      if (!isRegistryError(error, 'malformed')) throw error;
      folders.push([folder, `below a ${lockName} that is invalid: ${error.message}`]);
    }
  }
  return (path) => files.get(path) ?? folders.find(([folder]) => path.startsWith(folder))?.[1] ?? null;
}
