import { withoutRegistry } from '../../compile/reference.ts';
import { Command, Option } from 'commander';
import { bytesIn, type Compiled, type Compiler, type GivenRuleset } from '../../compile/compile.ts';
import type { RepositoryReader, SettingsDefaults, SettingsResource } from '../../compile/sandboxes.ts';
import type { Config } from '../../config.ts';
import { blockingIn, createReport, isBlocking, type Report, type Severity } from '../../model/problem.ts';
import { openFolder } from '../../source/folder.ts';
import {
  isCoordinate,
  withCompiler,
  type CommonOptions,
  requireCoordinate,
  withRegistryToRead,
} from '../command-context.ts';
import { complain, print, printJson, withProgress, formatReport, adviseRepository, seenFromHere } from '../output.ts';
import { formatLint, lintFormats, type LintFormat } from './finding-formats.ts';
import { posix } from 'node:path';
import { refused } from '../../model/errors.ts';
import { createPathGlob, isPathGlob } from '../../model/glob.ts';
import type { Snapshot } from '../../source/snapshot.ts';
import { digestOf } from '../../model/digest.ts';
import { fetchDocument, isUrl, openDocument, urlIn } from './fetch-document.ts';

export interface LintOptions extends CommonOptions {
  ruleset?: string;
  registry?: string;
  format: LintFormat;
  lenient?: boolean;
}

/** `stele lint FILE…`: prints the report that publishing would produce. Writes nothing. */
export function lintCommand(): Command {
  return new Command('lint')
    .description('Check files and print the report, without publishing them.')
    .argument('<files...>', 'documents, in JSON or YAML; - is standard input')
    .option('--ruleset <ruleset>', 'coordinate, file or URL of the ruleset to check against')
    .option('--registry <url>', 'read coordinates of rulesets from this registry, with the key in STELE_KEY')
    .option('--lenient', 'report violations of the specification as warnings')
    .addOption(new Option('--format <format>', 'output format').choices(lintFormats).default('text'))
    .action(async (paths: string[], _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<LintOptions>();
      const { report, files } = await withCompiler(command, async (compiler, config) => {
        const ruleset =
          options.ruleset === undefined
            ? null
            : await rulesetNamed(command, compiler, config, options.ruleset, options.registry);
        const checked: Pick<Compiled, 'report' | 'files'>[] = [];
        for (const path of new Set(paths)) checked.push(await lint(compiler, config, path, ruleset, options));
        return { report: reportOf(checked.map((one) => one.report)), files: checked.flatMap((one) => one.files) };
      });
      if (isBlocking(report)) process.exitCode = 1;
      if (options.json) return printJson(report);
      const text = formatLint(report, options.format, files);
      if (text !== '') print(text);
      else complain('No problems.');
    });
}

function reportOf(reports: readonly Report[]): Report {
  const [first, ...more] = reports;
  if (first !== undefined && more.length === 0) return first;
  const whole = createReport(reports.flatMap(({ problems }) => problems));
  const sum = (severity: Severity) => reports.reduce((total, { counts }) => total + counts[severity], 0);
  const gate = reports.find((report) => report.gate !== undefined)?.gate;
  return {
    ...whole,
    counts: { error: sum('error'), warning: sum('warning'), info: sum('info') },
    truncated: whole.truncated || reports.some(({ truncated }) => truncated),
    blocking: reports.reduce((total, report) => total + blockingIn(report), 0),
    exempted: reports.flatMap(({ exempted = [] }) => exempted),
    ...(gate && { gate }),
  };
}

async function lint(
  compiler: Compiler & RepositoryReader,
  config: Config,
  file: string,
  ruleset: GivenRuleset | null,
  { lenient, format, json }: LintOptions,
): Promise<Pick<Compiled, 'report' | 'files'>> {
  const { limits } = config;
  const { snapshot, entry, root, isRepository } = await openDocument(file, limits);
  const settings = await settingsFor(compiler, config, snapshot, entry);
  if (ruleset === null && settings?.ruleset !== undefined)
    complain(
      `stele.yaml names the ruleset ${settings.ruleset}. To check against it, add --ruleset ${settings.ruleset}.`,
    );
  const today = new Date().toISOString().slice(0, 10);
  const { blockOn, exemptions = [] } = settings ?? {};
  const gate = { blockOn: blockOn ?? 'error', exemptions, today, known: null };
  const validation = lenient ? 'lenient' : (settings?.validation ?? 'strict');
  // The user's own: it runs here without a switch.
  const code = { date: snapshot.committedAt ?? today };
  const asked = { type: null, entry, validation, ruleset, code, ...(ruleset !== null && { gate }) };
  const input = { ...asked, limits, reportOnly: true };
  const compiled = await withProgress(`Checking ${entry}`, () => compiler.compile(input, withoutRegistry(snapshot)));
  adviseRepository(file, compiled.report, isRepository);
  const isForPeople = json !== true && (format === 'text' || format === 'lines');
  return isForPeople ? seenFromHere(root, compiled.report, compiled.files) : compiled;
}

/**
 * The settings for a file in the nearest `stele.yaml`: beside it or in a folder above. Null if it
 * has none. An entry that names the file wins over patterns, then the first pattern (as in `plan/`).
 * Throws `refused` for an invalid `stele.yaml`.
 */
async function settingsFor(
  compiler: RepositoryReader,
  { limits }: Config,
  snapshot: Snapshot,
  entry: string,
): Promise<(SettingsDefaults & Pick<SettingsResource, 'exemptions'>) | null> {
  const settingsFile = (await snapshot.read(foldersOf(entry).map((folder) => posix.join(folder, 'stele.yaml')))).find(
    (file) => file.found,
  );
  if (settingsFile === undefined) return null;
  const { settings, report } = await compiler.readSettings(settingsFile, limits);
  if (settings === null) throw refused(`${settingsFile.path} is not valid:\n${formatReport(report)}`);
  const path = posix.relative(posix.dirname(settingsFile.path), entry);
  const named = settings.resources.find((one) => !isPathGlob(one.path) && posix.normalize(one.path) === path);
  const matches = (one: SettingsResource) =>
    isPathGlob(one.path) && createPathGlob(posix.normalize(one.path))(path) !== null;
  return { ...settings.defaults, ...(named ?? settings.resources.find(matches)) };
}

/** The folders that a file is in, the nearest first. */
function foldersOf(path: string): string[] {
  const parent = posix.dirname(path);
  return parent === '.' ? [''] : [parent, ...foldersOf(parent)];
}

/**
 * A ruleset by its coordinate, file or URL, with all that it extends. Coordinates are looked up in
 * the data folder, or in the registry at a URL. Throws `refused` for an invalid ruleset.
 */
async function rulesetNamed(
  command: Command,
  compiler: Compiler,
  config: Config,
  name: string,
  registry: string | undefined,
): Promise<GivenRuleset> {
  const find: (name: string) => Promise<GivenRuleset> =
    registry === undefined
      ? (coordinate) => findHere(command, coordinate)
      : (coordinate) => read(compiler, config, urlIn(registry, coordinate), coordinate, registry);
  if (isCoordinate(name)) requireCoordinate(name);
  const ruleset = isCoordinate(name) ? await find(name) : await read(compiler, config, name, name, registry);
  const { resolveExtended } = await import('../../registry/gate/ruleset-gate.ts');
  const extended = await resolveExtended(ruleset.name, ruleset.json, find);
  return { ...ruleset, ...(extended !== null && { extended }) };
}

async function findHere(command: Command, name: string): Promise<GivenRuleset> {
  const { coordinate } = requireCoordinate(name);
  const { findRuleset } = await import('../../registry/gate/ruleset-gate.ts');
  return withRegistryToRead(command, (registry) => findRuleset(registry, coordinate.org, name));
}

async function read(
  compiler: Compiler,
  { limits }: Config,
  place: string,
  name: string,
  registry: string | undefined,
): Promise<GivenRuleset> {
  const { snapshot, entry } = isUrl(place)
    ? await fetchDocument(place, limits.fileBytes, registry)
    : await openFolder(place, limits);
  const input = { type: 'rulesets', entry, validation: 'strict', ruleset: null, limits, code: { date: null } } as const;
  const { artifact, report } = await compiler.compile(input, withoutRegistry(snapshot));
  if (artifact === null) throw refused(`${name} is not a valid ruleset:\n${formatReport(report)}`);
  const json = bytesIn(artifact, 'json');
  return { digest: digestOf(json), name, json: Buffer.from(json).toString() };
}
