import { dirname, resolve } from 'node:path';
import type { Config, UserConfig, AsWritten } from '../config.ts';
import { closest, RegistryError } from '../model/errors.ts';
import { parseVerifierKey } from '../model/transparency/note.ts';
import { parseSite } from '../sites/model/documentation-site.ts';
import { fillDefaults } from './config-schema.ts';
import { absoluteKeys, assertCredentials } from './credential-config.ts';
import { readEnvironment } from './environment.ts';
import { fillHosts } from './host-config.ts';
import { providersOf, type LoginConfig, type TrustedPublisher } from './login-config.ts';
import { fillOrganizations } from './organization-config.ts';
import { readConfigFile } from './read-config-file.ts';
import { fillStore } from './store-config.ts';

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
    data: typed ? resolve(typed) : '.stele',
  });
}

/**
 * Checks a configuration and fills in the defaults. Relative paths are resolved against `base`.
 * Throws `malformed`.
 */
export function checkConfig(value: unknown, { base, data }: { base: string; data: string }): Config {
  const given = fillDefaults(value) as UserConfig & Pick<Config, AsWritten | 'sync' | 'cache' | 'rateLimit'>;
  const hosts = fillHosts(given.hosts);
  const config: Config = {
    ...given,
    url: given.url?.replace(/\/$/, '') ?? null,
    store: fillStore(given, { base, data }),
    dataFolder: resolve(base, data),
    cacheFolder: resolve(base, data, 'cache'),
    organizations: fillOrganizations(given.organizations ?? {}, base, hosts),
    credentials: absoluteKeys(base, (given.credentials ?? {}) as Config['credentials']),
    hosts,
    sites: { previewDays: given.sites!.previewDays!, hosts: fillSiteHosts(given) },
    secretKey: given.secretKey ?? null,
    rulesets: { functions: given.rulesets?.functions ?? [] },
    publicLog: { key: given.publicLog?.key ?? null, witnesses: fillWitnesses(given.publicLog?.witnesses) },
    login: (given.login ?? null) as LoginConfig | null,
    mail: given.mail ?? null,
    trustedPublishing: (given.trustedPublishing ?? []) as TrustedPublisher[],
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
    throw new RegistryError('malformed', `${message}${closest(organization, names)}`);
  }
}

/** Throws `malformed` if two identity providers have one issuer: their people could not be told apart. */
function assertIssuers({ login }: Config): void {
  const issuers = providersOf(login).map(({ issuer }) => issuer);
  const twice = issuers.find((issuer, index) => issuers.indexOf(issuer) < index);
  if (twice === undefined) return;
  throw new RegistryError('malformed', `login.others names the issuer ${twice} a second time. Name each one once.`);
}

function fillSiteHosts({ sites, url }: Pick<UserConfig, 'sites' | 'url'>): Config['sites']['hosts'] {
  const hostname = url === undefined ? null : new URL(url).hostname;
  return Object.fromEntries(
    Object.entries(sites?.hosts ?? {}).map(([host, site]) => {
      if (host === hostname)
        throw new RegistryError('malformed', `sites.hosts.${host} is the host of the registry itself.`);
      return [host, parseSite(site)!];
    }),
  );
}

/** Throws `malformed` for a key that is not that of a witness. */
function fillWitnesses(given: Config['publicLog']['witnesses'] = []): Config['publicLog']['witnesses'] {
  for (const [index, { key }] of given.entries())
    if (parseVerifierKey(key)?.algorithm !== 'cosignature')
      throw new RegistryError(
        'malformed',
        `publicLog.witnesses[${index}].key is not the Ed25519 verifier key of a witness: ${JSON.stringify(key)}. Ask whoever runs the witness for it.`,
      );
  return given.map(({ url, key }) => ({ url: url.replace(/\/+$/, ''), key }));
}
