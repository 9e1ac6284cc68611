import type { CompileLimits } from './compile/compile.ts';
import type { CredentialConfig } from './config/credential-config.ts';
import type { SecretName } from './config/environment.ts';
import type {
  HostConfig,
  UserHost,
  OrganizationConfig,
  UserOrganization,
  Quotas,
} from './config/organization-config.ts';
import type { LoginConfig, TrustedPublisher } from './config/login-config.ts';
import type { StoreConfig, UserStore } from './config/store-config.ts';
import type { SiteName } from './sites/model/documentation-site.ts';

/**
 * The configuration with all defaults filled in and all paths absolute.
 * `content/schemas/config.json` describes each key.
 */
export interface Config {
  url: string | null;
  store: StoreConfig;
  /** Folder of the keys that the registry made for itself, and of all else if nothing says otherwise. */
  dataFolder: string;
  /** Folder of mirrors and derived files. It can be deleted at any time. */
  cacheFolder: string;
  organizations: Record<string, OrganizationConfig>;
  credentials: Record<string, CredentialConfig>;
  /** By name. Every kind has a host of its own name; `url` tells whether it is anywhere. */
  hosts: Record<string, HostConfig>;
  webhooks: {
    allowPrivateAddresses: boolean;
    /** Receives the audit trails of all organizations. */ audit?: { url: string; secret: SecretName };
  };
  sites: {
    /** Documentation sites at host names of their own, by that name in lower case. */ hosts: Record<string, SiteName>;
    /** Days for which previews stay; 0: none. */ previewDays: number;
  };
  pulls: { comments: boolean; /** Days for which previews stay; 0: none. */ previewDays: number };
  /** Seals the secrets in the store; null: the registry's own key does. */
  secretKey: SecretName | null;
  /** `key`: signs the public log; null: the data folder's own key does. */
  publicLog: {
    key: SecretName | null;
    /** Who cosigns it: a URL, and a verifier key. */ witnesses: { url: string; key: string }[];
  };
  login: LoginConfig | null;
  /** Null: no mail is sent. */
  mail: MailConfig | null;
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
  /** What each organization may have at most, unless it has quotas of its own. */
  quotas: Quotas;
  /** Organizations whose rulesets may have functions of their own. */
  rulesets: { functions: string[] };
  /** Isolation of the parser: bwrap if it works, always bwrap, or only Node's permission model. */
  sandbox: 'auto' | 'bwrap' | 'node';
  cache: { pinned: number; latest: number };
  /** Folder of templates that replace Stele's own, or null. */
  templates: string | null;
  rateLimit: { window: number; key: number; organization: number; address: number; failures: number; reads?: number };
  proxies: number;
  /** Origins whose pages may show references in frames: `https://docs.example.com`. */
  embedOrigins: string[];
  /** Seconds in which a server that is to stop still answers, and reports that it is not ready. */
  drain: number;
  /** A listener of its own for `/metrics`; null: programs on this machine ask the server itself. */
  metrics: { port: number; host: string } | null;
  /** Hours. An interval of 0: garbage is collected only by `stele gc`. */
  gc: { interval: number };
  log: { level: 'debug' | 'info' | 'warn' | 'error' | 'silent'; format?: 'lines' | 'json' };
}

/** Keys that are the same in a file, apart from their defaults. */
export type AsWritten =
  'webhooks' | 'pulls' | 'limits' | 'quotas' | 'sandbox' | 'proxies' | 'embedOrigins' | 'drain' | 'gc' | 'log';

type DeepPartial<T> = T extends (infer Item)[]
  ? DeepPartial<Item>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T;

/** A configuration file. Every member is optional. */
export type UserConfig = DeepPartial<Pick<Config, AsWritten | 'credentials' | 'trustedPublishing' | 'rateLimit'>> & {
  store?: UserStore;
  organizations?: Record<string, UserOrganization>;
  sync?: Partial<Omit<Config['sync'], 'knownHosts'>> & { knownHosts?: string };
  url?: string;
  login?: DeepPartial<LoginConfig>;
  mail?: MailConfig;
  hosts?: { [name in string]?: UserHost };
  secretKey?: SecretName;
  rulesets?: { functions?: string[] };
  publicLog?: { key?: SecretName; witnesses?: { url: string; key: string }[] };
  metrics?: { port: number; host?: string };
  sites?: { hosts?: Record<string, string>; previewDays?: number };
  templates?: string;
  cache?: { pinned?: number; latest?: number };
};

/** Returns its argument. Gives editors the types of the configuration. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

/** How mail is sent. */
export interface MailConfig {
  /** `smtps://user@mail.example.com`, or `smtp://…`, which becomes TLS where there is a password. */
  smtp: string;
  /** `Stele <stele@example.com>`. */
  from: string;
  password?: SecretName;
}
