/** The one place where configuration comes in, its types beside their defaults and checks: over 300 lines, and one idea. */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { CompileLimits } from './compile/compile.ts';
import type { Scope } from './model/access.ts';
import { hostKinds, type HostKind } from './hosts/host.ts';
import { closest } from './model/closest.ts';
import { RegistryError } from './model/errors.ts';
import type { Validation } from './model/problem.ts';
import type { Visibility } from './model/access.ts';
import type { Credential } from './source/source.ts';

/** The name of an environment variable that holds a secret. */
export interface SecretName {
  env: string;
}

/** A repository whose documents are found by their content. */
export interface RepositoryConfig {
  url: string;
  branch?: string;
  path?: string;
  credential?: string;
  visibility?: Visibility;
  validation?: Validation;
}

export interface OrganizationConfig {
  name?: string;
  repositories: RepositoryConfig[];
  defaults: { visibility?: Visibility; ruleset?: string; validation?: Validation };
}

export interface LoginConfig {
  issuer: string;
  clientId: string;
  clientSecret: SecretName;
  sessionSecret: SecretName;
  scope: string;
  claim: string;
  organizations?: Record<string, { organization: string; scopes: Scope[] }[]>;
  lifetime: number;
}

/** One git host: whose hooks are taken, and where it is told the outcome. */
export interface HostConfig {
  /** Where its repositories are, without a slash at the end; null: the well-known one. */
  url: string | null;
  apiUrl: string | null;
  webhookSecret: SecretName | null;
}

export type CredentialConfig = (
  | { env: string; username: string; host?: string }
  | { sshKeyFile: string }
  | { githubApp: { appId: number | string; privateKeyFile: string } }
) & {
  /** Whose connections may use it: `'*'` for every organization. Absent: those whose configured repositories name it. */
  organizations?: '*' | string[];
};

/** A CI job whose token is exchanged for a key. What is absent is not asked for, except where a default is named. */
export interface TrustedPublisher {
  issuer: string;
  /** Default: the registry's URL. */
  audience?: string;
  organization: string;
  repository: string;
  /** Ids of the repository and of its owner. Default: those of the first job whose token was taken. */
  repositoryId?: string;
  ownerId?: string;
  /** Full, such as `refs/heads/main`. */
  ref?: string;
  refType?: 'branch' | 'tag';
  /** Default: true where no `ref` is named. */
  refProtected?: boolean;
  /** File that starts the run: a path in the repository at the job's own ref, or a full name with `@` and a ref. */
  workflow?: string;
  /** File that defines the job, where that is another one. Default: `workflow`. */
  jobWorkflow?: string;
  environment?: string;
  /** What may start the job. Default: what only those can who may write to the repository. */
  events?: string[];
  /** Whether it may run for a fork's merge request. Default: false. */
  forks?: boolean;
  scopes: Scope[];
  resources?: string[];
}

/** What a CDN is told to forget, and how. The operator wrote it: any address will do. */
export interface PurgeConfig {
  url: string;
  /** The field that the token is sent in: `Authorization` as a bearer token, any other as it is. */
  header: string;
  token: SecretName | null;
  /** The member of the JSON body that holds the keys. */
  member: string;
  /** Further members of the body. */
  body: Record<string, unknown>;
}

/** The configuration with every default filled in and every path absolute. `content/schemas/config.json` describes each key. */
export interface Config {
  url: string | null;
  store: { kind: 'fs'; path: string };
  /** Folder of what can be deleted at any time: mirrors. */
  cacheFolder: string;
  organizations: Record<string, OrganizationConfig>;
  credentials: Record<string, CredentialConfig>;
  hosts: Record<HostKind, HostConfig>;
  webhooks: { allowPrivateAddresses: boolean };
  /** With what secrets in the store are sealed; null: with the registry's own key. */
  secretKey: SecretName | null;
  login: LoginConfig | null;
  trustedPublishing: TrustedPublisher[];
  sync: {
    interval: number;
    concurrency: number;
    hosts: string[];
    allowLocalRepositories: boolean;
    timeLimit: number;
    sizeLimit: number;
  };
  limits: CompileLimits & { treeEntries: number };
  /** What documents are parsed in: bwrap where it works, bwrap or nothing, or Node's permission model alone. */
  sandbox: 'auto' | 'bwrap' | 'node';
  cache: {
    pinned: number;
    latest: number;
    /** Seconds for which caches that are purged may keep what they are told to forget; null: as long as all others. */
    shared: number | null;
    purge: PurgeConfig | null;
  };
  /** Folder of templates that take the place of Stele's own; null: none. */
  templates: string | null;
  rateLimit: { window: number; key: number; address: number; failures: number; reads?: number };
  proxies: number;
  /** Sockets of the server that may be open at once. */
  connections: number;
  log: { level: 'debug' | 'info' | 'warn' | 'error' | 'silent' };
}

type DeepPartial<T> = T extends (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** What a configuration file may say: everything has a default. */
export type UserConfig = DeepPartial<
  Omit<Config, 'cache' | 'url' | 'login' | 'cacheFolder' | 'hosts' | 'secretKey' | 'templates'>
> & {
  url?: string;
  login?: DeepPartial<LoginConfig>;
  hosts?: { [kind in HostKind]?: { url?: string; apiUrl?: string; webhookSecret?: SecretName } };
  secretKey?: SecretName;
  templates?: string;
  cache?: { pinned?: number; latest?: number; shared?: number; purge?: Partial<PurgeConfig> & { url: string } };
};

/** Gives editors the types of a configuration. Returns it as it is. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

const schema: object = JSON.parse(readFileSync(new URL('../content/schemas/config.json', import.meta.url), 'utf8'));

/**
 * Loads and checks a configuration. `file` null: only the defaults. `data` is the data folder of the command line, else `STELE_DATA`, else
 * `.stele`; used where the file names no store. What was typed in a shell starts at its folder, everything else beside the file. `edition`: any text that tells a changed file from what was loaded of it before. Refuses with `malformed`,
 * naming the key.
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
    // Node names the line of a syntax error in its stack alone.
    const line = error instanceof SyntaxError ? /^.*:(\d+)\n/.exec(error.stack ?? '')?.[1] : undefined;
    throw new RegistryError(
      'malformed',
      `${file}${line === undefined ? '' : `:${line}`} cannot be loaded: ${reason.replace(/\.?$/, '.')}`,
    );
  }
  if (typeof module.default !== 'object' || module.default === null)
    throw new RegistryError('malformed', `${file} has no default export: write export default defineConfig({ … }).`);
  return module.default;
}

/** Checks a configuration's value and fills in the defaults. `base`: the folder that its relative paths start from. */
export function checkConfig(value: unknown, { base, data }: { base: string; data: string }): Config {
  const copy: unknown = structuredClone(value ?? {});
  const validate = new Ajv2020({ useDefaults: true, allErrors: true, strict: false, verbose: true }).compile(schema);
  const filled = { sync: {}, limits: {}, cache: {}, rateLimit: {}, webhooks: {}, log: {}, ...(copy as object) };
  if (!validate(filled)) {
    const lines = (validate.errors ?? []).map(explainError);
    throw new RegistryError('malformed', `The configuration is not valid: ${[...new Set(lines)].join('; ')}`);
  }
  const given = filled as UserConfig &
    Pick<
      Config,
      'sync' | 'limits' | 'sandbox' | 'cache' | 'rateLimit' | 'log' | 'proxies' | 'connections' | 'webhooks'
    >;
  const folder = resolve(base, given.store?.path ?? data);
  const organizations = Object.entries(given.organizations ?? {}).map(([name, organization]) => {
    const { repositories = [], defaults = {}, ...rest } = organization as Partial<OrganizationConfig>;
    const absolute = repositories.map((repository) => ({ ...repository, url: absoluteUrl(base, repository.url) }));
    return [name, { ...rest, repositories: absolute, defaults }] as const;
  });
  const config: Config = {
    url: given.url?.replace(/\/$/, '') ?? null,
    store: { kind: 'fs', path: folder },
    cacheFolder: resolve(base, data, 'cache'),
    organizations: Object.fromEntries(organizations),
    credentials: absoluteKeys(base, (given.credentials ?? {}) as Config['credentials']),
    hosts: fillHosts(given.hosts),
    webhooks: given.webhooks,
    secretKey: given.secretKey ?? null,
    login: (given.login ?? null) as LoginConfig | null,
    trustedPublishing: (given.trustedPublishing ?? []) as TrustedPublisher[],
    sync: given.sync,
    limits: given.limits,
    sandbox: given.sandbox,
    cache: { ...given.cache, shared: given.cache.shared ?? null, purge: fillPurge(given.cache.purge) },
    templates: given.templates === undefined ? null : resolve(base, given.templates),
    rateLimit: given.rateLimit,
    proxies: given.proxies,
    connections: given.connections,
    log: given.log,
  };
  assertCredentials(config);
  return config;
}

function fillPurge(given: Partial<PurgeConfig> | null | undefined): PurgeConfig | null {
  if (!given) return null;
  const { url, header = 'Authorization', token = null, member = 'keys', body = {} } = given;
  return { url: url!, header, token, member, body };
}

/** Every kind of host, with what the configuration says about it. */
function fillHosts(given: UserConfig['hosts']): Config['hosts'] {
  const fill = (kind: HostKind): HostConfig => {
    const { url, apiUrl, webhookSecret } = given?.[kind] ?? {};
    return {
      url: url?.replace(/\/$/, '') ?? null,
      apiUrl: apiUrl?.replace(/\/$/, '') ?? null,
      webhookSecret: webhookSecret ?? null,
    };
  };
  return Object.fromEntries(hostKinds.map((kind) => [kind, fill(kind)])) as Config['hosts'];
}

/** The files of apps' keys, made absolute. */
function absoluteKeys(base: string, credentials: Config['credentials']): Config['credentials'] {
  const entries = Object.entries(credentials).map(([name, credential]) => {
    if (!('githubApp' in credential)) return [name, credential] as const;
    const { appId, privateKeyFile } = credential.githubApp;
    return [name, { ...credential, githubApp: { appId, privateKeyFile: resolve(base, privateKeyFile) } }] as const;
  });
  return Object.fromEntries(entries);
}

/** One finding as a sentence that names the key. */
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

/** What the configuration says about an organization: nothing, where it does not name it, whatever it is called. */
export function organizationIn(
  { organizations }: Pick<Config, 'organizations'>,
  name: string,
): OrganizationConfig | null {
  return Object.hasOwn(organizations, name) ? organizations[name]! : null;
}

/** A local repository's folder becomes absolute; URLs and `host:path` stay. */
function absoluteUrl(base: string, url: string): string {
  return isLocalUrl(url) && !isAbsolute(url) ? resolve(base, url) : url;
}

/** Whether a repository's URL is a folder of this machine. */
export function isLocalUrl(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && !/^[^/]+:/.test(url);
}

/** The hosts that git may contact: those of `sync.hosts` and those of the configured repositories. */
export function allowedHosts(config: Config): string[] {
  const configured = Object.values(config.organizations).flatMap(({ repositories }) =>
    repositories.flatMap(({ url }) => hostOf(url) ?? []),
  );
  return [...new Set([...config.sync.hosts, ...configured])];
}

/** `host[:port]` of a repository's URL, with `http://` before it where the URL has that; null for a folder. */
function hostOf(url: string): string | null {
  if (isLocalUrl(url)) return null;
  if (!url.includes('://')) return url.replace(/:.*$/s, '').replace(/^.*@/, '');
  const { protocol, host } = new URL(url);
  return protocol === 'http:' ? `http://${host}` : host;
}

function assertCredentials(config: Config): void {
  for (const [org, { repositories }] of Object.entries(config.organizations)) {
    for (const { credential, url } of repositories) {
      if (credential !== undefined && !Object.hasOwn(config.credentials, credential)) {
        throw new RegistryError(
          'malformed',
          `organizations.${org}: ${url} names the credential ${JSON.stringify(credential)}, which credentials does not have.`,
        );
      }
      if (credential !== undefined && !mayUseCredential(config, org, credential)) {
        throw new RegistryError(
          'malformed',
          `organizations.${org}: ${url} names the credential ${JSON.stringify(credential)}, which is not for ${org}. Add it to credentials.${credential}.organizations.`,
        );
      }
    }
  }
}

/**
 * Whether the organization may use the credential: its `organizations` decide; without them, whether a configured
 * repository of the organization names it. False for a credential that does not exist.
 */
export function mayUseCredential(
  config: Pick<Config, 'credentials' | 'organizations'>,
  org: string,
  name: string,
): boolean {
  if (!Object.hasOwn(config.credentials, name)) return false;
  const { organizations } = config.credentials[name]!;
  if (organizations !== undefined) return [organizations].flat().some((named) => named === '*' || named === org);
  return organizationIn(config, org)?.repositories.some(({ credential }) => credential === name) ?? false;
}

/** The credential of that name, its secret read from the environment. Refuses with `malformed` when either is not there. */
export function readCredential(config: Config, name: string): Credential {
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  if (credential === null)
    throw new RegistryError('malformed', `The configuration has no credential ${JSON.stringify(name)}.`);
  if ('githubApp' in credential)
    throw new RegistryError(
      'malformed',
      `The credential ${JSON.stringify(name)} is an app of GitHub and of no other host.`,
    );
  if ('sshKeyFile' in credential) return { kind: 'ssh', keyFile: credential.sshKeyFile };
  return {
    kind: 'token',
    username: credential.username ?? 'x-access-token',
    token: readSecret({ env: credential.env }),
  };
}

/** The secret itself. Refuses with `malformed`, naming the variable, when it is not set. */
export function readSecret({ env }: SecretName): string {
  const secret = process.env[env];
  if (!secret)
    throw new RegistryError('malformed', `The environment variable ${env}, which the configuration names, is not set.`);
  return secret;
}

/** What the command line takes from the environment where no option says otherwise. */
export function readEnvironment(): { port: string | undefined; key: string | undefined } {
  return { port: process.env.PORT, key: process.env.STELE_KEY };
}
