import { asSentence } from '../model/states.ts';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { registerHooks, createRequire } from 'node:module';
import { extname, dirname, resolve, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { closest, malformed } from '../model/errors.ts';
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { isNameOfJavaScript } from '../model/json.ts';
import { parsePointer } from '../model/pointer.ts';
import { explainErrors } from '../model/schema-errors.ts';
import type { Config } from '../config.ts';
import type { FilledConfig } from './written.ts';
import { parseVerifierKey } from '../model/transparency/note.ts';
import { parseSite } from '../sites/model/documentation-site.ts';
import { absoluteKeys, assertCredentials } from './credential-config.ts';
import { readEnvironment } from './environment.ts';
import { fillHosts, fillOrganizations } from './organization-config.ts';
import { providersOf } from './login-config.ts';
import { fillStore } from './store-config.ts';
import { homedir } from 'node:os';

/** Where a configuration is looked for, in the folder in which a command runs. */
const fileNames = ['ts', 'js', 'mjs', 'json', 'yaml', 'yml'].map((ending) => `registry.config.${ending}`);

/** The configuration file in the current folder, or null. Throws `malformed` where there are two. */
export function findConfigFile(): string | null {
  const [first, second] = fileNames.filter((name) => existsSync(name));
  if (first !== undefined && second !== undefined)
    throw malformed(`There are two configurations, ${first} and ${second}. Delete one, or choose with --config.`);
  return first ?? null;
}

/**
 * Reads a configuration file: a module with a default export, JSON or YAML. A new `edition` makes Node load a changed module again.
 * Throws `malformed` with the file and, where it is known, the line.
 */
async function readConfigFile(file: string, edition: string): Promise<unknown> {
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
    throw malformed(`${file}${line === undefined ? '' : `:${line}`} cannot be loaded: ${reason.replace(/\.?$/, '.')}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw malformed(
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
  const value: unknown =
    ending === '.json' ? JSON.parse(text.replace(/^\ufeff/, '')) : (await import('yaml')).parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { $schema: _, ...settings } = value as Record<string, unknown>;
  return settings;
}

const schema = JSON.parse(
  readFileSync(new URL('../../content/schemas/config.json', import.meta.url), 'utf8'),
) as WithDefaults;
const options = {
  discriminator: true,
  useDefaults: true,
  allErrors: true,
  strict: false,
  verbose: true,
  meta: false,
  validateSchema: false,
  // Not worth optimizing: the code checks one object.
  code: { optimize: false },
} as const;
/** By the keys that they check. */
const validators = new Map<string, ValidateFunction>();

interface WithDefaults {
  default?: unknown;
  properties?: Record<string, WithDefaults>;
  required?: string[];
}

/** Checks a configuration and fills in the defaults of its keys. Throws `malformed`, naming each key. */
function fillDefaults(value: unknown): FilledConfig {
  const copy = structuredClone(value ?? {}) as Record<string, unknown>;
  const keys = Object.keys(copy);
  assertNames(copy, []);
  if (keys.length > 0) {
    const validate = validators.getOrInsertComputed(keys.join(), () => createValidate(keys));
    if (!validate(copy)) {
      const lines = explainErrors(validate.errors ?? [], copy).map(({ pointer, says }) => {
        const key = parsePointer(pointer).join('.') || 'the configuration';
        return asSentence(`${key} ${says}`);
      });
      throw malformed(`The configuration is invalid: ${lines.join(' ')}`);
    }
  }
  // A section without required keys is there, so that its keys have their defaults.
  for (const [name, { properties, required }] of Object.entries(schema.properties!))
    if (properties && !required) copy[name] ??= {};
  addDefaults(copy, schema);
  return copy as unknown as FilledConfig;
}

/**
 * Loads ajv only to check a configuration, and makes the code for these keys alone: either takes
 * longer than many a command. An unknown key needs the others, to say which was meant.
 */
function createValidate(keys: readonly string[]): ValidateFunction {
  const ajv = createRequire(import.meta.url)('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 };
  const { properties } = schema;
  const isKnown = keys.every((key) => Object.hasOwn(properties!, key));
  const allowed = Object.fromEntries(Object.entries(properties!).filter(([key]) => !isKnown || keys.includes(key)));
  return new ajv.Ajv2020(options).compile({ ...schema, properties: allowed });
}

/** Adds the defaults of a schema's properties, as ajv would. */
function addDefaults(value: Record<string, unknown>, { properties = {} }: WithDefaults): void {
  for (const [name, property] of Object.entries(properties)) {
    if (value[name] === undefined && property.default !== undefined) value[name] = structuredClone(property.default);
    const below = value[name];
    if (typeof below === 'object' && below !== null) addDefaults(below as Record<string, unknown>, property);
  }
}

/** Throws `malformed` for a name that every object has, such as `constructor`: a name in a file is a key of an object. */
function assertNames(value: unknown, path: readonly string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, below] of Object.entries(value)) {
    if (!Array.isArray(value) && isNameOfJavaScript(name)) {
      const place = path.join('.') || 'the configuration';
      throw malformed(
        `The configuration is invalid: ${place} has the key ${JSON.stringify(name)}. Choose another name.`,
      );
    }
    assertNames(below, [...path, name]);
  }
}

/**
 * Loads and checks a configuration; without a `file`, the defaults. `data` is the data folder of
 * the command line (default: `STELE_DATA`, else `.stele`), used if the file names no store. Paths
 * from the shell are relative to the working directory, all others to the file. A new `edition`
 * makes Node load a changed file again. Throws `malformed`, naming the key.
 */
export async function loadConfig(file: string | null, data: string | null, edition = ''): Promise<Config> {
  const base = file === null ? process.cwd() : dirname(resolve(file));
  const typed = data ?? readEnvironment().data;
  return checkConfig(file === null ? {} : await readConfigFile(resolve(file), edition), {
    base,
    data: typed === undefined ? '.stele' : resolve(typed),
  });
}

/**
 * Checks a configuration and fills in the defaults. Relative paths are resolved against `base`.
 * Throws `malformed`.
 */
export function checkConfig(value: unknown, { base, data }: { base: string; data: string }): Config {
  const given = fillDefaults(value);
  const hosts = fillHosts(given.hosts);
  const config: Config = {
    ...given,
    url: given.url?.replace(/\/$/, '') ?? null,
    store: fillStore(given, { base, data }),
    dataFolder: resolve(base, data),
    cacheFolder: resolve(base, data, 'cache'),
    organizations: fillOrganizations(given.organizations ?? {}, base, hosts),
    credentials: absoluteKeys(base, given.credentials ?? {}),
    hosts,
    sites: { previewDays: given.sites.previewDays, hosts: fillSiteHosts(given) },
    secretKey: given.secretKey ?? null,
    publicLog: { key: given.publicLog.key ?? null, witnesses: fillWitnesses(given.publicLog.witnesses) },
    login: given.login ?? null,
    mail: given.mail ?? null,
    trustedPublishing: given.trustedPublishing ?? [],
    sync: { ...given.sync, knownHosts: given.sync.knownHosts ? resolve(base, given.sync.knownHosts) : null },
    templates: given.templates === undefined ? null : resolve(base, given.templates),
    rateLimit: { ...given.rateLimit, organization: given.rateLimit.organization ?? 2 * given.rateLimit.key },
    metrics: given.metrics ? { host: '127.0.0.1', ...given.metrics } : null,
  };
  assertCredentials(config);
  assertOrganizations(config);
  assertIssuers(config);
  return config;
}

/** Throws `malformed` if login or trusted publishers name an organization that is not configured. */
function assertOrganizations({ organizations, login, trustedPublishing }: Config): void {
  const names = Object.keys(organizations);
  if (names.length === 0) return;
  const groups = providersOf(login).flatMap(({ name, organizations: mapped = {} }) =>
    Object.entries(mapped).flatMap(([group, grants]) =>
      grants.map(({ organization }, index) => ({
        key: `login.${name === '' ? '' : `others.${name}.`}organizations.${group}.${index}`,
        organization,
      })),
    ),
  );
  const jobs = trustedPublishing.map(({ organization }, index) => ({
    key: `trustedPublishing.${index}`,
    organization,
  }));
  for (const { key, organization } of [...groups, ...jobs]) {
    if (names.includes(organization)) continue;
    const message = `${key}.organization: ${JSON.stringify(organization)} is not one of \`organizations\`.`;
    throw malformed(`${message}${closest(organization, names)}`);
  }
}

/** Throws `malformed` if two identity providers have one issuer: their people could not be told apart. */
function assertIssuers({ login }: Config): void {
  const issuers = providersOf(login).map(({ issuer }) => issuer);
  const twice = issuers.find((issuer, index) => issuers.indexOf(issuer) < index);
  if (twice === undefined) return;
  throw malformed(`login.others names the issuer ${twice} a second time. Name each one once.`);
}

function fillSiteHosts({ sites, url }: Pick<FilledConfig, 'sites' | 'url'>): Config['sites']['hosts'] {
  const hostname = url === undefined ? null : new URL(url).hostname;
  return Object.fromEntries(
    Object.entries(sites.hosts ?? {}).map(([host, site]) => {
      if (host === hostname) throw malformed(`sites.hosts.${host} is the host of the registry itself.`);
      return [host, parseSite(site)!];
    }),
  );
}

function fillWitnesses(given: Config['publicLog']['witnesses'] = []): Config['publicLog']['witnesses'] {
  for (const [index, { key }] of given.entries())
    if (parseVerifierKey(key)?.algorithm !== 'cosignature')
      throw malformed(
        `publicLog.witnesses[${index}].key is not the Ed25519 verifier key of a witness: ${JSON.stringify(key)}. Ask the operator of the witness for it.`,
      );
  return given.map(({ url, key }) => ({ url: url.replace(/\/+$/, ''), key }));
}

const line = /^(registry|org):[ \t]*(\S+)$/;

/** The registry and the organization of who runs a command: by the environment, else by `~/.stelerc`. */
export function readUserDefaults(): { registry: string | undefined; org: string | undefined } {
  const { registry, org } = readEnvironment();
  const { registry: written, org: ofFile } = registry === undefined || org === undefined ? readDefaults() : {};
  return { registry: registry ?? written, org: org ?? ofFile };
}

/**
 * What `~/.stelerc` says, a line each: `registry: https://contracts.example.com` and `org: acme`. Only the home
 * folder is asked: a file in a repository that somebody cloned would choose who gets their key. Throws `malformed`
 * with the line.
 */
function readDefaults(): { registry?: string; org?: string } {
  const file = join(homedir(), '.stelerc');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  const lines = text.split('\n').map((each) => each.replace(/(?:^|\s)#.*/, '').trim());
  const pairs = lines.flatMap((each, index) => {
    if (each === '') return [];
    const [, name, value] = line.exec(each) ?? [];
    if (name !== undefined) return [[name, value]];
    const advice = 'Use registry: https://contracts.example.com and org: acme, each on a line.';
    throw malformed(`${file}:${index + 1} is not a setting. ${advice}`);
  });
  return Object.fromEntries(pairs) as ReturnType<typeof readDefaults>;
}
