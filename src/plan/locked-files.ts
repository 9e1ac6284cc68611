import { posix } from 'node:path';
import { isRegistryError } from '../model/errors.ts';
import type { ReportedContract } from '../model/dependency.ts';
import { lockName, maxContracts, parseLock, type LockedContract } from '../model/lock.ts';
import type { Snapshot } from '../source/snapshot.ts';

const maxLocks = 200;

/** A `contracts.lock` of a commit. `fault`: why it says nothing, in words that complete "it is …". */
export interface Lock {
  path: string;
  contracts: LockedContract[];
  fault: string | null;
}

/** The locks among the files of a commit. */
export function readLocks(snapshot: Snapshot, paths: readonly string[]): Promise<Lock[]> {
  const locks = paths.filter((path) => posix.basename(path) === lockName);
  return Promise.all(
    locks.map(async (path, index) => {
      const [file] = index < maxLocks ? await snapshot.read([path]) : [];
      if (!file?.found) return { path, contracts: [], fault: `below ${path}, which cannot be read` };
      try {
        return { path, contracts: parseLock(Buffer.from(file.bytes).toString(), path), fault: null };
      } catch (error) {
        if (!isRegistryError(error, 'malformed')) throw error;
        return { path, contracts: [], fault: `below a ${lockName} that is invalid: ${error.message}` };
      }
    }),
  );
}

/**
 * Tells which files discovery passes over because of a lock: they are documents of others. Returns why, in words
 * that complete "it is …", or null. Below an invalid lock, any file may be such a document, and a published name
 * is final.
 */
export function lockedFiles(locks: readonly Lock[]): (path: string) => string | null {
  const folderOf = (path: string) => path.slice(0, -lockName.length);
  const files = new Map(
    locks.flatMap(({ path, contracts }) =>
      contracts.map((each) => [folderOf(path) + each.path, `${each.contract}@${each.version} (${path})`] as const),
    ),
  );
  return (path) =>
    files.get(path) ?? locks.find((lock) => lock.fault !== null && path.startsWith(folderOf(lock.path)))?.fault ?? null;
}

/** What the locks of a repository say it uses, each contract once. Null: one of them is invalid. */
export function contractsIn(locks: readonly Lock[]): ReportedContract[] | null {
  if (locks.some(({ fault }) => fault !== null)) return null;
  const contracts = new Map<string, ReportedContract>();
  for (const { contract, range, version, digest } of locks.flatMap((lock) => lock.contracts))
    contracts.set(`${contract} ${range} ${digest}`, { contract, range, version, digest });
  return [...contracts.values()].slice(0, maxContracts);
}
