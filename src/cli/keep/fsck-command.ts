import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { RegistryError } from '../../model/errors.ts';
import type { Checked } from '../../registry/fsck.ts';
import type { Repaired } from '../../registry/keep/give-up.ts';
import type { Registry } from '../../registry/registry.ts';
import { operator, withStore, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson, withProgress } from '../output.ts';

interface FsckOptions extends CommonOptions {
  repair?: boolean;
  from?: string;
  giveUp?: boolean;
}

/** `stele fsck`: reads the whole store and reports what is missing or damaged. Repairs it if that is asked for. */
export function fsckCommand(): Command {
  return new Command('fsck')
    .description('Check the whole store: hash every object and verify every log. Repair what is damaged.')
    .option('--repair', 'repair what is damaged, from quarantine, from the copy, or by giving it up')
    .option('--from <folder>', 'a copy of the store to repair from, such as a backup')
    .option('--give-up', 'withdraw versions whose bytes no copy has, and delete what is damaged')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<FsckOptions>();
      const { json = false, repair = false, from, giveUp } = options;
      if (!repair && (from !== undefined || giveUp))
        throw new RegistryError('malformed', '--from and --give-up need --repair.');
      if (from !== undefined && !existsSync(join(from, 'format')))
        throw new RegistryError('malformed', `${from} holds no store. Name a folder of \`stele backup\`.`);
      const { checked, repairs } = await withStore(command, async (registry) => {
        if (repair) return checkAndRepair(registry, options);
        return { checked: await checkStore(registry, json), repairs: [] };
      });
      const { objects, bytes, entries, records, versions, damages, unnamed } = checked;
      if (json) printJson(repair ? { ...checked, repairs } : checked);
      else {
        printDamages(damages);
        if (unnamed.length > 0) {
          complain(
            `${unnamed.length} manifests are named by no version. They are left from publishes that did not end, or the newest log entries are lost: compare with a backup.`,
          );
        }
        print(
          `${objects} objects (${bytes} bytes), ${entries} log entries, ${records} records, ${versions} versions: ${damages.length} damaged`,
        );
      }
      if (damages.length > 0) process.exitCode = 1;
    });
}

/** Repairs the store, and prints a line for each thing that is done or left. */
async function checkAndRepair(
  registry: Registry,
  { json = false, from, giveUp = false }: FsckOptions,
): Promise<{ checked: Checked; repairs: Repaired[] }> {
  const [{ repairStore }, { openBucket }] = await Promise.all([
    import('../../registry/keep/repair.ts'),
    import('../../open.ts'),
  ]);
  const repairs: Repaired[] = [];
  const checked = await repairStore(registry, () => checkStore(registry, json), {
    from: from === undefined ? null : await openBucket({ kind: 'fs', path: from }),
    giveUp,
    author: operator,
    report(repaired) {
      repairs.push(repaired);
      if (!json) print(`${repaired.outcome}: ${repaired.what}. ${repaired.detail}`);
    },
  });
  return { checked, repairs };
}

/** Checks the whole store and shows how far it is. */
export async function checkStore(registry: Registry, json: boolean): Promise<Checked> {
  const { fsck } = await import('../../registry/fsck.ts');
  return withProgress(
    'Checking',
    (say) => fsck(registry, ({ objects, entries }) => say(`Checking: ${objects} objects, ${entries} log entries`)),
    json ? null : process.stderr,
  );
}

/** Prints what is damaged, a line each. */
export function printDamages(damages: Checked['damages']): void {
  for (const { key, detail } of damages) complain(`${key}: ${detail}`);
}
