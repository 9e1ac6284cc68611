import { Command } from 'commander';
import { print, printJson, withProgressUnless } from '../output.ts';
import { openLock, lockOption, entriesNamed, type LockOptions } from './open-lock.ts';
import type { CommonOptions } from '../command-context.ts';
import type { Comparison } from '../../model/comparison.ts';
import { parseSelector } from '../../model/address.ts';
import { compareSemanticVersions, placeOfLabel, readerOf } from '../../model/label.ts';
import type { LockedContract } from '../../model/lock.ts';
import { selectVersion, type Status } from '../../model/resource.ts';
import { isRegistryError } from '../../model/errors.ts';
import { exitCodeOf } from '../process-end.ts';
import type { CompareContracts, FileState } from './check-contracts.ts';
import type { SourceHistory } from './contract-source.ts';

/** `stele list`: prints the contracts of a lock, and whether their files are what it says. */
export function listCommand(): Command {
  return new Command('list')
    .description('List the contracts in contracts.lock.')
    .addOption(lockOption)
    .action(async (_options: unknown, self: Command) => {
      const lock = await openLock(self);
      const { fileStateOf } = await import('./check-contracts.ts');
      const contracts = [];
      for (const entry of lock.contracts) contracts.push({ ...entry, state: await fileStateOf(lock, entry) });
      if (self.optsWithGlobals<CommonOptions>().json) return printJson({ contracts });
      const rows = contracts.map((each) => {
        const { path, contract, version, range, registry, state } = each;
        return [path, `${contract}@${version}`, range, registry, states[state]];
      });
      print(formatTable(['file', 'contract', 'range', 'registry', ''], rows));
    });
}

const states = { ok: '', missing: 'missing', edited: 'edited by hand', endings: 'other line endings' } as const;

/** A newer version, and what changed since the locked one. `problem`: why that is not known. */
type Newer = { version: string } & (
  (Pick<Comparison, 'verdict' | 'counts' | 'reason'> & { operations: number; fields: number }) | { problem: string }
);

/** An entry with what is newer. Null: nothing. */
interface Row extends LockedContract {
  file: FileState;
  /** The status of the locked version, `absent` if the registry no longer lists it, `unknown` if it does not say. */
  status: Status | { state: 'absent' } | { state: 'unknown'; problem: string };
  inRange: Newer | null;
  beyond: Newer | null;
}

/** `stele outdated`: says what is newer in the range of each contract and beyond it, and what that would change. */
export function outdatedCommand(): Command {
  return new Command('outdated')
    .description('List newer versions of contracts, and what they would break.')
    .argument('[name]', 'a file, or @org/type/slug (default: all)')
    .addOption(lockOption)
    .action(async (name: string | undefined, _options: unknown, self: Command) => {
      const { json = false } = self.optsWithGlobals<LockOptions>();
      const lock = await openLock(self);
      const entries = await entriesNamed(lock, name);
      const { fileStateOf, withComparer } = await import('./check-contracts.ts');
      const outdated = await withProgressUnless(json, 'Asking registries', (say) =>
        withComparer(self, async (compare) => {
          const all: Row[] = [];
          for (const entry of entries) {
            say(`Comparing ${entry.contract}: ${all.length + 1} of ${entries.length}`);
            // Each contract has its own row: a problem with one does not stop the others.
            const unknown = (file: FileState) => (error: unknown) => {
              const status = { state: 'unknown', problem: noteProblem(error) } as const;
              return { ...entry, file, status, inRange: null, beyond: null };
            };
            const examined = fileStateOf(lock, entry).then((file) =>
              examine(lock.folder, { ...entry, file }, compare).catch(unknown(file)),
            );
            all.push(await examined.catch(unknown('ok')));
          }
          return all;
        }),
      );
      if (json) return printJson({ contracts: outdated });
      const rows = await Promise.all(outdated.map(rowsFor));
      print(
        rows.flat().length === 0
          ? 'Everything is up to date.'
          : formatTable(['contract', 'current', 'newer', 'range', 'changes'], rows.flat()),
      );
    });
}

/** The message of an error that is expected, whose exit code it sets. */
export function noteProblem(error: unknown): string {
  if (!isRegistryError(error)) throw error;
  process.exitCode ||= exitCodeOf(error.code, error.extra);
  return error.message;
}

async function examine(
  folder: string,
  entry: LockedContract & Pick<Row, 'file'>,
  compare: CompareContracts,
): Promise<Row> {
  const [{ contractBytes, coordinateIn, openContractSource, sha256Of, trustedRegistry }, { extentOf }] =
    await Promise.all([import('./contract-source.ts'), import('./check-contracts.ts')]);
  const trusted = trustedRegistry();
  const source = openContractSource(entry.registry, trusted);
  const history = await source.history(coordinateIn(entry));
  const { inRange, beyond } = newerThan(entry, history);
  const describe = async (version: string | null): Promise<Newer | null> =>
    version === null
      ? null
      : compareWith(version).catch((error: unknown) => ({ version, problem: noteProblem(error) }));
  const compareWith = async (version: string): Promise<Newer> => {
    const current = await source.find(coordinateIn(entry), { kind: 'version', version });
    const named = { ...entry, version, digest: current.digest };
    const next = { ...named, sha256: await sha256Of(named, trusted) };
    const [before, after] = [await contractBytes(entry, trusted, folder), await contractBytes(next, trusted)];
    const comparison = await compare({ entry, bytes: before }, { entry: next, bytes: after });
    const { verdict, counts, reason } = comparison;
    return { version, verdict, counts, reason, ...extentOf(comparison) };
  };
  const listed = history.versions[placeOfLabel(history.versions, entry.version)];
  return {
    ...entry,
    status: listed?.status ?? { state: 'absent' },
    inRange: await describe(inRange),
    beyond: await describe(beyond),
  };
}

function newerThan(
  { version, range }: LockedContract,
  history: SourceHistory,
): Record<'inRange' | 'beyond', string | null> {
  const { versions, latest } = history;
  const read = readerOf(versions);
  const isNewer = (label: string, than: string): boolean => {
    const [one, other] = [read(label), read(than)];
    const difference = one && other ? compareSemanticVersions(one, other) : 0;
    return difference > 0 || (difference === 0 && placeOfLabel(versions, label) > placeOfLabel(versions, than));
  };
  const wanted = selectVersion(history, parseSelector(range)!)?.version.label ?? version;
  const inRange = isNewer(wanted, version) ? wanted : null;
  return { inRange, beyond: latest !== null && isNewer(latest, inRange ?? version) ? latest : null };
}

async function rowsFor({ path, file, contract, version, range, inRange, beyond, status }: Row): Promise<string[][]> {
  const { summaryOfChanges } = await import('./check-contracts.ts');
  const row = (newer: Newer, where: string) => {
    const changes = 'problem' in newer ? newer.problem : summaryOfChanges(newer, newer);
    return [contract, version, newer.version, where, changes];
  };
  const said = {
    active: '',
    absent: 'no longer in the registry',
    unknown: `not known: ${'problem' in status ? status.problem : ''}`,
  };
  const text = said[status.state as keyof typeof said] ?? `${status.state}: ${'reason' in status ? status.reason : ''}`;
  const notes = [text, file === 'ok' ? '' : `${path} is not this version: ${states[file]}`].filter(Boolean);
  return [
    ...notes.map((note) => [contract, version, '', '', note]),
    ...(inRange ? [row(inRange, `in ${range}`)] : []),
    ...(beyond ? [row(beyond, 'beyond')] : []),
  ];
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const padded = lines.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column]!)));
  return padded.map((cells) => cells.join('  ').trimEnd()).join('\n');
}
