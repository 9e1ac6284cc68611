import { own } from '../../model/json.ts';
import type { SettingsSite } from '../../compile/sandboxes.ts';
import { isSandboxLost } from '../../compile/compile.ts';
import {
  isInStep,
  type Repository,
  type RunDocument,
  type SiteState,
  repositoryId,
  repositoryRef,
} from '../../model/connection.ts';
import type { Digest } from '../../model/digest.ts';
import { isRegistryError } from '../../model/errors.ts';
import { countText, describeBlocking } from '../../model/problem.ts';
import {
  formatSite,
  parseSite,
  settingsOf,
  type SiteConnection,
  type DocumentationSite,
  type SiteName,
} from '../model/documentation-site.ts';
import { publishSite } from '../registry/publish-site.ts';
import { connectSite } from '../registry/site-record.ts';
import type { Author, Registry } from '../../registry/registry.ts';
import type { Snapshot, SnapshotEntry } from '../../source/snapshot.ts';
import type { Syncing } from '../../sync/runs.ts';
import { connectedResources } from '../../plan/plan.ts';
import { findSite } from '../../registry/lives.ts';
import type { Generation } from '../../store/records.ts';
import { posix } from 'node:path';
import type { SiteFiles } from '../registry/make-deployment.ts';

/**
 * Publishes the documentation sites of a commit: those that `stele.yaml` names, and those that
 * somebody connected to one of its folders. A folder that did not change publishes nothing. `named`
 * null: `stele.yaml` is invalid, and the sites that it named stay as they are. `change`: what to record
 * about them. `lost`: why one could not be read; it is then tried again.
 */
export async function syncSites(
  syncing: Syncing,
  snapshot: Snapshot,
  named: readonly SettingsSite[] | null,
): Promise<{ documents: RunDocument[]; change: Pick<Repository, 'sites'>; lost: string | null }> {
  const { registry, repository, run } = syncing;
  const documents: RunDocument[] = [];
  const states: Record<string, SiteState> = Object.fromEntries(
    Object.entries(repository.sites ?? {}).filter(([, { outcome }]) => named === null || outcome === 'detached'),
  );
  let lost: string | null = null;
  const sites = await findSites(registry, repository, named ?? []);
  const at = registry.now().toISOString();
  const record = (
    site: FoundSite,
    outcome: SiteState['outcome'],
    detail: string | null,
    report: Digest | null = null,
  ) => {
    const isAccepted = isInStep({ outcome });
    const before = own(repository.sites ?? {}, site.name.slug);
    const isAsBefore = before !== undefined && isInStep(before) === isAccepted;
    states[site.name.slug] = { outcome, since: isAsBefore ? before.since : at, detail: isAccepted ? null : detail };
    if (outcome === 'unchanged') return;
    const name = formatSite(site.name);
    const text = detail === null || detail.startsWith(name) ? detail : `${name}: ${detail}`;
    documents.push({ path: site.path, resource: null, site: name, outcome, label: null, report, detail: text });
  };
  for (const site of sites) {
    syncing.signal.throwIfAborted();
    try {
      const { outcome, detail, report } = await syncSite(syncing, snapshot, site);
      record(site, outcome, detail, report);
    } catch (error) {
      if (isSandboxLost(error)) lost ??= `${site.path}: ${error.message}`;
      else if (isRegistryError(error)) record(site, 'rejected', error.message);
      else throw error;
    }
  }
  for (const document of named === null ? [] : await detachedSites(registry, repository, sites)) {
    const { site, detail } = document;
    states[parseSite(site)!.slug] = { outcome: 'detached', since: at, detail };
    documents.push(document);
  }
  for (const document of documents)
    registry.log(document.outcome === 'published' ? 'info' : 'warn', 'document', { run: run.id, ...document });
  const hasSites = sites.length > 0 || repository.sites !== undefined;
  return { documents, change: hasSites ? { sites: states } : {}, lost };
}

async function syncSite(
  { registry, repository, run }: Syncing,
  snapshot: Snapshot,
  { name, folder, settings: given }: FoundSite,
): Promise<{ outcome: SiteState['outcome']; detail: string | null; report: Digest | null }> {
  const { org, url, branch } = repository;
  const author: Author = { actor: `sync:${org}`, origin: `run:${run.id}` };
  const settings = given && settingsOf(given);
  if (given !== null) {
    const { visibility = repository.visibility, blockOn = 'error' } = given;
    const connection: SiteConnection = { repository: url, branch, folder };
    await connectSite(registry, name, { ...settingsOf(given), visibility, blockOn, connection }, author);
  }
  const { commit } = snapshot.origin;
  const result = await publishSite(registry, {
    site: name,
    ...filesIn(snapshot, await snapshot.entries(), folder),
    ...(settings && { settings }),
    origin: { repository: url, commit: commit ?? '', folder },
    // A report is for whoever may read the organization, as the runs of its repositories are.
    reader: { kind: 'key', id: 'sync', org, scopes: ['read'], resources: null },
    author,
  });
  if (result.outcome === 'unchanged') return { outcome: 'unchanged', detail: null, report: null };
  const warnings = result.report.counts.warning;
  const more = warnings === 0 ? '' : ` ${countText(warnings, 'warning')}.`;
  const { length } = result.report.problems;
  const report = length === 0 ? null : await registry.objects.put(JSON.stringify(result.report));
  if (result.outcome === 'published')
    return { outcome: 'published', detail: `deployment ${result.deployment.label}.${more}`, report };
  return { outcome: 'rejected', detail: describeBlocking(result.report, 'site'), report };
}

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

/** The sites that a commit cuts off: its `stele.yaml` no longer names them. What they published stays. */
export async function detachedSites(
  registry: Registry,
  { org, url, branch, sites = {} }: Pick<Repository, 'org' | 'url' | 'branch' | 'sites'>,
  found: readonly FoundSite[],
): Promise<(RunDocument & { site: string })[]> {
  const there = new Set(found.map(({ name }) => name.slug));
  const gone = Object.keys(sites).filter((slug) => !there.has(slug) && sites[slug]!.outcome !== 'detached');
  const documents = gone.map(async (slug) => {
    const connection = (await findSite(registry, { org, slug }))?.value.connection;
    if (connection?.repository !== url || connection.branch !== branch) return [];
    const path = connection.folder || '/';
    const detail = 'stele.yaml no longer names the site. The published site stays.';
    return [{ path, resource: null, site: formatSite({ org, slug }), ...cutOff, detail }];
  });
  return (await Promise.all(documents)).flat();
}

const cutOff = { outcome: 'detached', label: null, report: null } as const;

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
