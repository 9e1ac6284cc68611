import { Command } from 'commander';
import { print, printJson } from '../output.ts';
import { openLock, withLockOption } from './open-lock.ts';
import { formatTable } from './table.ts';
import type { CommonOptions } from '../command-context.ts';

/** `stele list`: prints the contracts of a lock, and whether their files are what it says. */
export function listCommand(): Command {
  const command = new Command('list')
    .description('List the contracts in contracts.lock.')
    .action(async (_options: unknown, self: Command) => {
      const lock = await openLock(self);
      const { stateOf } = await import('./vendored-file.ts');
      const contracts = [];
      for (const entry of lock.contracts) contracts.push({ ...entry, state: await stateOf(lock, entry) });
      if (self.optsWithGlobals<CommonOptions>().json) return printJson({ contracts });
      const rows = contracts.map(({ path, contract, version, range, registry, state }) => [
        path,
        `${contract}@${version}`,
        range,
        registry,
        states[state],
      ]);
      print(formatTable(['file', 'contract', 'range', 'registry', ''], rows));
    });
  return withLockOption(command);
}

const states = { ok: '', missing: 'missing', edited: 'edited by hand', endings: 'other line endings' } as const;
