import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { connectedResources } from '../../plan/plan.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Generation } from '../../store/records.ts';
import { siteRef, type DocumentationSite, type SiteConnection } from '../model/documentation-site.ts';

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
