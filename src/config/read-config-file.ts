import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { RegistryError } from '../model/errors.ts';

/** Where a configuration is looked for, in the folder in which a command runs. */
const names = ['ts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((ending) => `registry.config.${ending}`);

/** The configuration file in the current folder, or null. Throws `malformed` where there are two. */
export function findConfigFile(): string | null {
  const [first, second] = names.filter((name) => existsSync(name));
  if (first !== undefined && second !== undefined)
    throw new RegistryError(
      'malformed',
      `There are two configurations, ${first} and ${second}. Delete one, or choose with --config.`,
    );
  return first ?? null;
}

/**
 * Reads a configuration file: a module with a default export, JSON or YAML. A new `edition` makes Node load a changed module again.
 * Throws `malformed` with the file and, where it is known, the line.
 */
export async function readConfigFile(file: string, edition: string): Promise<unknown> {
  const ending = extname(file);
  const isModule = !/^\.(?:json|ya?ml)$/.test(ending);
  let value: unknown;
  try {
    value = isModule
      ? await importDefault(`${pathToFileURL(file).href}${edition === '' ? '' : `?${edition}`}`)
      : await parseData(await readFile(file, 'utf8'), ending);
  } catch (error) {
    // The `yaml` package shows the place in lines of their own.
    const reason = (error instanceof Error ? error.message : String(error)).replace(/:\n\n.*/s, '');
    // Node puts the line of a syntax error only into the stack.
    const line = isModule && error instanceof SyntaxError ? /^.*:(\d+)\n/.exec(error.stack ?? '')?.[1] : undefined;
    throw new RegistryError(
      'malformed',
      `${file}${line === undefined ? '' : `:${line}`} cannot be loaded: ${reason.replace(/\.?$/, '.')}`,
    );
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new RegistryError(
    'malformed',
    isModule
      ? `${file} has no default export. Add export default defineConfig({ … }).`
      : `${file} is not an object with keys such as "url" and "organizations".`,
  );
}

const packageNames = new Set(['@stele-registry/stele', 'stele']);

/** This program's `defineConfig`, for configurations that import it by the package's name: nothing need be installed beside them. */
const ownModule = new URL(`../config.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url).href;

async function importDefault(url: string): Promise<unknown> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      packageNames.has(specifier) ? { url: ownModule, shortCircuit: true } : next(specifier, context),
    // Whatever `type` the package.json beside it has: npm writes "commonjs".
    load: (loaded, context, next) => next(loaded, loaded === url ? { ...context, format: formatOf(url) } : context),
  });
  try {
    return ((await import(url)) as { default?: unknown }).default;
  } finally {
    hooks.deregister();
  }
}

/** The format of a configuration that is an ES module by its text, whatever its package says. */
function formatOf(url: string): string | undefined {
  const file = fileURLToPath(url);
  if (!/^\s*(?:import|export)\b/m.test(readFileSync(file, 'utf8'))) return undefined;
  return file.endsWith('.ts') ? 'module-typescript' : 'module';
}

/** `$schema` is for editors. */
async function parseData(text: string, ending: string): Promise<unknown> {
  const value: unknown = ending === '.json' ? JSON.parse(text) : (await import('yaml')).parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { $schema: _, ...settings } = value as Record<string, unknown>;
  return settings;
}
