import { withoutRegistry } from '../../compile/reference.ts';
import { Command, Option } from 'commander';
import type { Compiled, Compiler, GivenRuleset } from '../../compile/compile.ts';
import type { RepositoryReader } from '../../compile/repository-reader.ts';
import type { Config } from '../../config.ts';
import { blockingIn, createReport, isBlocking, type Report, type Severity } from '../../model/problem.ts';
import { openFolder } from '../../source/folder.ts';
import { withCompiler, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson, withProgress } from '../output.ts';
import { adviseRepository } from './advise-repository.ts';
import { rulesetNamed } from './ruleset-named.ts';
import { formatLint, lintFormats, type LintFormat } from './report-formats.ts';
import { settingsFor } from './settings-for.ts';

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
    .argument('<files...>')
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
        const checked: Compiled[] = [];
        for (const path of new Set(paths)) checked.push(await lint(compiler, config, path, ruleset, options));
        return { report: reportOf(checked.map((one) => one.report)), files: checked.flatMap((one) => one.files) };
      });
      if (isBlocking(report)) process.exitCode = 1;
      if (options.json) return printJson(report);
      const text = formatLint(report, options.format, files);
      if (text !== '') print(text);
    });
}

/** The reports of several files as one. */
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
  { lenient }: LintOptions,
): Promise<Compiled> {
  const { limits } = config;
  const { snapshot, entry, isRepository } = await openFolder(file, limits);
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
  return compiled;
}
