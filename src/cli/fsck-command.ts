import { existsSync, readFileSync } from 'node:fs';
import { Command } from 'commander';
import { malformed } from '../model/errors.ts';
import { parseJson } from '../model/json.ts';
import type { Checked } from '../registry/fsck.ts';
import type { LogEndPoint, Repaired } from '../registry/maintenance/repair.ts';
import { isHead } from '../registry/maintenance/witnesses.ts';
import type { Registry } from '../registry/registry.ts';
import type { Head } from '../store/log/heads.ts';
import { holdsStore, operator, withStore, type CommonOptions } from './command-context.ts';
import { complain, print, printJson, withProgressUnless } from './output.ts';

interface FsckOptions extends CommonOptions {
  repair?: boolean;
  from?: string;
  giveUp?: boolean;
  acceptLoss: LogEndPoint[];
  expect?: string;
}

/** `stele fsck`: reads the whole store and reports what is missing or damaged. Repairs it if that is asked for. */
export function fsckCommand(): Command {
  return new Command('fsck')
    .description('Check the whole store: hash every object and verify every log. Repair what is damaged.')
    .option('--repair', 'repair what is damaged, from quarantine, from the copy, or by giving it up')
    .option('--from <folder>', 'a copy of the store to repair from, such as a backup')
    .option('--give-up', 'withdraw versions whose bytes no copy has, and delete what is damaged')
    .option(
      '--accept-loss <point>',
      'go on with a log that lost its newest entries: its name and last entry, such as @acme:120 (repeatable)',
      (point: string, points: LogEndPoint[]) => [...points, endIn(point)],
      [],
    )
    .option(
      '--expect <file>',
      'a JSON file with `heads`, such as the output of `stele backup --json`: report logs that end earlier',
    )
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<FsckOptions>();
      const { json = false, repair = false, from, giveUp, acceptLoss, expect } = options;
      if (!repair && (from !== undefined || giveUp || acceptLoss.length > 0))
        throw malformed('--from, --give-up and --accept-loss need --repair.');
      if (from !== undefined && !(await holdsStore(from)))
        throw malformed(`${from} holds no store. Name a folder of \`stele backup\`.`);
      const heads = expect === undefined ? [] : readHeads(expect);
      const { checked, repairs } = await withStore(command, async (registry) => {
        if (repair) return checkAndRepair(registry, options, heads);
        return { checked: await checkStore(registry, json, heads), repairs: [] };
      });
      const { objects, bytes, entries, records, versions, damages, unnamed, empty, unlogged, unknown, lostKey } =
        checked;
      if (json) printJson(repair ? { ...checked, repairs } : checked);
      else {
        printDamages(damages);
        if (unnamed.length > 0) {
          complain(
            `${unnamed.length} manifests are named by no version. They are left from publishes that did not end, or the newest log entries are lost: compare with a backup.`,
          );
        }
        for (const log of empty)
          complain(
            `The registry names the log ${log}, which has no entries. Its first change did not end, or the log is lost: compare with a backup.`,
          );
        printLostKey(lostKey);
        if (unlogged.length > 0)
          complain(
            `Public versions that are not in the public log: ${someOf(unlogged)}. A server lists them when it starts.`,
          );
        if (unknown.length > 0)
          complain(
            `Versions of the public log that the registry does not have: ${someOf(unknown)}. It was taken back to an earlier state, or they are lost: compare with a backup.`,
          );
        print(
          `${objects} objects (${bytes} bytes), ${entries} log entries, ${records} records, ${versions} versions: ${damages.length} damaged${unknown.length > 0 ? `, and ${unknown.length} that the public log has are not here` : ''}`,
        );
      }
      if (damages.length > 0) process.exitCode = 1;
    });
}

function someOf(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return names.slice(0, 5).join(', ') + more;
}

async function checkAndRepair(
  registry: Registry,
  { json = false, from, giveUp = false, acceptLoss }: FsckOptions,
  heads: readonly Head[],
): Promise<{ checked: Checked; repairs: Repaired[] }> {
  const { repairStore, acceptLoss: accept } = await import('../registry/maintenance/repair.ts');
  const { openBucket } = await import('../open.ts');
  const repairs: Repaired[] = [];
  const report = (repaired: Repaired): void => {
    repairs.push(repaired);
    if (!json) print(`${repaired.outcome}: ${repaired.what}. ${repaired.detail}`);
  };
  for (const point of acceptLoss) await accept(registry, point, { author: operator, report });
  const checked = await repairStore(registry, () => checkStore(registry, json, heads), {
    from: from === undefined ? null : await openBucket({ kind: 'fs', path: from }),
    giveUp,
    author: operator,
    report,
  });
  return { checked, repairs };
}

/** Checks the whole store and shows how far it is. */
export async function checkStore(registry: Registry, json: boolean, heads: readonly Head[] = []): Promise<Checked> {
  const { fsck } = await import('../registry/fsck.ts');
  const show = (say: (text: string) => void) => (checked: Checked) =>
    say(`Checking: ${checked.objects} objects, ${checked.entries} log entries`);
  return withProgressUnless(json, 'Checking', (say) => fsck(registry, show(say), heads));
}

function readHeads(file: string): Head[] {
  const value = existsSync(file) ? parseJson(readFileSync(file)) : undefined;
  const heads = Array.isArray(value) ? value : (value as { heads?: unknown } | null | undefined)?.heads;
  if (Array.isArray(heads) && heads.every(isHead)) return heads;
  throw malformed(
    `${file} has no heads. Name a file with the output of \`stele backup --json\` or \`stele fsck --json\`.`,
  );
}

/** Says that the key of the public log is not there. */
export function printLostKey(key: Checked['lostKey']): void {
  if (key !== null)
    complain(
      `The key of the public log (${key}) is not here. Copy .log-key into the data folder before a server starts: without it the log cannot continue.`,
    );
}

/** Prints what is damaged, a line each. */
export function printDamages(damages: Checked['damages']): void {
  for (const { key, detail } of damages) complain(`${key}: ${detail}`);
}

/** `stele gc`: deletes what nothing refers to. */
export function gcCommand(): Command {
  return new Command('gc')
    .description('Delete objects that nothing refers to. Also while servers run.')
    .option('--dry-run', 'print what would be done, and do nothing')
    .action(async (_options: unknown, command: Command) => {
      const { json, dryRun = false } = command.optsWithGlobals<CommonOptions & { dryRun?: boolean }>();
      const collected = await withStore(command, async (registry) => {
        const { collectGarbage } = await import('../registry/maintenance/gc.ts');
        return withProgressUnless(json, 'Looking for objects that nothing refers to', (say) =>
          collectGarbage(registry, {
            dryRun,
            progress: ({ kept, quarantined }) => say(`${kept} objects kept, ${quarantined} put into quarantine`),
          }),
        );
      });
      if (json) return printJson(collected);
      const { kept, waiting, quarantined, bytes, deleted, broughtBack } = collected;
      const back = broughtBack > 0 ? `, ${broughtBack} brought back` : '';
      const size = dryRun ? '' : ` (${bytes} bytes)`;
      print(
        `${dryRun ? 'Would be: ' : ''}${kept} objects kept, ${waiting} waiting, ${quarantined} put into quarantine${size}, ${deleted} deleted${back}`,
      );
    });
}

/** Parses a log and the number of its last entry, such as `@acme:120`; null for another text. */
export function parseLogEnd(text: string): LogEndPoint | null {
  const [, log, sequence] = /^(@[a-z0-9-]+|registry|tree):(\d{1,15})$/.exec(text) ?? [];
  return log === undefined ? null : { log, sequence: Number(sequence) };
}

function endIn(text: string): LogEndPoint {
  const end = parseLogEnd(text);
  if (end !== null) return end;
  throw malformed(
    `${JSON.stringify(text)} is not a log with the number of its last entry. Use a form such as @acme:120.`,
  );
}
