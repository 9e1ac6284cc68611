import { allowedHosts } from '../../config/credential-config.ts';
import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import {
  formatSite,
  siteRef,
  type DocumentationSite,
  type SiteConnection,
  type SiteName,
} from '../model/documentation-site.ts';
import { connectedResources } from '../../plan/plan.ts';
import type { Guard } from '../../registry/change-resource.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import { updateSite } from '../registry/site-record.ts';
import { isBranchName } from '../../source/branch.ts';
import { parseLocation } from '../../source/location.ts';
import { isPlainPath } from '../../source/path.ts';
import type { Generation } from '../../store/generations.ts';
import { assertCredential, followByHand } from '../../sync/connect.ts';

/** A folder to publish a site from, as somebody who is not trusted asks for it. */
export interface GivenFolder {
  repository: string;
  branch: string | null;
  /** Path in the repository; empty: the whole repository. */
  folder: string;
  credential: string | null;
}

/**
 * Connects a site to the folder of a repository: its files are those of the folder from the next
 * sync on, with the settings of the site. What is published stays until then. Rejects as
 * `connectResource` does.
 */
export async function connectSiteByHand(
  registry: Registry,
  site: SiteName,
  { repository, branch, credential, ...given }: GivenFolder,
  author: Author,
  guard: Guard = () => undefined,
  hookSecret?: string | null,
): Promise<Generation<DocumentationSite>> {
  const { config } = registry;
  const { allowLocalRepositories } = config.sync;
  const location = parseLocation(repository, { allowLocalRepositories, hosts: allowedHosts(config) });
  const folder = given.folder.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
  if (folder !== '' && !isPlainPath(folder)) {
    const message = `${JSON.stringify(given.folder)} is not a valid path. Use one relative to the repository, such as docs.`;
    throw new RegistryError('malformed', message);
  }
  if (branch !== null && !isBranchName(branch))
    throw new RegistryError('malformed', `${JSON.stringify(branch)} is not a valid branch name.`);
  if (credential !== null) assertCredential(config, site.org, credential, location);
  const connection: SiteConnection = { repository: location.url, branch, folder, byHand: true, credential };
  await updateSite(registry, site, author, guard, () => null);
  const { org } = site;
  await followByHand(registry, org, connection, author, {
    reason: formatSite(site),
    hookSecret,
    isKnown: () => false,
  });
  return updateSite(registry, site, author, guard, (current) =>
    JSON.stringify(current.connection) === JSON.stringify(connection)
      ? null
      : { next: { ...current, connection }, action: 'connect' },
  );
}

/**
 * Disconnects a site. What is published stays, and the site's own files are those that were sent.
 * Rejects with `not_found` if it is not connected.
 */
export async function disconnectSite(
  registry: Registry,
  site: SiteName,
  author: Author,
  guard: Guard = () => undefined,
): Promise<void> {
  await updateSite(registry, site, author, guard, (current) => {
    if (current.connection === null) throw new RegistryError('not_found', `${formatSite(site)} has no connection.`);
    return { next: { ...current, connection: null }, action: 'disconnect' };
  });
}

/** A site that somebody connected by hand. */
export type ConnectedSite = DocumentationSite & { connection: SiteConnection };

/** The sites that somebody connected to a folder of this repository and branch. */
export async function connectedSites(
  { refs }: Pick<Registry, 'refs'>,
  { org, url, branch }: Pick<Repository, 'org' | 'url' | 'branch'>,
): Promise<ConnectedSite[]> {
  const sites: ConnectedSite[] = [];
  for await (const name of refs.list(siteRef({ org, slug: '' }))) {
    const site = (await refs.read<DocumentationSite>(name))?.value;
    const from = site?.deletedAt === null ? site.connection : null;
    if (from?.byHand && from.repository === url && from.branch === branch) sites.push(site as ConnectedSite);
  }
  return sites;
}

/** The repository that a site is published from, as its last sync left it. */
export async function repositoryOfSite(
  { refs }: Pick<Registry, 'refs'>,
  org: string,
  { repository, branch }: SiteConnection,
): Promise<Generation<Repository> | null> {
  return refs.read<Repository>(repositoryRef(org, repositoryId(repository, branch)));
}

/** Whether nothing is connected to a repository any more, so that its remote need not be asked. */
export async function isIdle(registry: Registry, repository: Repository): Promise<boolean> {
  if (repository.discover !== null) return false;
  const resources = await connectedResources(registry, repository);
  return resources.length === 0 && (await connectedSites(registry, repository)).length === 0;
}
