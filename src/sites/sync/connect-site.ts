import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { connectedResources } from '../../plan/plan.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Generation } from '../../store/records.ts';
import { type DocumentationSite, type SiteConnection, type SiteName } from '../model/documentation-site.ts';
import { posix } from 'node:path';
import type { SettingsSite } from '../../compile/sandboxes.ts';
import type { SiteFiles } from '../registry/make-deployment.ts';
import type { Snapshot, SnapshotEntry } from '../../source/snapshot.ts';

/** A site that somebody connected by hand. */
export type ConnectedSite = DocumentationSite & { connection: SiteConnection };

/** The sites that somebody connected to a folder of this repository and branch. */
export async function connectedSites(
  { refs }: Pick<Registry, 'refs'>,
  { org, url, branch }: Pick<Repository, 'org' | 'url' | 'branch'>,
): Promise<ConnectedSite[]> {
  const isConnected = (site: DocumentationSite): site is ConnectedSite =>
    site.deletedAt === null &&
    site.connection?.byHand === true &&
    site.connection.repository === url &&
    site.connection.branch === branch;
  return (await refs.all<DocumentationSite>(`sites/${org}/`)).map(({ value }) => value).filter(isConnected);
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

/** A site of a commit. */
export interface FoundSite {
  name: SiteName;
  /** As the run names it. */
  path: string;
  /** In the repository, without a slash at its end; empty: all of it. */
  folder: string;
  /** Null: they are those of its record. */
  settings: SettingsSite | null;
}

/** The sites of a commit: those that its `stele.yaml` names, and those that somebody connected to one of its folders. */
export async function findSites(
  registry: Registry,
  repository: Repository,
  named: readonly SettingsSite[],
): Promise<FoundSite[]> {
  const { org } = repository;
  const byHand = await connectedSites(registry, repository);
  return [
    ...named.map((settings) => {
      const folder = posix.join(repository.discover ?? '', settings.path).replace(/^\.?\/?|\/$/g, '');
      return { name: { org, slug: settings.slug }, path: settings.path, folder, settings };
    }),
    ...byHand.map(({ slug, connection: { folder } }) => ({
      name: { org, slug },
      path: folder || '/',
      folder,
      settings: null,
    })),
  ];
}

/** The files of a folder, with paths as in the site. Others than files are reported when they are read. */
export function filesIn(snapshot: Snapshot, entries: readonly SnapshotEntry[], folder: string): SiteFiles {
  const start = folder === '' ? '' : `${folder}/`;
  const inFolder = entries.filter(({ path }) => path.startsWith(start));
  return {
    committedAt: snapshot.committedAt,
    files: inFolder.map(({ path, id }) => ({ path: path.slice(start.length), source: id })),
    async read(paths) {
      const read = await snapshot.read(paths.map((path) => start + path));
      return read.map((file) => (file.found ? file.bytes : file.problem));
    },
  };
}
