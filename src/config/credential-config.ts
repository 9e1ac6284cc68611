import { resolve } from 'node:path';
import { productOf } from '../hosts/host.ts';
import { malformed } from '../model/errors.ts';
import type { Credential } from '../source/source.ts';
import { readSecret } from './environment.ts';
import type { FilledCredential } from './written.ts';
import { type HostConfig, isLocalUrl, organizationIn, type OrganizationConfig } from './organization-config.ts';

/** A credential for git and its host. */
export type CredentialConfig = FilledCredential;

type Credentials = Record<string, CredentialConfig>;

interface Uses {
  organizations: Record<string, OrganizationConfig>;
  hosts: Record<string, HostConfig>;
}

/** Makes the paths of key files absolute. */
export function absoluteKeys(base: string, credentials: Credentials): Credentials {
  const entries = Object.entries(credentials).map(([name, { ...credential }]) => {
    if ('sshKeyFile' in credential) credential.sshKeyFile = resolve(base, credential.sshKeyFile);
    if ('githubApp' in credential) {
      const { appId, privateKeyFile } = credential.githubApp;
      credential.githubApp = { appId, privateKeyFile: resolve(base, privateKeyFile) };
    }
    return [name, credential] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the hosts that git may contact: `sync.hosts` and those of the configured repositories.
 */
export function allowedHosts(config: Uses & { sync: { hosts: string[] } }): string[] {
  const configured = credentialUses(config).flatMap(({ url }) => hostOf(url) ?? []);
  return [...new Set([...config.sync.hosts, ...configured])];
}

/** Where the configuration uses a credential, or none: by whom, and for which URL. */
export function credentialUses(config: Uses): { org: string; url: string; credential: string | null }[] {
  return Object.entries(config.organizations).flatMap(([org, { repositories, owners }]) => [
    ...repositories.map(({ url, credential = null }) => ({ org, url, credential })),
    ...owners.map(({ host, owner, credential = null }) => {
      const { kind, url } = config.hosts[host]!;
      return { org, url: `${url ?? productOf(kind).publicUrl}/${encodeURI(owner)}`, credential };
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

/** Throws `malformed` unless every credential that is used is there, and may be used. */
export function assertCredentials(config: Uses & { credentials: Credentials }): void {
  for (const { org, url, credential } of credentialUses(config)) {
    const uses = `organizations.${org}: ${url} uses the credential ${JSON.stringify(credential)}`;
    if (credential !== null && !Object.hasOwn(config.credentials, credential))
      throw malformed(`${uses}, which is not defined in credentials.`);
    if (credential !== null && !mayUseCredential(config, org, credential)) {
      const what = `which ${org} may not use. Add ${org} to credentials.${credential}.organizations.`;
      throw malformed(`${uses}, ${what}`);
    }
  }
}

/**
 * Reports whether the organization may use the credential: by the credential's `organizations`, or
 * without them, if a configured repository of the organization names it. False for a missing one.
 */
export function mayUseCredential(
  config: Pick<Uses, 'organizations'> & { credentials: Credentials },
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
export function readCredential(config: { credentials: Credentials }, name: string): Credential {
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  if (credential === null)
    throw malformed(`The credential ${JSON.stringify(name)} is not defined in the configuration.`);
  if ('githubApp' in credential)
    throw malformed(`The credential ${JSON.stringify(name)} is a GitHub app and works only with GitHub.`);
  if ('sshKeyFile' in credential) return { kind: 'ssh', keyFile: credential.sshKeyFile };
  return {
    kind: 'token',
    username: credential.username ?? 'x-access-token',
    token: readSecret({ env: credential.env }),
  };
}
