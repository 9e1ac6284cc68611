import { entriesNamed, openLock, saveLock, lockOption, type LockOptions, type OpenLock } from './open-lock.ts';
import { formatDiff } from '../check/finding-formats.ts';
import { Command } from 'commander';
import type { Comparison } from '../../model/comparison.ts';
import { parseSelector } from '../../model/address.ts';
import { insteadOf, refused } from '../../model/errors.ts';
import { compareSemanticVersions, parseSemanticVersion } from '../../model/label.ts';
import type { LockedContract } from '../../model/lock.ts';
import { complain, print, printJson, withProgressUnless } from '../output.ts';
import { noteProblem } from './list-command.ts';

interface Moved {
  before: LockedContract;
  after: LockedContract;
  /** Why it goes back, as it is printed. */
  because: string;
  /** Null: the bytes of the version before are gone. */
  comparison: Comparison | null;
  bytes: Uint8Array;
}

interface Problem {
  path: string;
  problem: string;
}

/** `stele update [NAME]`: moves contracts to the newest version in their ranges, and says what that changes. */
export function updateCommand(): Command {
  return new Command('update')
    .description('Move contracts to the newest version in their range, and print what changes.')
    .argument('[name]', 'a file, or @org/type/slug (default: all)')
    .addOption(lockOption)
    .action(async (name: string | undefined, _options: unknown, self: Command) => {
      const { json = false } = self.optsWithGlobals<LockOptions>();
      const lock = await openLock(self);
      const entries = await entriesNamed(lock, name);
      const { moved, problems } = await withProgressUnless(json, 'Asking registries', () =>
        findMoves(self, lock, entries),
      );
      const next = new Map(moved.map(({ before, after }) => [before, after]));
      await saveLock(
        lock,
        lock.contracts.map((each) => next.get(each) ?? each),
        moved.map(({ after, bytes }) => ({ path: after.path, bytes })),
      );
      if (json)
        return printJson({
          contracts: moved.map(({ before, after, comparison }) => ({ ...after, from: before.version, comparison })),
          ...(problems.length > 0 && { problems }),
        });
      for (const { path, problem } of problems)
        complain(problem.includes(path) ? problem : `not updated ${path}: ${problem}`);
      for (const { before, after, because, bytes, comparison } of moved) {
        print(
          `updated ${after.path}: ${after.contract} ${before.version} → ${after.version} (${after.range})${because}`,
        );
        if (comparison === null) print(`What changed is not known: ${before.version} is gone.`);
        else {
          const names = { before: before.path, after: after.path, text: Buffer.from(bytes).toString() };
          print(formatDiff(comparison, 'text', names));
        }
      }
      if (moved.length + problems.length === 0) complain('Everything is up to date.');
    });
}

async function findMoves(
  command: Command,
  lock: OpenLock,
  entries: readonly LockedContract[],
): Promise<{ moved: Moved[]; problems: Problem[] }> {
  const [
    { contractBytes, coordinateIn, openContractSource, sha256Of, trustedRegistry },
    { assertReplaceable, checkContracts, statusTakenBack, withComparer },
  ] = await Promise.all([import('./contract-source.ts'), import('./check-contracts.ts')]);
  const trusted = trustedRegistry();
  return withComparer(command, async (compare) => {
    const moved: Moved[] = [];
    const problems: Problem[] = [];
    const moveOf = async (before: LockedContract): Promise<Moved | null> => {
      const source = openContractSource(before.registry, trusted);
      const { version, digest } = await source.find(coordinateIn(before), parseSelector(before.range)!);
      const sha256 = await sha256Of({ ...before, version, digest }, trusted);
      if (version === before.version && sha256 !== before.sha256)
        throw refused(
          `${before.registry} has other bytes for ${before.contract}@${version} than ${before.path}: locked sha256:${before.sha256}, there sha256:${sha256}. The file was not changed. Ask the operator of that registry.`,
        );
      if (version === before.version) return null;
      const [found, had] = [version, before.version].map(parseSemanticVersion);
      const isOlder = found && had && compareSemanticVersions(found, had) < 0;
      const status = isOlder ? await statusTakenBack(lock.folder, before, trusted) : null;
      // A registry may hold back what is newer.
      if (isOlder && status === null)
        throw refused(
          `${before.registry} says that ${before.range} means ${version}, which is older than ${before.version}. The file was not changed. For the older one: stele add ${before.contract}@${version}`,
        );
      const after = { ...before, version, digest, sha256 };
      await assertReplaceable(lock, before.path, before, sha256);
      const bytes = await contractBytes(after, trusted);
      await checkContracts(lock.folder, [after], { trusted, isFetched: () => true });
      const old = await contractBytes(before, trusted, lock.folder).catch(insteadOf('gone', null));
      return {
        before,
        after,
        because: status === null ? '' : `, since ${before.version} was ${status.state}: ${status.reason}`,
        bytes,
        comparison: old && (await compare({ entry: before, bytes: old }, { entry: after, bytes })),
      };
    };
    for (const before of entries) {
      try {
        const one = await moveOf(before);
        if (one !== null) moved.push(one);
      } catch (error) {
        problems.push({ path: before.path, problem: noteProblem(error) });
      }
    }
    return { moved, problems };
  });
}
