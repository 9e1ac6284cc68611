import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { loadConfig, type Config } from '../config.ts';
import { isResourceType, parseCoordinate, slugFrom, type Coordinate, type Selector } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import type { Compiler } from '../compile/compile.ts';
import { openLocalCompiler, openRegistry, type OpenRegistry } from '../open.ts';
import type { Author, Log } from '../registry/registry.ts';

/** The options that every command takes. */
export interface CommonOptions {
  config?: string;
  data?: string;
  json?: boolean;
}

/** Who changes the store through its data folder. */
export const operator: Author = { actor: 'operator:cli', origin: 'cli' };

/** The configuration that the command line names, else `registry.config.ts` where there is one, else the defaults. `edition` as `loadConfig` has it. */
export async function readConfig(command: Command, edition = ''): Promise<Config> {
  return loadConfig(configFile(command), command.optsWithGlobals<CommonOptions>().data ?? null, edition);
}

/** The file of the configuration; null where there is none. Refuses with `malformed` where the command line names one that is not there. */
export function configFile(command: Command): string | null {
  const { config } = command.optsWithGlobals<CommonOptions>();
  if (config !== undefined && !existsSync(config))
    throw new RegistryError('malformed', `There is no configuration ${config}.`);
  return config ?? (existsSync('registry.config.ts') ? 'registry.config.ts' : null);
}

/** Opens the registry for one command, and closes it after. Commands log nothing: they print. */
export async function withRegistry<T>(command: Command, work: (registry: OpenRegistry) => Promise<T>): Promise<T> {
  const registry = await openRegistry(await readConfig(command), quiet);
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}

/** Runs the work with a compiler and without a store: nothing is written anywhere. */
export async function withCompiler<T>(
  command: Command,
  work: (compiler: Compiler, config: Config) => Promise<T>,
): Promise<T> {
  const config = await readConfig(command);
  const compiler = openLocalCompiler(config);
  try {
    return await work(compiler, config);
  } finally {
    await compiler.close();
  }
}

const quiet: Log = () => undefined;

/** Reads a coordinate as it was typed. Refuses with `malformed`. */
export function requireCoordinate(text: string): { coordinate: Coordinate; selector: Selector } {
  const parsed = parseCoordinate(text);
  if (parsed === null) {
    const better = coordinateFrom(text);
    throw new RegistryError(
      'malformed',
      `${JSON.stringify(text)} is not a coordinate. Write ${better ?? '@org/apis/slug, @org/schemas/slug or @org/rulesets/slug'}.`,
    );
  }
  return parsed;
}

/** A coordinate of this organization and type whose slug will do; null where the slug is not what is wrong. */
function coordinateFrom(text: string): string | null {
  const [, org, type, written] = /^@([^/]+)\/([a-z]+)\/([^/@]+)$/.exec(text) ?? [];
  const slug = slugFrom(written ?? '');
  if (!isResourceType(type ?? '') || slug === null || slug === written) return null;
  const better = `@${org}/${type}/${slug}`;
  return parseCoordinate(better) === null ? null : better;
}
