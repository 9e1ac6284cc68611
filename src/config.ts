import type { CredentialConfig } from './config/credential-config.ts';
import type { SecretName } from './config/environment.ts';
import type { HostConfig, OrganizationConfig } from './config/organization-config.ts';
import type { LoginConfig, TrustedPublisher } from './config/login-config.ts';
import type { StoreConfig } from './config/store-config.ts';
import type { FilledConfig, WrittenConfig } from './config/written.ts';
import type { SiteName } from './sites/model/documentation-site.ts';

/** The configuration with all defaults filled in and all paths absolute. `content/schemas/config.json` describes each key. */
export interface Config extends Omit<FilledConfig, Own> {
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
  sites: { hosts: Record<string, SiteName>; previewDays: number };
  /** Null: the registry's own key seals the secrets in the store. */
  secretKey: SecretName | null;
  /** `key`: null: the data folder's own key signs. */
  publicLog: { key: SecretName | null; witnesses: { url: string; key: string }[] };
  login: LoginConfig | null;
  /** Null: no mail is sent. */
  mail: MailConfig | null;
  trustedPublishing: TrustedPublisher[];
  /** `knownHosts`: null: the known_hosts files of the account and the machine. */
  sync: Omit<FilledConfig['sync'], 'knownHosts'> & { knownHosts: string | null };
  /** Folder of templates that replace Stele's own, or null. */
  templates: string | null;
  rateLimit: FilledConfig['rateLimit'] & { organization: number };
  /** Null: programs on this machine ask the server itself for `/metrics`. */
  metrics: { port: number; host: string } | null;
}

/** Keys that are something else in a file. */
type Own =
  | 'url'
  | 'store'
  | 'organizations'
  | 'credentials'
  | 'hosts'
  | 'sites'
  | 'secretKey'
  | 'publicLog'
  | 'login'
  | 'mail'
  | 'trustedPublishing'
  | 'sync'
  | 'templates'
  | 'rateLimit'
  | 'metrics';

/** A configuration file. Every member is optional. */
export type UserConfig = WrittenConfig;

/** Returns its argument. Gives editors the types of the configuration. */
export function defineConfig(config: UserConfig): UserConfig {
  return config;
}

/** How mail is sent. */
export type MailConfig = NonNullable<FilledConfig['mail']>;
