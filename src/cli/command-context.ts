import { existsSync, statSync } from 'node:fs';
import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { loadConfig, findConfigFile } from '../config/load-config.ts';
import { organizationIn, type RepositoryConfig } from '../config/organization-config.ts';
import { isResourceType, parseCoordinate, slugFrom, type Coordinate, type Selector } from '../model/address.ts';
import { codeOf, malformed, notFound } from '../model/errors.ts';
import { timeOf } from '../model/time.ts';
import type { Sandboxes } from '../compile/sandboxes.ts';
import type { OpenRegistry } from '../open.ts';
import type { Author } from '../registry/registry.ts';

/** Options of every command. */
export interface CommonOptions {
  config?: string;
  data?: string;
  cache?: string;
  json?: boolean;
}

/** The author recorded for changes that a command makes to the data folder. */
export const operator: Author = { actor: 'operator:cli', origin: 'cli' };

/**
 * Loads the configuration named by `--config`, else the one in the current folder, else the
 * defaults. `edition` is that of `loadConfig`. `--data` is the store, whatever the configuration
 * names. Throws `malformed` where it holds none beside that one, unless the command `fills` it: a
 * slip of the pen starts no second registry.
 */
export async function readConfig(command: Command, { edition = '', fills = false } = {}): Promise<Config> {
  const { data, cache } = command.optsWithGlobals<CommonOptions>();
  const loaded = await loadConfig(configFile(command), data ?? null, edition);
  if (cache !== undefined && statSync(cache, { throwIfNoEntry: false })?.isDirectory() === false)
    throw malformed(`${cache} is not a folder. Check --cache.`);
  const config = cache === undefined ? loaded : { ...loaded, cacheFolder: resolve(cache) };
  if (data === undefined) return config;
  const [store, path] = [config.store, resolve(data)];
  if ('path' in store && store.path === path) return config;
  if (!fills && !(await holdsStore(path))) {
    const named = 'path' in store ? store.path : `the bucket ${store.bucket}`;
    const advice = 'Leave out --data for that one. The folder of mirrors and rendered pages is --cache.';
    throw malformed(`${path} holds no store; the configuration names ${named}. ${advice}`);
  }
  return { ...config, store: { kind: 'fs', path } };
}

/**
 * Returns the configuration file, or null. Throws `malformed` when `--config` names a missing file.
 */
export function configFile(command: Command): string | null {
  const { config } = command.optsWithGlobals<CommonOptions>();
  if (config !== undefined && !existsSync(config))
    throw malformed(`Configuration file not found: ${config}. Check --config.`);
  return config ?? findConfigFile();
}

/** Opens the registry for one command and closes it afterwards. */
export async function withRegistry<T>(command: Command, work: (registry: OpenRegistry) => Promise<T>): Promise<T> {
  return withOpen(await readConfig(command), work);
}

/** Commands print; they do not log. */
async function withOpen<T>(config: Config, work: (registry: OpenRegistry) => Promise<T>): Promise<T> {
  const { openRegistry } = await import('../open.ts');
  const registry = await openRegistry(config, () => undefined, { isForeground: true });
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}

/** Opens a registry with a data folder that goes afterwards. `storeIn`: its store, by that folder. */
export async function withScratch<T>(
  config: Config,
  storeIn: (folder: string) => string,
  work: (registry: OpenRegistry) => Promise<T>,
): Promise<T> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'stele-'));
  const store = { kind: 'fs', path: storeIn(dataFolder) } as const;
  try {
    return await withOpen({ ...config, store, dataFolder, cacheFolder: join(dataFolder, 'cache') }, work);
  } finally {
    await rm(dataFolder, { recursive: true, force: true });
  }
}

/**
 * As `withRegistry`, for a command about what a store has. Throws `not_found` where there is none,
 * so that a mistyped `--data`, or a disk that is not mounted, is not an empty store.
 */
export async function withStore<T>(command: Command, work: (registry: OpenRegistry) => Promise<T>): Promise<T> {
  const { store } = await readConfig(command);
  if ('path' in store && !(await holdsStore(store.path))) throw notFound(`${store.path} holds no store. Check --data.`);
  return withRegistry(command, work);
}

/**
 * Whether a folder holds a store of any format, or an incomplete copy. Opening a bucket would make the folder. One that
 * cannot be read is no empty one: opening its bucket says why.
 */
export async function holdsStore(folder: string): Promise<boolean> {
  const { signs } = await import('../store/format.ts');
  const isThere = (sign: string) =>
    lstat(join(folder, sign)).then(
      () => true,
      (error: unknown) => !['ENOENT', 'ENOTDIR'].includes(codeOf(error)),
    );
  return (await Promise.all(signs.map(isThere))).includes(true);
}

/**
 * Opens the registry for a command that only reads. Where there is no data folder, the registry is
 * empty, and nothing stays behind. `adjust` changes the configuration.
 */
export async function withRegistryToRead<T>(
  command: Command,
  work: (registry: OpenRegistry) => Promise<T>,
  adjust = (config: Config) => config,
): Promise<T> {
  const config = adjust(await readConfig(command));
  const isThere = !('path' in config.store) || existsSync(config.store.path);
  return isThere ? withOpen(config, work) : withScratch(config, (folder) => join(folder, 'store'), work);
}

/** Runs the work with a compiler and no store, so that nothing is written. */
export async function withCompiler<T>(
  command: Command,
  work: (compiler: Sandboxes, config: Config) => Promise<T>,
): Promise<T> {
  const [config, { openLocalCompiler }] = await Promise.all([
    readConfig(command),
    import('../compile/sandbox/local-compiler.ts'),
  ]);
  const compiler = openLocalCompiler(config.sandbox, { isForeground: true });
  compiler.prepare(config.limits);
  try {
    return await work(compiler, config);
  } finally {
    await compiler.close();
  }
}

/** Parses a date or a time of RFC 3339. Throws `malformed`. */
export function requireDate(text: string): string {
  const time = timeOf(text);
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw malformed(`${JSON.stringify(text)} is not a date. Use a date such as 2025-01-31.`);
}

/** The configuration with these repositories in an organization, beside those that it follows. */
export function withRepositories(config: Config, org: string, added: readonly RepositoryConfig[]): Config {
  const organization = organizationIn(config, org) ?? { repositories: [], owners: [], defaults: {} };
  const repositories = [...organization.repositories, ...added];
  return { ...config, organizations: { ...config.organizations, [org]: { ...organization, repositories } } };
}

/** Whether an argument is a coordinate, and no file. */
export function isCoordinate(name: string): boolean {
  return name.startsWith('@') && !existsSync(name);
}

/** Parses a coordinate. Throws `malformed`, with a suggestion. */
export function requireCoordinate(text: string): { coordinate: Coordinate; selector: Selector } {
  const parsed = parseCoordinate(text);
  if (parsed === null) {
    const better = coordinateFrom(text);
    throw malformed(
      `${JSON.stringify(text)} is not a coordinate. Use ${better ?? '@org/apis/slug, @org/schemas/slug or @org/rulesets/slug'}.`,
    );
  }
  return parsed;
}

function coordinateFrom(text: string): string | null {
  const [, org, type, written] = /^@([^/]+)\/([a-z]+)\/([^/@]+)$/.exec(text) ?? [];
  const slug = slugFrom(written ?? '');
  if (!isResourceType(type ?? '') || slug === null || slug === written) return null;
  const better = `@${org}/${type}/${slug}`;
  return parseCoordinate(better) === null ? null : better;
}
