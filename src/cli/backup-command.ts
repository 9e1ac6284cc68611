import { existsSync, realpathSync } from 'node:fs';
import { join, resolve, basename, dirname, relative, sep } from 'node:path';
import { Command } from 'commander';
import type { Copied, Until } from '../store/copy-store.ts';
import { readConfig, withStore, type CommonOptions, holdsStore, withRegistry, withScratch } from './command-context.ts';
import { complain, print, printJson, withProgressUnless } from './output.ts';
import { timeOf } from '../model/time.ts';
import { malformed } from '../model/errors.ts';
import { checkStore, printDamages, printLostKey, parseLogEnd } from './fsck-command.ts';
import type { Checked } from '../registry/fsck.ts';
import type { Config } from '../config.ts';

/** `stele backup FOLDER`: copies the store, or what is new since the last time. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('Copy the store into a folder, or what is new into an earlier copy. Also while a server runs.')
    .argument('<folder>', 'a new or empty folder, or an earlier backup')
    .option('--verify', 'then read the whole backup, including earlier copies')
    .action(async (folder: string, { verify }: { verify?: true }, command: Command) => {
      const { json = false } = command.optsWithGlobals<CommonOptions>();
      const { store, dataFolder } = await readConfig(command);
      assertApart(store, folder);
      const isNew = !existsSync(join(folder, 'format'));
      const copied = await withStore(command, async (registry) => {
        const { backup } = await import('../registry/maintenance/backup.ts');
        const { openBucket } = await import('../open.ts');
        const into = await openBucket({ kind: 'fs', path: folder });
        return withProgressUnless(json, 'Copying', (say) => backup(registry, into, showCopied(say)));
      });
      if (!json && isNew)
        for (const { path, use } of ownKeysIn(dataFolder))
          complain(`${path} is not in the backup. It ${use}, so keep a copy of it elsewhere.`);
      printCopied(folder, copied, json, verify ? await check(folder, json, command) : null);
    });
}

/** The keys that a registry made for itself in its data folder, which are in no copy, and what each does. */
function ownKeysIn(folder: string): { path: string; use: string }[] {
  return [
    { path: join(folder, '.secret-key'), use: 'opens the secrets in the store' },
    { path: join(folder, '.log-key'), use: 'signs the public log, which cannot continue without it' },
  ].filter(({ path }) => existsSync(path));
}

function showCopied(say: (text: string) => void): (copied: Copied) => void {
  return ({ objects, entries }) => say(`Copying: ${objects} objects, ${entries} log entries`);
}

function printCopied(target: string, copied: Copied, json: boolean, checked: Checked | null = null): void {
  const { objects, bytes, entries, records, damages } = copied;
  const found = checked?.damages ?? [];
  if (damages.length + found.length > 0) process.exitCode = 1;
  if (json) return printJson({ ...copied, damages: [...damages, ...found] });
  printDamages(found);
  for (const { key, detail } of damages) complain(`${key}: ${detail} Not copied.`);
  const damaged = damages.length > 0 ? `; ${damages.length} damaged, not copied` : '';
  print(
    `${target}: ${objects} objects (${bytes} bytes), ${entries} log entries and ${records} other records copied${damaged}`,
  );
  if (checked && found.length === 0) print(`${target} was checked: ${checked.versions} versions, nothing is damaged.`);
}

/** `stele restore FOLDER`: copies a backup into an empty store. */
export function restoreCommand(): Command {
  return new Command('restore')
    .description('Copy a backup into an empty store, and check it.')
    .argument('<folder>', 'folder that `stele backup` wrote')
    .option(
      '--to <point>',
      'end with the state at a time, such as 2026-11-22T10:00:00Z, or after a log entry, such as @acme:120 (repeatable)',
      (point: string, points: string[]) => [...points, point],
      [],
    )
    .action(async (folder: string, _options: unknown, command: Command) => {
      const { json = false, to } = command.optsWithGlobals<CommonOptions & { to: string[] }>();
      const until = to.map(pointIn);
      // Opening a bucket would make the folder.
      if (!(await holdsStore(folder))) {
        throw malformed(`${folder} holds no complete backup. Name a folder of \`stele backup\`.`);
      }
      const { store } = await readConfig(command, { fills: true });
      assertApart(store, folder);
      const { restore } = await import('../registry/maintenance/backup.ts');
      const { openBucket } = await import('../open.ts');
      const from = await openBucket({ kind: 'fs', path: folder });
      const into = await openBucket(store);
      const copied = await withProgressUnless(json, 'Copying', (say) => restore(from, into, until, showCopied(say)));
      const checked = await withRegistry(command, (registry) => checkStore(registry, json));
      if (!json) printLostKey(checked.lostKey);
      printCopied('path' in store ? store.path : store.bucket, copied, json, checked);
    });
}

function pointIn(text: string): Until {
  const end = parseLogEnd(text);
  if (end !== null) return end;
  const time = text.includes('T') ? timeOf(text) : Number.NaN;
  if (!Number.isNaN(time)) return { at: new Date(time).toISOString() };
  throw malformed(
    `${JSON.stringify(text)} is not a point to restore to. Use a time with its zone, such as 2026-11-22T10:00:00Z, or a log and the number of its last entry, such as @acme:120.`,
  );
}

/** `stele migrate FOLDER`: writes the store anew into a folder, and checks it. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'Write the store into an empty folder, in the format of this program, and check it. The old store stays as it is.',
    )
    .argument('<folder>', 'a new or empty folder: a data folder for --data, or for `stele restore`')
    .action(async (folder: string, _options: unknown, command: Command) => {
      const { json = false } = command.optsWithGlobals<CommonOptions>();
      const config = await readConfig(command);
      const { store, dataFolder } = config;
      assertApart(store, folder);
      const migrated = await withStore(command, async ({ bucket }) => {
        const { migrate } = await import('../registry/maintenance/migrate.ts');
        const { openBucket } = await import('../open.ts');
        const into = await openBucket({ kind: 'fs', path: folder });
        return withProgressUnless(json, 'Copying', (say) => migrate(bucket, into, showCopied(say)));
      });
      const checked = await check(folder, json, command);
      if (!json) {
        for (const { path, use } of ownKeysIn(dataFolder)) complain(`Copy ${path} into ${folder}: it ${use}.`);
        if (migrated.isBehind)
          complain('The store was changed meanwhile. Stop its servers, and migrate again into another folder.');
      }
      printCopied(folder, migrated, json, checked);
      if (migrated.isBehind) process.exitCode = 1;
    });
}

async function check(folder: string, json: boolean, command: Command): Promise<Checked> {
  const config = await readConfig(command);
  return withScratch(
    config,
    () => resolve(folder),
    (registry) => checkStore(registry, json),
  );
}

/** Throws `malformed` if a folder is the store, or one of them is in the other. */
export function assertApart(store: Config['store'], folder: string): void {
  if (!('path' in store)) return;
  const [own, other] = [realPath(resolve(store.path)), realPath(resolve(folder))];
  if (isWithin(own, other) || isWithin(other, own))
    throw malformed(
      `The store is ${store.path}, and ${folder} is the same folder or one in the other. Choose another folder.`,
    );
}

/** The path without symbolic links, as far as it exists. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path));
}

function isWithin(path: string, folder: string): boolean {
  return relative(folder, path).split(sep)[0] !== '..';
}
