/** Over 300 lines because the types, defaults and checks of the configuration belong together. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Ajv2020, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import type { CompileLimits } from './compile/compile.ts';
import type { Scope } from './model/access.ts';
import { hostKinds, publicUrls, type HostKind } from './hosts/host.ts';
import { closest } from './model/closest.ts';
import { RegistryError } from './model/errors.ts';
import { parseOwnerPattern, type OwnerFilter } from './model/owner.ts';
import type { GateSettings } from './model/gate.ts';
import type { Validation } from './model/problem.ts';
import type { Visibility } from './model/access.ts';
import { parseSite, type SiteName } from './model/sites/documentation-site.ts';
import type { Credential } from './source/source.ts';

/** The name of an environment variable that holds a secret. */
export interface SecretName {
  env: string;
}

/** A repository to follow. Its documents are found by their content. */
export interface RepositoryConfig {
  url: string;
  branch?: string;
  path?: string;
  credential?: string;
  visibility?: Visibility;
  validation?: Validation;
  /** Default: `branch`. */
  versions?: 'branch' | 'tags';
}

/** All repositories of an owner on a git host to follow, as far as the filter goes. */
export interface OwnerConfig extends Omit<RepositoryConfig, 'url'>, OwnerFilter {
  /** Name of the host in `hosts`. */
  host: string;
  /** `acme/*`, as configured. */
  pattern: string;
  /** The owner in it. */
  owner: string;
  /** Whether the groups in the owner's belong to it. */
  isDeep: boolean;
}

export interface OrganizationConfig {
  name?: string;
  /** Absolute path of an SVG or PNG file for its pages. */
  logo?: string;
  /** Colors of links and buttons on its pages, as `#rrggbb`. */
  accent?: { light: string; dark: string };
  /** In place of those of the registry. */
  embedOrigins?: string[];
  /** Hosts whose images its pages show: `cdn.acme.com`. */
  images?: string[];
  repositories: RepositoryConfig[];
  owners: OwnerConfig[];
  defaults: { visibility?: Visibility; ruleset?: string; validation?: Validation } & GateSettings;
}

export interface LoginConfig {
  issuer: string;
  clientId: string;
  clientSecret: SecretName;
  sessionSecret: SecretName;
  scope: string;
  claim: string;
  organizations?: Record<string, { organization: string; scopes: Scope[]; resources?: string[] }[]>;
  lifetime: number;
}

/** One git host: where its API is and the secret that verifies its webhooks. */
export interface HostConfig {
  kind: HostKind;
  /** Base URL of its repositories, without a trailing slash; null for the public service. */
  url: string | null;
  apiUrl: string | null;
  webhookSecret: SecretName | null;
}

export type CredentialConfig = (
  | { env: string; username: string; host?: string }
  | { sshKeyFile: string }
  | { githubApp: { appId: number | string; privateKeyFile: string } }
) & {
  /**
   * Organizations whose connections may use it; `'*'` for all. Default: those whose configured
   * repositories name it.
   */
  organizations?: '*' | string[];
};

/**
 * A CI job whose token is exchanged for a key. Absent members are not checked unless they have a
 * default.
 */
export interface TrustedPublisher {
  issuer: string;
  /** Default: the registry's URL. */
  audience?: string;
  organization: string;
  repository: string;
  /** Ids of the repository and its owner. Default: those of the first accepted job. */
  repositoryId?: string;
  ownerId?: string;
  /** Full, such as `refs/heads/main`. */
  ref?: string;
  refType?: 'branch' | 'tag';
  /** Default: true without `ref`. */
  refProtected?: boolean;
  /** File that starts the run: a path at the job's own ref, or a full name with `@` and a ref. */
  workflow?: string;
  /** File that defines the job. Default: `workflow`. */
  jobWorkflow?: string;
  environment?: string;
  /** Events that may start the job. Default: those that need write access to the repository. */
  events?: string[];
  /** Whether the job may run for a merge request from a fork. Default: false. */
  forks?: boolean;
  scopes: Scope[];
  resources?: string[];
}

/** How to purge a CDN. Set by the operator, so any address is allowed. */
export interface PurgeConfig {
  url: string;
  /** Header that carries the token: `Authorization` as a bearer token, any other as it is. */
  header: string;
  token: SecretName | null;
  /** Member of the JSON body that holds the cache keys. */
  member: string;
  /** Additional members of the body. */
  body: Record<string, unknown>;
}

/** A bucket on Amazon S3 or a service like it. */
export interface S3Config {
  kind: 's3';
  bucket: string;
  /** Without slashes at its ends; empty for the whole bucket. */
  prefix: string;
  /** Null: Amazon S3. */
  endpoint: string | null;
  region: string | null;
  pathStyle: boolean;
  /** Null: the credentials that the AWS SDK finds in the environment. */
  credentials: { accessKeyId: SecretName; secretAccessKey: SecretName } | null;
}

/**
 * The configuration with all defaults filled in and all paths absolute.
 * `content/schemas/config.json` describes each key.
 */
export interface Config {
  url: string | null;
  store: { kind: 'fs'; path: string } | S3Config;
  /** Folder of mirrors and derived files. It can be deleted at any time. */
  cacheFolder: string;
  organizations: Record<string, OrganizationConfig>;
  credentials: Record<string, CredentialConfig>;
  /** By name. Every kind has a host of its own name; `url` tells whether it is anywhere. */
  hosts: Record<string, HostConfig>;
  webhooks: { allowPrivateAddresses: boolean };
  sites: {
    /** Documentation sites at host names of their own, by that name in lower case. */ hosts: Record<string, SiteName>;
  };
  pulls: { comments: boolean; /** Days for which previews stay; 0: none. */ previewDays: number };
  /** Seals the secrets in the store; null: the registry's own key does. */
  secretKey: SecretName | null;
  login: LoginConfig | null;
  trustedPublishing: TrustedPublisher[];
  sync: {
    interval: number;
    concurrency: number;
    hosts: string[];
    allowLocalRepositories: boolean;
    /** Absolute path. Null: the known_hosts files of the account and the machine. */
    knownHosts: string | null;
    timeLimit: number;
    sizeLimit: number;
  };
  limits: CompileLimits & { treeEntries: number };
  /** Isolation of the parser: bwrap if it works, always bwrap, or only Node's permission model. */
  sandbox: 'auto' | 'bwrap' | 'node';
  cache: {
    pinned: number;
    latest: number;
    /** Lifetime in seconds for shared caches that are purged; null: the same as for all others. */
    shared: number | null;
    purge: PurgeConfig | null;
  };
  /** Folder of templates that replace Stele's own, or null. */
  templates: string | null;
  rateLimit: { window: number; key: number; address: number; failures: number; reads?: number };
  proxies: number;
  /** Origins whose pages may show references in frames: `https://docs.example.com`. */
  embedOrigins: string[];
  /** Maximum number of open connections to the server. */
  connections: number;
  /** Days for which kinds of records that expire are kept after their last change. */
  retention: Partial<Record<string, number>>;
  log: { level: 'debug' | 'info' | 'warn' | 'error' | 'silent' };
}

type DeepPartial<T> = T extends (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** Of `url` and the kinds of hosts, a repository has one: `{ github: 'acme/*' }`. */
type UserRepository = Partial<RepositoryConfig> & { [kind in HostKind]?: string } & { host?: string } & {
  -readonly [key in keyof OwnerFilter]: OwnerFilter[key];
};

interface UserOrganization {
  name?: string;
  logo?: string;
  accent?: NonNullable<OrganizationConfig['accent']>;
  embedOrigins?: string[];
  images?: string[];
  repositories?: UserRepository[];
  defaults?: OrganizationConfig['defaults'];
}

/** A configuration file. Every member is optional. */
export type UserConfig = DeepPartial<
  Omit<
    Config,
    | 'store'
    | 'cache'
    | 'url'
    | 'login'
    | 'cacheFolder'
    | 'hosts'
    | 'secretKey'
    | 'templates'
    | 'organizations'
    | 'sync'
    | 'sites'
  >
> & {
  store?: GivenStore;
  organizations?: Record<string, UserOrganization>;
  sync?: Partial<Omit<Config['sync'], 'knownHosts'>> & { knownHosts?: string };
  url?: string;
  login?: DeepPartial<LoginConfig>;
  hosts?: { [name in string]?: { kind?: HostKind; url?: string; apiUrl?: string; webhookSecret?: SecretName } };
  secretKey?: SecretName;
  sites?: { hosts?: Record<string, string> };
  templates?: string;
  cache?: { pinned?: number; latest?: number; shared?: number; purge?: Partial<PurgeConfig> & { url: string } };
};

type GivenStore =
  | { kind: 'fs'; path: string }
  | (Pick<S3Config, 'kind' | 'bucket'> & {
      prefix?: string;
      endpoint?: string;
      region?: string;
      pathStyle?: boolean;
      accessKeyId?: SecretName;
      secretAccessKey?: SecretName;
    });

/** Returns its argument. Gives editors the types of the configuration. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

const schema = JSON.parse(
  readFileSync(new URL('../content/schemas/config.json', import.meta.url), 'utf8'),
) as WithDefaults;
const options = {
  discriminator: true,
  useDefaults: true,
  allErrors: true,
  strict: false,
  verbose: true,
  meta: false,
  validateSchema: false,
} as const;
let validate: ValidateFunction | null = null;

interface WithDefaults {
  default?: unknown;
  properties?: Record<string, WithDefaults>;
}

/** Loads ajv only to check a configuration: that takes longer than many a command. */
function createValidate(): ValidateFunction {
  const ajv = createRequire(import.meta.url)('ajv/dist/2020.js') as { Ajv2020: typeof Ajv2020 };
  return new ajv.Ajv2020(options).compile(schema);
}

/** Adds the defaults of a schema's properties, as ajv would. */
function addDefaults(value: Record<string, unknown>, { properties = {} }: WithDefaults): void {
  for (const [name, property] of Object.entries(properties)) {
    if (value[name] === undefined && property.default !== undefined) value[name] = structuredClone(property.default);
    const below = value[name];
    if (typeof below === 'object' && below !== null) addDefaults(below as Record<string, unknown>, property);
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
  const typed = data ?? process.env.STELE_DATA;
  return checkConfig(file === null ? {} : await importConfig(resolve(file), edition), {
    base,
    data: typed ? resolve(typed) : '.stele',
  });
}

async function importConfig(file: string, edition: string): Promise<unknown> {
  let module: { default?: unknown };
  try {
    module = (await import(`${pathToFileURL(file).href}${edition === '' ? '' : `?${edition}`}`)) as {
      default?: unknown;
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // Node puts the line of a syntax error only into the stack.
    const line = error instanceof SyntaxError ? /^.*:(\d+)\n/.exec(error.stack ?? '')?.[1] : undefined;
    throw new RegistryError(
      'malformed',
      `${file}${line === undefined ? '' : `:${line}`} cannot be loaded: ${reason.replace(/\.?$/, '.')}`,
    );
  }
  if (typeof module.default !== 'object' || module.default === null)
    throw new RegistryError('malformed', `${file} has no default export. Add export default defineConfig({ … }).`);
  return module.default;
}

/**
 * Checks a configuration and fills in the defaults. Relative paths are resolved against `base`.
 * Throws `malformed`.
 */
export function checkConfig(value: unknown, { base, data }: { base: string; data: string }): Config {
  const copy: unknown = structuredClone(value ?? {});
  const filled = {
    sync: {},
    limits: {},
    cache: {},
    rateLimit: {},
    webhooks: {},
    retention: {},
    pulls: {},
    log: {},
    ...(copy as object),
  };
  if (Object.keys(copy as object).length === 0) addDefaults(filled, schema);
  else if (!(validate ??= createValidate())(filled)) {
    // What a discriminator finds, `required` or `enum` says better.
    const lines = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'discriminator').map(explainError);
    throw new RegistryError('malformed', `The configuration is invalid: ${[...new Set(lines)].join('; ')}`);
  }
  const given = filled as UserConfig &
    Pick<
      Config,
      | 'sync'
      | 'limits'
      | 'sandbox'
      | 'cache'
      | 'rateLimit'
      | 'log'
      | 'proxies'
      | 'embedOrigins'
      | 'connections'
      | 'retention'
      | 'webhooks'
      | 'pulls'
    >;
  const hosts = fillHosts(given.hosts);
  const organizations = Object.entries(given.organizations ?? {}).map(([name, organization]) => {
    const { repositories = [], defaults = {}, logo, accent, ...rest } = organization;
    const look = { ...(logo !== undefined && { logo: resolve(base, logo) }), ...(accent && { accent }) };
    const sorted = repositories.map((repository, index) =>
      sortRepository(repository, `organizations.${name}.repositories.${index}`, base, hosts),
    );
    const owners = sorted.flatMap((each) => ('pattern' in each ? [each] : []));
    return [
      name,
      { ...rest, ...look, repositories: sorted.flatMap((each) => ('url' in each ? [each] : [])), owners, defaults },
    ] as const;
  });
  const config: Config = {
    url: given.url?.replace(/\/$/, '') ?? null,
    store: fillStore(given, { base, data }),
    cacheFolder: resolve(base, data, 'cache'),
    organizations: Object.fromEntries(organizations),
    credentials: absoluteKeys(base, (given.credentials ?? {}) as Config['credentials']),
    hosts,
    webhooks: given.webhooks,
    sites: { hosts: fillSiteHosts(given) },
    pulls: given.pulls,
    secretKey: given.secretKey ?? null,
    login: (given.login ?? null) as LoginConfig | null,
    trustedPublishing: (given.trustedPublishing ?? []) as TrustedPublisher[],
    sync: { ...given.sync, knownHosts: given.sync.knownHosts ? resolve(base, given.sync.knownHosts) : null },
    limits: given.limits,
    sandbox: given.sandbox,
    cache: { ...given.cache, shared: given.cache.shared ?? null, purge: fillPurge(given.cache.purge) },
    templates: given.templates === undefined ? null : resolve(base, given.templates),
    rateLimit: given.rateLimit,
    proxies: given.proxies,
    embedOrigins: given.embedOrigins,
    connections: given.connections,
    retention: given.retention,
    log: given.log,
  };
  assertCredentials(config);
  return config;
}

function fillStore(
  { store, secretKey }: Pick<UserConfig, 'store' | 'secretKey'>,
  { base, data }: { base: string; data: string },
): Config['store'] {
  if (store?.kind !== 's3') return { kind: 'fs', path: resolve(base, store?.path ?? data) };
  if (secretKey === undefined) {
    throw new RegistryError(
      'malformed',
      'store.kind is s3, so secretKey is required: every machine that uses the bucket must be able to open the secrets in it. Set secretKey to { env: … }.',
    );
  }
  const { kind, bucket, prefix = '', endpoint, region, accessKeyId, secretAccessKey } = store;
  return {
    kind,
    bucket,
    prefix,
    endpoint: endpoint ?? null,
    region: region ?? null,
    pathStyle: store.pathStyle ?? endpoint !== undefined,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  };
}

function fillPurge(given: Partial<PurgeConfig> | null | undefined): PurgeConfig | null {
  if (!given) return null;
  const { url, header = 'Authorization', token = null, member = 'keys', body = {} } = given;
  return { url: url!, header, token, member, body };
}

function fillSiteHosts({ sites, url }: Pick<UserConfig, 'sites' | 'url'>): Config['sites']['hosts'] {
  const own = url === undefined ? null : new URL(url).hostname;
  return Object.fromEntries(
    Object.entries(sites?.hosts ?? {}).map(([host, site]) => {
      if (host === own) throw new RegistryError('malformed', `sites.hosts.${host} is the host of the registry itself.`);
      return [host, parseSite(site)!];
    }),
  );
}

/** Fills in a host for every kind, and the defaults of each. */
function fillHosts(given: UserConfig['hosts'] = {}): Config['hosts'] {
  const names = [...new Set([...hostKinds, ...Object.keys(given)])];
  return Object.fromEntries(names.map((name) => [name, fillHost(name, given[name])]));
}

function fillHost(name: string, given: NonNullable<UserConfig['hosts']>[string]): HostConfig {
  const own = hostKinds.find((kind) => kind === name) ?? null;
  const { kind = own, url, apiUrl, webhookSecret } = given ?? {};
  if (kind === null) throw hostFault(name, `needs a kind: ${hostKinds.join(', ')}`);
  if (own !== null && kind !== own)
    throw hostFault(name, `is a host of its own kind. Choose another name for one of the kind ${kind}`);
  // These have no public host.
  const isElsewhere = own === null || own === 'gogs' || own === 'bitbucket-server';
  if (given !== undefined && url === undefined && isElsewhere) throw hostFault(name, 'needs the url of the host');
  return {
    kind,
    url: url?.replace(/\/$/, '') ?? null,
    apiUrl: apiUrl?.replace(/\/$/, '') ?? null,
    webhookSecret: webhookSecret ?? null,
  };
}

/** One repository, or all of an owner. */
function sortRepository(
  given: UserRepository,
  key: string,
  base: string,
  hosts: Config['hosts'],
): RepositoryConfig | OwnerConfig {
  const fault = (what: string) => new RegistryError('malformed', `${key} ${what}.`);
  const kinds = hostKinds.filter((kind) => given[kind] !== undefined);
  const { url, host, only, except, archived, forks, ...rest } = given;
  if (kinds.length + (url === undefined ? 0 : 1) !== 1) throw fault(`needs one of url, ${hostKinds.join(', ')}`);
  if (url !== undefined) {
    const filter = Object.entries({ host, only, except, archived, forks }).find(([, value]) => value !== undefined);
    if (filter !== undefined) throw fault(`has url and ${filter[0]}, which is only for all repositories of an owner`);
    return { ...rest, url: absoluteUrl(base, url) };
  }
  const kind = kinds[0]!;
  const name = host ?? kind;
  const known = Object.hasOwn(hosts, name) ? hosts[name]! : null;
  if (known?.kind !== kind)
    throw fault(`names the host ${JSON.stringify(name)}, which is not in hosts with the kind ${kind}`);
  if (known.url === null && publicUrls[kind] === null) throw fault(`needs hosts.${name}.url`);
  const pattern = given[kind]!;
  const parsed = parseOwnerPattern(pattern);
  const most = kind === 'gitlab' ? 20 : kind === 'azure' ? 2 : 1;
  if (parsed === null || parsed.path.split('/').length > most || (parsed.isDeep && kind !== 'gitlab'))
    throw fault(
      `has ${kind} ${JSON.stringify(pattern)}. ${ownerForms[kind] ?? 'Write the owner and /*, such as acme/*'}`,
    );
  const own = Object.fromEntries(Object.entries(rest).filter(([member]) => member !== kind)) as Omit<
    RepositoryConfig,
    'url'
  >;
  const filter = Object.entries({ only, except, archived, forks }).filter(([, value]) => value !== undefined);
  return { ...own, ...Object.fromEntries(filter), host: name, pattern, owner: parsed.path, isDeep: parsed.isDeep };
}

const ownerForms: { [kind in HostKind]?: string } = {
  gitlab: 'Write a group and /*, such as acme/apis/*, or /** for the groups in it, too',
  azure: 'Write acme/* for an organization, or acme/project/* for a project',
};

function hostFault(name: string, what: string): RegistryError {
  return new RegistryError('malformed', `hosts.${name} ${what}.`);
}

/** Makes the paths of app keys absolute. */
function absoluteKeys(base: string, credentials: Config['credentials']): Config['credentials'] {
  const entries = Object.entries(credentials).map(([name, credential]) => {
    if (!('githubApp' in credential)) return [name, credential] as const;
    const { appId, privateKeyFile } = credential.githubApp;
    return [name, { ...credential, githubApp: { appId, privateKeyFile: resolve(base, privateKeyFile) } }] as const;
  });
  return Object.fromEntries(entries);
}

/** Formats a validation error as a sentence that names the key. */
function explainError({ instancePath, message, params, parentSchema }: ErrorObject): string {
  const key = instancePath.slice(1).replaceAll('/', '.') || 'the configuration';
  if ('additionalProperty' in params) {
    const written = String(params['additionalProperty']);
    const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {});
    return `${key} has no key ${JSON.stringify(written)}.${closest(written, known)}`;
  }
  const allowed: unknown = params['allowedValues'] ?? ('allowedValue' in params ? [params['allowedValue']] : null);
  if (Array.isArray(allowed)) return `${key} must be ${allowed.map((value) => JSON.stringify(value)).join(' or ')}.`;
  return `${key} ${message}.`;
}

/** Returns the configuration of an organization, or null. Safe for names such as `constructor`. */
export function organizationIn(
  { organizations }: Pick<Config, 'organizations'>,
  name: string,
): OrganizationConfig | null {
  return Object.hasOwn(organizations, name) ? organizations[name]! : null;
}

/** Makes the folder of a local repository absolute. URLs and `host:path` stay as they are. */
function absoluteUrl(base: string, url: string): string {
  return isLocalUrl(url) && !isAbsolute(url) ? resolve(base, url) : url;
}

/** Reports whether a repository's URL is a local folder. */
export function isLocalUrl(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && !/^[^/]+:/.test(url);
}

/**
 * Returns the hosts that git may contact: `sync.hosts` and those of the configured repositories.
 */
export function allowedHosts(config: Config): string[] {
  const configured = credentialUses(config).flatMap(({ url }) => hostOf(url) ?? []);
  return [...new Set([...config.sync.hosts, ...configured])];
}

/** Where the configuration uses a credential, or none: by whom, and for which URL. */
export function credentialUses(
  config: Pick<Config, 'organizations' | 'hosts'>,
): { org: string; url: string; credential: string | null }[] {
  return Object.entries(config.organizations).flatMap(([org, { repositories, owners }]) => [
    ...repositories.map(({ url, credential = null }) => ({ org, url, credential })),
    ...owners.map(({ host, owner, credential = null }) => {
      const { kind, url } = config.hosts[host]!;
      return { org, url: `${url ?? publicUrls[kind]}/${encodeURI(owner)}`, credential };
    }),
  ]);
}

/**
 * Returns `host[:port]` of a repository's URL, with `http://` if the URL has it; null for a folder.
 */
function hostOf(url: string): string | null {
  if (isLocalUrl(url)) return null;
  if (!url.includes('://')) return url.replace(/:.*$/s, '').replace(/^.*@/, '');
  const { protocol, host } = new URL(url);
  return protocol === 'http:' ? `http://${host}` : host;
}

function assertCredentials(config: Config): void {
  for (const { org, url, credential } of credentialUses(config)) {
    const uses = `organizations.${org}: ${url} uses the credential ${JSON.stringify(credential)}`;
    if (credential !== null && !Object.hasOwn(config.credentials, credential))
      throw new RegistryError('malformed', `${uses}, which is not defined in credentials.`);
    if (credential !== null && !mayUseCredential(config, org, credential)) {
      const what = `which ${org} may not use. Add ${org} to credentials.${credential}.organizations.`;
      throw new RegistryError('malformed', `${uses}, ${what}`);
    }
  }
}

/**
 * Reports whether the organization may use the credential: by the credential's `organizations`, or
 * without them, if a configured repository of the organization names it. False for a missing one.
 */
export function mayUseCredential(
  config: Pick<Config, 'credentials' | 'organizations'>,
  org: string,
  name: string,
): boolean {
  if (!Object.hasOwn(config.credentials, name)) return false;
  const { organizations } = config.credentials[name]!;
  if (organizations !== undefined) return [organizations].flat().some((named) => named === '*' || named === org);
  const { repositories = [], owners = [] } = organizationIn(config, org) ?? {};
  return [...repositories, ...owners].some(({ credential }) => credential === name);
}

/**
 * Returns a credential with its secret. Throws `malformed` if the credential or its variable is
 * missing.
 */
export function readCredential(config: Config, name: string): Credential {
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  if (credential === null)
    throw new RegistryError('malformed', `The credential ${JSON.stringify(name)} is not defined in the configuration.`);
  if ('githubApp' in credential)
    throw new RegistryError(
      'malformed',
      `The credential ${JSON.stringify(name)} is a GitHub app and works only with GitHub.`,
    );
  if ('sshKeyFile' in credential) return { kind: 'ssh', keyFile: credential.sshKeyFile };
  return {
    kind: 'token',
    username: credential.username ?? 'x-access-token',
    token: readSecret({ env: credential.env }),
  };
}

/** Reads a secret from the environment. Throws `malformed` if the variable is not set. */
export function readSecret({ env }: SecretName): string {
  const secret = process.env[env];
  if (!secret)
    throw new RegistryError('malformed', `The environment variable ${env} is not set. The configuration needs it.`);
  return secret;
}

/** Returns the environment's defaults for command line options. */
export function readEnvironment(): { port: string | undefined; key: string | undefined } {
  return { port: process.env.PORT, key: process.env.STELE_KEY };
}
