import { allowedHosts, mayUseCredential, readCredential } from '../config/credential-config.ts';
import type { ArtifactConfig } from '../model/artifact.ts';
import { repositoryName, type Repository } from '../model/connection.ts';
import { forbidden, refused } from '../model/errors.ts';
import type { Resource } from '../model/resource.ts';
import { parseLocation } from '../source/location.ts';
import type { Credential, Remote } from '../source/source.ts';
import type { Registry } from './registry.ts';
import type { Host } from '../hosts/host.ts';

/** The repository as `source/` takes it, at its branch or at another ref. */
export async function remoteOf(
  registry: Registry,
  { org, url, branch, credential }: Pick<Repository, 'org' | 'url' | 'branch' | 'credential'>,
  ref: string = branch === null ? 'HEAD' : `refs/heads/${branch}`,
): Promise<Remote> {
  return { url, ref, credential: credential === null ? null : await credentialFor(registry, org, url, credential) };
}

/** Reads the credential. That of an app is created by its host and is valid for an hour. */
async function credentialFor(registry: Registry, org: string, url: string, name: string): Promise<Credential> {
  assertOrganization(registry, org, name);
  const host = hostOf(registry, url);
  assertHost(registry, url, name);
  const minted = host && (await host.host.gitCredential({ name: host.name, credential: name }));
  return minted ?? readCredential(registry.config, name);
}

/** Checked at each use: the configuration may have changed since the repository was connected. */
function assertOrganization({ config }: Registry, org: string, name: string): void {
  if (mayUseCredential(config, org, name)) return;
  throw forbidden(
    `The credential ${JSON.stringify(name)} may not be used by ${org}. Ask the operator to add ${org} to its organizations in the configuration.`,
  );
}

/** A credential with a `host` is sent only there, whatever the repository's URL is. */
function assertHost({ config }: Registry, url: string, name: string): void {
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  if (credential === null || !('host' in credential) || credential.host === undefined) return;
  const location = parseLocation(url, { allowLocalRepositories: true, hosts: allowedHosts(config) });
  const names = location.kind === 'local' ? [] : [location.host, `${location.host}:${location.port}`];
  if (names.includes(credential.host)) return;
  throw forbidden(`The credential ${JSON.stringify(name)} may be used only for ${credential.host}.`);
}

/** The git host of a repository's URL and the repository's name there; null for an unknown host. */
export function hostOf({ hosts }: Pick<Registry, 'hosts'>, url: string): { host: Host; name: string } | null {
  for (const host of hosts) {
    const name = host.nameOf(url);
    if (name !== null) return { host, name };
  }
  return null;
}

/** The URL under which an organization follows a repository now, where it was renamed on its host. */
export async function urlNow({ refs }: Pick<Registry, 'refs'>, org: string, url: string): Promise<string> {
  const all = await refs.all<Repository>(`repositories/${org}/`);
  const seen = new Set<string>();
  let now = url;
  while (!seen.has(now)) {
    seen.add(now);
    now = all.find(({ value }) => value.url === now && value.renamed !== undefined)?.value.renamed ?? now;
  }
  return now;
}

/** Where to read the commit of a version: the connected repository, else the one in its provenance. Throws `refused` for a folder that is connected no more. */
export async function whereFrom(
  registry: Pick<Registry, 'refs'>,
  { org, connection }: Resource,
  { provenance }: ArtifactConfig,
): Promise<Pick<Repository, 'org' | 'url' | 'branch' | 'credential'>> {
  const named = await urlNow(registry, org, provenance.repository!);
  if (connection && repositoryName(connection.repository) === named) {
    return { org, url: connection.repository, branch: connection.branch, credential: connection.credential };
  }
  if (!/^[a-z+]+:\/\/|^[^/@]+@[^/:]+:/.test(named))
    throw refused(`The version is from a folder ${JSON.stringify(named)}, which is no longer connected.`);
  return { org, url: named, branch: null, credential: null };
}
