import { Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import type { Compiler, Published } from '../compile/compile.ts';
import type { Config } from '../config.ts';
import { isAtLeast, type Comparison, type Verdict } from '../model/comparison.ts';
import { RegistryError } from '../model/errors.ts';
import { selectVersion } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import { openFolder } from '../source/folder.ts';
import { requireCoordinate, withCompiler, withRegistryToRead } from './command-context.ts';
import { diffFormats, formatDiff, type DiffFormat } from './diff-formats.ts';
import { print, printJson, withProgress } from './output.ts';
import { formatLint } from './report-formats.ts';

interface DiffOptions {
  failOn?: Extract<Verdict, 'breaking' | 'unknown' | 'risky'>;
  format: DiffFormat;
  json?: boolean;
}

/** `stele diff BEFORE AFTER`: prints what changed between two documents. Writes nothing. */
export function diffCommand(): Command {
  return new Command('diff')
    .description('Compare two documents, and say what breaks their clients.')
    .argument('<before>', 'a file, or the coordinate of a version in the data folder')
    .argument('<after>', 'a file, or the coordinate of a version in the data folder')
    .addOption(
      new Option('--fail-on <verdict>', 'exit with 1 if a change has this verdict or a worse one').choices([
        'breaking',
        'unknown',
        'risky',
      ]),
    )
    .addOption(new Option('--format <format>', 'output format').choices(diffFormats).default('text'))
    .action(async (before: string, after: string, _options: unknown, command: Command) => {
      const { failOn, format, json } = command.optsWithGlobals<DiffOptions>();
      const comparison = await compare(command, before, after);
      if (json === true) printJson(comparison);
      else print(formatDiff(comparison, format));
      if (failOn !== undefined && isAtLeast(comparison.verdict, failOn)) process.exitCode = 1;
    });
}

async function compare(command: Command, before: string, after: string): Promise<Comparison> {
  const run = async (compiler: Compiler, { limits }: Config, registry: Registry | null): Promise<Comparison> => {
    const one = await documentNamed(before, compiler, limits, registry);
    const other = await documentNamed(after, compiler, limits, registry);
    return withProgress('Comparing', () => compiler.compare(one, other, limits));
  };
  if (![before, after].some(isCoordinate))
    return withCompiler(command, (compiler, config) => run(compiler, config, null));
  const same = (config: Config) => config;
  return withRegistryToRead(command, same, (registry) => run(registry.compiler, registry.config, registry));
}

function isCoordinate(name: string): boolean {
  return name.startsWith('@') && !existsSync(name);
}

async function documentNamed(
  name: string,
  compiler: Compiler,
  limits: Config['limits'],
  registry: Registry | null,
): Promise<Published> {
  if (registry !== null && isCoordinate(name)) return publishedDocument(registry, name);
  const { snapshot, entry } = await openFolder(name, limits);
  const input = { type: null, entry, validation: 'lenient', ruleset: null, limits } as const;
  const { artifact, report } = await withProgress(`Reading ${entry}`, () =>
    compiler.compile(input, (paths) => snapshot.read(paths)),
  );
  if (artifact === null)
    throw new RegistryError('refused', `${name} is not a valid document:\n${formatLint(report, 'text')}`);
  const { publishedAs } = await import('../registry/changes/compare-versions.ts');
  return publishedAs(artifact);
}

async function publishedDocument(registry: Registry, name: string): Promise<Published> {
  const { coordinate, selector } = requireCoordinate(name);
  const { findResource } = await import('../registry/find-resource.ts');
  const { readPublished } = await import('../registry/derived.ts');
  const resource = await findResource(registry, coordinate);
  const version = resource && selectVersion(resource, selector)?.version;
  if (!version) throw new RegistryError('not_found', `There is no version ${name} in the data folder.`);
  if (version.status.state === 'withdrawn') throw new RegistryError('gone', `${name} was withdrawn.`);
  return readPublished(registry, version);
}
