import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { Checked } from '../../registry/fsck.ts';
import { readConfig, withStore, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson, withProgressUnless } from '../output.ts';
import { assertApart } from './assert-apart.ts';
import { ownKeysIn, printCopied, showCopied } from './backup-command.ts';
import { checkStore, printCredentials, printDamages } from './fsck-command.ts';

/** `stele migrate FOLDER`: writes the store anew into a folder, and checks it. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Write the store into an empty folder, in the format of this program and without credentials in URLs of repositories. Check it. The old store stays as it is.',
    )
    .argument('<folder>', 'a new or empty folder: a data folder for --data, or for `stele restore`')
    .action(async (folder: string, _options: unknown, command: Command) => {
      const { json = false } = command.optsWithGlobals<CommonOptions>();
      const config = await readConfig(command);
      const { store, dataFolder } = config;
      assertApart(store, folder);
      const migrated = await withStore(command, async ({ bucket }) => {
        const [{ migrate }, { openBucket }] = await Promise.all([
          import('../../registry/maintenance/migrate.ts'),
          import('../../open.ts'),
        ]);
        const into = await openBucket({ kind: 'fs', path: folder });
        return withProgressUnless(json, 'Copying', (say) => migrate(bucket, into, showCopied(say)));
      });
      const checked = await check(folder, json, command);
      const { rewritten, isBehind, ...copied } = migrated;
      const { damages, credentials } = checked;
      if (json) printJson({ ...migrated, damages: [...copied.damages, ...damages], credentials });
      else {
        printDamages(damages);
        printCredentials(credentials);
        for (const { log, records } of rewritten)
          complain(`The log ${log} was written anew, without the credentials in ${records.join(', ')}.`);
        for (const { path, use } of ownKeysIn(dataFolder)) complain(`Copy ${path} into ${folder}: it ${use}.`);
        if (isBehind)
          complain('The store was changed meanwhile. Stop its servers, and migrate again into another folder.');
        printCopied(folder, copied, false);
        if (damages.length === 0) print(`${folder} was checked: ${checked.versions} versions, nothing is damaged.`);
      }
      if (damages.length > 0 || credentials.length > 0 || isBehind || copied.damages.length > 0) process.exitCode = 1;
    });
}

/** Checks the store in a folder, with a cache that goes afterwards. */
async function check(folder: string, json: boolean, command: Command): Promise<Checked> {
  const { openRegistry } = await import('../../open.ts');
  const dataFolder = await mkdtemp(join(tmpdir(), 'stele-migrate-'));
  const config = { ...(await readConfig(command)), store: { kind: 'fs' as const, path: resolve(folder) } };
  const registry = await openRegistry(
    { ...config, dataFolder, cacheFolder: join(dataFolder, 'cache') },
    () => undefined,
  );
  try {
    return await checkStore(registry, json);
  } finally {
    await registry.close();
    await rm(dataFolder, { recursive: true, force: true });
  }
}
