import { posix } from 'node:path';
import type { CollectedFile, Compiled } from '../../compile/compile.ts';
import { isUrlPath } from '../../model/address.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import type { Dependency } from '../../model/dependency.ts';
import { lockName, parseLock, type LockedContract } from '../../model/lock.ts';
import { createReport, problemAtFile, type Problem } from '../../model/problem.ts';
import type { Snapshot } from '../../source/snapshot.ts';

/**
 * Notes which of a commit's files that a document refers to are contracts of a `contracts.lock`: as
 * dependencies, with the lock as one more file of the version. A file that differs from its lock is
 * no dependency and causes a warning.
 */
export async function withLockDependencies(snapshot: Snapshot, compiled: Compiled): Promise<Compiled> {
  const [entry, ...others] = compiled.files;
  const present = others.filter(({ bytes, path }) => bytes !== null && !isUrlPath(path));
  if (snapshot.origin.commit === null || present.length === 0) return compiled;
  const locks = [...new Set(present.flatMap(({ path }) => locksAbove(path)))].sort();
  const dependencies = new Map<string, Dependency>();
  const problems: Problem[] = [];
  const named: CollectedFile[] = [];
  for (const lock of await snapshot.read(locks)) {
    if (!lock.found) continue;
    const folder = lock.path.slice(0, -lockName.length);
    const below = new Map(present.flatMap((file) => (file.path.startsWith(folder) ? [[file.path, file]] : [])));
    const { contracts, problem } = readLock(lock.path, lock.bytes);
    if (problem !== null) problems.push(problem);
    const met = contracts.flatMap((contract) => {
      const file = below.get(folder + contract.path);
      return file === undefined ? [] : [{ contract, file }];
    });
    for (const { contract, file } of met) {
      const { contract: coordinate, range, version, digest } = contract;
      const isLocked = hexOf(digestOf(file.bytes!)) === contract.sha256;
      if (isLocked)
        dependencies.set(`${coordinate} ${range} ${digest}`, { coordinate, range, version, digest, how: 'lock' });
      else problems.push(problemAtFile('lock-edited', file.path, editedText(contract, lock.path), 'warning'));
    }
    if (met.length > 0) named.push(lock);
  }
  if (named.length === 0 && problems.length === 0) return compiled;
  const files = [...others, ...named].sort((a, b) => (a.path < b.path ? -1 : 1));
  const all = [...(compiled.dependencies ?? []), ...dependencies.values()];
  return {
    ...compiled,
    files: [entry!, ...files],
    report: withWarnings(compiled.report, problems),
    ...(all.length > 0 && { dependencies: all }),
  };
}

/** The locks that could name a file: in its folder and all above. */
function locksAbove(path: string): string[] {
  const names = path.split('/');
  return names.map((_, count) => posix.join(...names.slice(0, count), lockName));
}

function readLock(path: string, bytes: Uint8Array): { contracts: LockedContract[]; problem: Problem | null } {
  try {
    return { contracts: parseLock(Buffer.from(bytes).toString(), path), problem: null };
  } catch (error) {
    if (!isRegistryError(error, 'malformed')) throw error;
    return { contracts: [], problem: problemAtFile('lock-invalid', path, error.message, 'warning') };
  }
}

function editedText({ contract, version, path }: LockedContract, lock: string): string {
  return `This file is not ${contract}@${version}, as ${lock} says: it was edited by hand. Delete it and run stele install, or run stele remove ${path} --keep.`;
}

function withWarnings(report: Compiled['report'], added: readonly Problem[]): Compiled['report'] {
  if (added.length === 0) return report;
  const { problems, truncated } = createReport([...report.problems, ...added]);
  const counts = { ...report.counts, warning: report.counts.warning + added.length };
  return { ...report, problems, counts, truncated: truncated || report.truncated };
}
