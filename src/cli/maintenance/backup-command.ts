import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Copied } from '../../store/copy-store.ts';
import { readConfig, withStore, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson, withProgressUnless } from '../output.ts';
import { assertApart } from './assert-apart.ts';

/** `stele backup FOLDER`: copies the store, or what is new since the last time. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('Copy the store into a folder, or what is new into an earlier copy. Also while a server runs.')
    .argument('<folder>', 'a new or empty folder, or an earlier backup')
    .action(async (folder: string, _options: unknown, command: Command) => {
      const { json = false } = command.optsWithGlobals<CommonOptions>();
      const { store, dataFolder } = await readConfig(command);
      assertApart(store, folder);
      const isNew = !existsSync(join(folder, 'format'));
      const copied = await withStore(command, async (registry) => {
        const [{ backup }, { openBucket }] = await Promise.all([
          import('../../registry/maintenance/backup.ts'),
          import('../../open.ts'),
        ]);
        const into = await openBucket({ kind: 'fs', path: folder });
        return withProgressUnless(json, 'Copying', (say) => backup(registry, into, showCopied(say)));
      });
      if (!json && isNew)
        for (const { path, use } of ownKeysIn(dataFolder))
          complain(`${path} is not in the backup. It ${use}, so keep a copy of it elsewhere.`);
      printCopied(folder, copied, json);
    });
}

/** The keys that a registry made for itself in its data folder, which are in no copy, and what each does. */
export function ownKeysIn(folder: string): { path: string; use: string }[] {
  return [
    { path: join(folder, '.secret-key'), use: 'opens the secrets in the store' },
    { path: join(folder, '.log-key'), use: 'signs the public log, which cannot go on without it' },
  ].filter(({ path }) => existsSync(path));
}

/** Shows the progress of a copy. */
export function showCopied(say: (text: string) => void): (copied: Copied) => void {
  return ({ objects, entries }) => say(`Copying: ${objects} objects, ${entries} log entries`);
}

/** Prints what was copied. Exit code 1 if some of it could not be, because it is damaged. */
export function printCopied(target: string, copied: Copied, json: boolean): void {
  const { objects, bytes, entries, records, damages } = copied;
  if (json) printJson(copied);
  else {
    for (const { key, detail } of damages) complain(`${key}: ${detail} Not copied.`);
    const damaged = damages.length > 0 ? `; ${damages.length} damaged, not copied` : '';
    print(
      `${target}: ${objects} objects (${bytes} bytes), ${entries} log entries and ${records} other records copied${damaged}`,
    );
  }
  if (damages.length > 0) process.exitCode = 1;
}
