import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostKinds, productOf, type HostKind } from '../hosts/host.ts';
import { usualRules, type ChangeRules } from '../model/comparison.ts';
import { type RegistryError, malformed } from '../model/errors.ts';
import { assertNoCredential } from '../model/connection.ts';
import { parseOwnerPattern, type OwnerFilter } from '../model/owner.ts';
import type { Team } from '../model/ownership.ts';
import type { Version } from '../model/resource.ts';
import type { SecretName } from './environment.ts';
import type { WrittenHost, WrittenOrganization, WrittenRepository } from './written.ts';

/** What an organization may have at most. `content/schemas/config.json` says what each counts. */
export const quotaNames = ['bytes', 'resources', 'versions', 'keys', 'sites', 'drafts'] as const;

export type QuotaName = (typeof quotaNames)[number];

/** Null: as many as it likes. */
export type Quotas = Record<QuotaName, number | null>;

/** A repository to follow. Its documents are found by their content. `isArgument`: it is one of `stele serve`. */
export type RepositoryConfig = Pick<
  WrittenRepository,
  'branch' | 'path' | 'credential' | 'visibility' | 'validation' | 'versions'
> & { url: string; isArgument?: true };

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

/** `logo`: an absolute path. */
export interface OrganizationConfig extends Omit<WrittenOrganization, 'repositories' | 'defaults'> {
  repositories: RepositoryConfig[];
  owners: OwnerConfig[];
  defaults: NonNullable<WrittenOrganization['defaults']>;
}

/** Sorts the repositories of each organization, and makes paths absolute. Throws `malformed`. */
export function fillOrganizations(
  given: Record<string, WrittenOrganization>,
  base: string,
  hosts: Record<string, HostConfig>,
): Record<string, OrganizationConfig> {
  const organizations = Object.entries(given).map(([name, organization]) => {
    const { repositories = [], defaults = {}, logo, accent, ...rest } = organization;
    const look = { ...(logo !== undefined && { logo: resolve(base, logo) }), ...(accent && { accent }) };
    const sorted = repositories.map((repository, index) =>
      sortRepository(repository, `organizations.${name}.repositories.${index}`, base, hosts),
    );
    const owners = sorted.flatMap((each) => ('pattern' in each ? [each] : []));
    const followed = sorted.flatMap((each) => ('url' in each ? [each] : []));
    return [name, { ...rest, ...look, repositories: followed, owners, defaults }] as const;
  });
  return Object.fromEntries(organizations);
}

function sortRepository(
  given: WrittenRepository,
  key: string,
  base: string,
  hosts: Record<string, HostConfig>,
): RepositoryConfig | OwnerConfig {
  const fault = (what: string) => malformed(`${key} ${what}.`);
  const kinds = hostKinds.filter((kind) => given[kind] !== undefined);
  const { url, host, only, except, archived, forks, ...rest } = given;
  if (kinds.length + (url === undefined ? 0 : 1) !== 1) throw fault(`needs one of url, ${hostKinds.join(', ')}`);
  if (url !== undefined) {
    const filter = Object.entries({ host, only, except, archived, forks }).find(([, value]) => value !== undefined);
    if (filter !== undefined) throw fault(`has url and ${filter[0]}, which is only for all repositories of an owner`);
    assertNoCredential(url, key);
    return { ...rest, url: plainUrl(url, base) };
  }
  const kind = kinds[0]!;
  const name = host ?? kind;
  const configured = Object.hasOwn(hosts, name) ? hosts[name]! : null;
  if (configured?.kind !== kind)
    throw fault(`names the host ${JSON.stringify(name)}, which is not in hosts with the kind ${kind}`);
  if (configured.url === null && productOf(kind).publicUrl === null) throw fault(`needs hosts.${name}.url`);
  const pattern = given[kind]!;
  const parsed = parseOwnerPattern(pattern);
  const { groups, isDeep, advice } = productOf(kind).owners ?? oneName;
  if (parsed === null || parsed.path.split('/').length > groups || (parsed.isDeep && !isDeep))
    throw fault(`has ${kind} ${JSON.stringify(pattern)}. ${advice}`);
  const settings = Object.fromEntries(Object.entries(rest).filter(([member]) => member !== kind)) as Omit<
    RepositoryConfig,
    'url'
  >;
  const filter = Object.entries({ only, except, archived, forks }).filter(([, value]) => value !== undefined);
  return { ...settings, ...Object.fromEntries(filter), host: name, pattern, owner: parsed.path, isDeep: parsed.isDeep };
}

const oneName = { groups: 1, isDeep: false, advice: 'Write the owner and /*, such as acme/*' };

/** Returns the configuration of an organization, or null. Safe for names such as `constructor`. */
export function organizationIn(
  { organizations }: { organizations: Record<string, OrganizationConfig> },
  name: string,
): OrganizationConfig | null {
  return Object.hasOwn(organizations, name) ? organizations[name]! : null;
}

/** The teams of an organization, by name. */
export function teamsOf(config: Parameters<typeof organizationIn>[0], org: string): Readonly<Record<string, Team>> {
  return organizationIn(config, org)?.teams ?? {};
}

/**
 * How an organization's changes are judged. `before`: the version that is compared, if it is one; `at`: the time of
 * the new document; `versions`: those of its resource.
 */
export function changeRulesIn(
  config: { organizations: Record<string, OrganizationConfig> },
  org: string,
  { before, at, versions = [] }: { before: Pick<Version, 'status'> | null; at: string; versions?: readonly Version[] },
): ChangeRules {
  const { deprecation, ...rules } = organizationIn(config, org)?.changes ?? {};
  if (deprecation === undefined) return { ...usualRules, ...rules };
  const status = before?.status.state === 'deprecated' ? before.status : null;
  const { sunset = null, since = '' } = status ?? {};
  // The clock begins when the date was stated: one that had passed by then would be a removal without notice.
  const isPassed = sunset !== null && Date.parse(sunset) < Date.parse(since);
  const first = versions.reduce<string | null>((early, { publishedAt }) => (early !== null && early <= publishedAt ? early : publishedAt), null); // prettier-ignore
  const own = { grace: Number.parseInt(deprecation.grace), at, sunset: isPassed ? since : sunset };
  const removal = { ...own, ...(first !== null && { since: first }) };
  return { ...usualRules, ...rules, removal };
}

/** The URL by which a repository is known: of a folder, or a file URL of one, its absolute path. */
export function plainUrl(url: string, base: string = process.cwd()): string {
  const path = /^file:\/\/\/(?!.*%(?:2f|00))/i.test(url) ? fileURLToPath(url) : url;
  return isLocalUrl(path) ? resolve(base, path) : url;
}

/** Reports whether a repository's URL is a local folder. */
export function isLocalUrl(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && !/^[^/]+:/.test(url);
}

/** One git host: where its API is and the secret that verifies its webhooks. */
export interface HostConfig {
  kind: HostKind;
  /** Base URL of its repositories, without a trailing slash; null for the public service. */
  url: string | null;
  apiUrl: string | null;
  webhookSecret: SecretName | null;
}

/** Fills in a host for every kind, and the defaults of each. */
export function fillHosts(given: Partial<Record<string, WrittenHost>> = {}): Record<string, HostConfig> {
  const names = [...new Set([...hostKinds, ...Object.keys(given)])];
  return Object.fromEntries(names.map((name) => [name, fillHost(name, given[name])]));
}

function fillHost(name: string, given: WrittenHost | undefined): HostConfig {
  const namedKind = hostKinds.find((kind) => kind === name) ?? null;
  const { kind = namedKind, url, apiUrl, webhookSecret } = given ?? {};
  if (kind === null) throw hostFault(name, `needs a kind: ${hostKinds.join(', ')}`);
  if (namedKind !== null && kind !== namedKind)
    throw hostFault(name, `is a host of its own kind. Choose another name for one of the kind ${kind}`);
  // The URLs of an owner's repositories are made of it.
  for (const each of [url, apiUrl]) if (each !== undefined) assertNoCredential(each, `hosts.${name}`);
  const isElsewhere = namedKind === null || productOf(namedKind).publicUrl === null;
  if (given !== undefined && url === undefined && isElsewhere) throw hostFault(name, 'needs the url of the host');
  return {
    kind,
    url: url?.replace(/\/$/, '') ?? null,
    apiUrl: apiUrl?.replace(/\/$/, '') ?? null,
    webhookSecret: webhookSecret ?? null,
  };
}

function hostFault(name: string, what: string): RegistryError {
  return malformed(`hosts.${name} ${what}.`);
}
