import { Command } from 'commander';
import { RegistryError } from '../../model/errors.ts';
import { print, printJson } from '../output.ts';
import { entriesNamed, openLock, saveLock, withLockOption, type LockOptions } from './open-lock.ts';

/** `stele remove NAME`: deletes a contract's file and its entry. */
export function removeCommand(): Command {
  const command = new Command('remove')
    .description('Remove a contract from contracts.lock, and delete its file.')
    .argument('<name>', 'the file, or @org/type/slug')
    .option('--keep', 'keep the file')
    .action(async (name: string, _options: unknown, self: Command) => {
      const { json, keep = false } = self.optsWithGlobals<LockOptions & { keep?: boolean }>();
      const lock = await openLock(self);
      const named = await entriesNamed(lock, name);
      const [{ describeState, stateOf }, { removeTreeFile }] = await Promise.all([
        import('./vendored-file.ts'),
        import('./tree-files.ts'),
      ]);
      for (const entry of keep ? [] : named) {
        const state = await stateOf(lock, entry);
        if (state === 'edited') throw new RegistryError('refused', describeState(state, entry));
      }
      await saveLock(
        lock,
        lock.contracts.filter((each) => !named.includes(each)),
      );
      for (const { path } of keep ? [] : named) await removeTreeFile(lock.folder, path);
      if (json) printJson({ contracts: named });
      else for (const { path, contract, version } of named) print(`removed ${path}: ${contract}@${version}`);
    });
  return withLockOption(command);
}
