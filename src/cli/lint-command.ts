import { Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import type { Compiler, GivenRuleset } from '../compile/compile.ts';
import type { Config } from '../config.ts';
import { digestOf } from '../model/digest.ts';
import { RegistryError } from '../model/errors.ts';
import type { Validation } from '../model/problem.ts';
import { isBlocking, type Report } from '../model/problem.ts';
import { openFolder } from '../source/folder.ts';
import { requireCoordinate, withCompiler, withRegistry } from './command-context.ts';
import { print, printJson, withProgress } from './output.ts';
import { formatLint, lintFormats, type LintFormat } from './report-formats.ts';

interface LintOptions {
  ruleset?: string;
  format: LintFormat;
  lenient?: boolean;
  json?: boolean;
}

/** `stele lint FILE`: prints the report that publishing would produce. Writes nothing. */
export function lintCommand(): Command {
  return new Command('lint')
    .description('Check a file and print the report, without publishing it.')
    .argument('<file>')
    .option('--ruleset <ruleset>', 'coordinate or file of the ruleset to check against')
    .option('--lenient', 'report violations of the specification as warnings')
    .addOption(new Option('--format <format>', 'output format').choices(lintFormats).default('text'))
    .action(async (file: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<LintOptions>();
      const report = await withCompiler(command, async (compiler, config) => {
        const ruleset =
          options.ruleset === undefined ? null : await readRuleset(command, compiler, config, options.ruleset);
        return lint(compiler, config, file, ruleset, options.lenient ? 'lenient' : 'strict');
      });
      if (isBlocking(report)) process.exitCode = 1;
      if (options.json) return printJson(report);
      const text = formatLint(report, options.format);
      if (text !== '') print(text);
    });
}

async function lint(
  compiler: Compiler,
  { limits }: Config,
  file: string,
  ruleset: GivenRuleset | null,
  validation: Validation,
): Promise<Report> {
  const { snapshot, entry } = await openFolder(file, limits);
  const input = { type: null, entry, validation, ruleset, limits };
  const compiled = await withProgress(`Checking ${entry}`, () =>
    compiler.compile(input, (paths) => snapshot.read(paths)),
  );
  return compiled.report;
}

/** Reads a ruleset from the data folder or from a file. Throws `refused` for an invalid ruleset. */
async function readRuleset(
  command: Command,
  compiler: Compiler,
  { limits }: Config,
  name: string,
): Promise<GivenRuleset | null> {
  if (name.startsWith('@') && !existsSync(name)) {
    const { coordinate } = requireCoordinate(name);
    const { resolveRuleset } = await import('../registry/gate/gate.ts');
    return withRegistry(command, (registry) => resolveRuleset(registry, coordinate.org, name));
  }
  const { snapshot, entry } = await openFolder(name, limits);
  const input = { type: 'rulesets', entry, validation: 'strict', ruleset: null, limits } as const;
  const { artifact, report } = await compiler.compile(input, (paths) => snapshot.read(paths));
  if (artifact === null)
    throw new RegistryError('refused', `${name} is not a valid ruleset:\n${formatLint(report, 'text')}`);
  const json = artifact.representations.find(({ format, coding }) => format === 'json' && coding === 'identity')!.bytes;
  return { digest: digestOf(json), name, json: Buffer.from(json).toString() };
}
