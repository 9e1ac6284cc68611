import { Command } from 'commander';
import { RegistryError } from '../../model/errors.ts';
import type { Until } from '../../store/copy-store.ts';
import { holdsStore, readConfig, withRegistry, type CommonOptions } from '../command-context.ts';
import { withProgressUnless } from '../output.ts';
import { assertApart } from './assert-apart.ts';
import { printCopied, showCopied } from './backup-command.ts';
import { checkStore, printDamages, printLostKey } from './fsck-command.ts';
import { parseLogEnd } from './log-point.ts';

interface RestoreOptions extends CommonOptions {
  to: string[];
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
      const { json = false, to } = command.optsWithGlobals<RestoreOptions>();
      const until = to.map(pointIn);
      // Opening a bucket would make the folder.
      if (!(await holdsStore(folder))) {
        throw new RegistryError('malformed', `${folder} holds no complete backup. Name a folder of \`stele backup\`.`);
      }
      const { store } = await readConfig(command, { fills: true });
      assertApart(store, folder);
      const [{ restore }, { openBucket }] = await Promise.all([
        import('../../registry/maintenance/backup.ts'),
        import('../../open.ts'),
      ]);
      const from = await openBucket({ kind: 'fs', path: folder });
      const into = await openBucket(store);
      const copied = await withProgressUnless(json, 'Copying', (say) => restore(from, into, until, showCopied(say)));
      const { damages, lostKey } = await withRegistry(command, (registry) => checkStore(registry, json));
      if (!json) printDamages(damages);
      if (!json) printLostKey(lostKey);
      if (damages.length > 0) process.exitCode = 1;
      printCopied(
        store.kind === 'fs' ? store.path : store.bucket,
        { ...copied, damages: json ? [...copied.damages, ...damages] : copied.damages },
        json,
      );
    });
}

/** Parses a point to restore to. Throws `malformed`. */
function pointIn(text: string): Until {
  const end = parseLogEnd(text);
  if (end !== null) return end;
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return { at: new Date(time).toISOString() };
  throw new RegistryError(
    'malformed',
    `${JSON.stringify(text)} is not a point to restore to. Use a time with its zone, such as 2026-11-22T10:00:00Z, or a log and the number of its last entry, such as @acme:120.`,
  );
}
