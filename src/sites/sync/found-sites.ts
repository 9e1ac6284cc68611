import { posix } from 'node:path';
import type { SettingsSite } from '../../compile/repository-reader.ts';
import type { Repository } from '../../model/connection.ts';
import type { SiteName, SiteSettings } from '../model/documentation-site.ts';
import type { SiteFiles } from '../registry/make-deployment.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Snapshot, SnapshotEntry } from '../../source/snapshot.ts';
import { connectedSites } from './connect-site.ts';

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

/** The settings of a site as `stele.yaml` writes them. */
export function settingsIn({ title, description, theme, navigation, redirects, versions }: SettingsSite): SiteSettings {
  return {
    title,
    description: description ?? '',
    theme: theme ?? {},
    navigation: navigation ?? null,
    redirects: redirects ?? {},
    versions: versions ?? [],
  };
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
