import { Command } from 'commander';
import type { Checked } from '../../registry/fsck.ts';
import type { Registry } from '../../registry/registry.ts';
import { withRegistry, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson, withProgress } from '../output.ts';

/** `stele fsck`: reads the whole store and reports what is missing or damaged. */
export function fsckCommand(): Command {
  return new Command('fsck')
    .description('Check the whole store: hash every object and verify every log.')
    .action(async (_options: unknown, command: Command) => {
      const { json = false } = command.optsWithGlobals<CommonOptions>();
      const checked = await withRegistry(command, (registry) => checkStore(registry, json));
      const { objects, bytes, entries, records, versions, damages, unnamed } = checked;
      if (json) printJson(checked);
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
