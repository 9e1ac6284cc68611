import { posix } from 'node:path';
import type { SettingsSite } from '../../compile/compile.ts';
import { isSandboxLost } from '../../compile/sandbox-lost.ts';
import type { RunDocument } from '../../model/connection.ts';
import { isRegistryError } from '../../model/errors.ts';
import { describeBlocking } from '../../model/problem.ts';
import {
  formatSite,
  type SiteConnection,
  type SiteName,
  type SiteSettings,
} from '../../model/sites/documentation-site.ts';
import type { SiteFiles } from '../../registry/sites/make-deployment.ts';
import { publishSite } from '../../registry/sites/publish-site.ts';
import { connectSite } from '../../registry/sites/site-record.ts';
import type { Author } from '../../registry/registry.ts';
import type { Snapshot, SnapshotEntry } from '../../source/snapshot.ts';
import type { Syncing } from '../syncing.ts';

/** What became of the sites of a commit. `lost`: why one could not be read; it is then tried again. */
export interface SyncedSites {
  documents: RunDocument[];
  lost: string | null;
}

/**
 * Publishes the documentation sites that `stele.yaml` names: each from a folder of the commit. A
 * folder that did not change publishes nothing.
 */
export async function syncSites(
  syncing: Syncing,
  snapshot: Snapshot,
  sites: readonly SettingsSite[],
): Promise<SyncedSites> {
  const documents: RunDocument[] = [];
  let lost: string | null = null;
  for (const site of sites) {
    syncing.signal.throwIfAborted();
    try {
      const document = await syncSite(syncing, snapshot, site);
      if (document !== null) documents.push(document);
    } catch (error) {
      if (isSandboxLost(error)) lost ??= `${site.path}: ${error.message}`;
      else if (isRegistryError(error)) documents.push(noteOn(site.path, 'rejected', error.message));
      else throw error;
    }
  }
  const { registry, run } = syncing;
  for (const document of documents)
    registry.log(document.outcome === 'published' ? 'info' : 'warn', 'document', { run: run.id, ...document });
  return { documents, lost };
}

/** Null if nothing changed. */
async function syncSite(
  { registry, repository, run }: Syncing,
  snapshot: Snapshot,
  site: SettingsSite,
): Promise<RunDocument | null> {
  const { org, url, branch } = repository;
  const name: SiteName = { org, slug: site.slug };
  const folder = posix.join(repository.discover ?? '', site.path).replace(/^\.?\/?|\/$/g, '');
  const author: Author = { actor: `sync:${org}`, origin: `run:${run.id}` };
  const connection: SiteConnection = { repository: url, branch, folder };
  const settings = settingsOf(site);
  const { visibility = repository.visibility, blockOn = 'error' } = site;
  await connectSite(registry, name, { ...settings, visibility, blockOn, connection }, author);
  const files = filesIn(snapshot, await snapshot.entries(), folder);
  const { commit } = snapshot.origin;
  const result = await publishSite(registry, {
    site: name,
    ...files,
    settings,
    origin: { repository: url, commit: commit ?? '', folder },
    // A report is for whoever may read the organization, as the runs of its repositories are.
    reader: { kind: 'key', id: 'sync', org, scopes: ['read'], resources: null },
    author,
  });
  if (result.outcome === 'unchanged') return null;
  const warnings = result.report.counts.warning;
  const more = warnings === 0 ? '' : ` ${warnings} warning${warnings === 1 ? '' : 's'}.`;
  const outcome = result.outcome === 'published' ? 'published' : 'rejected';
  const detail =
    result.outcome === 'published'
      ? `deployment ${result.deployment.label}.${more}`
      : describeBlocking(result.report).replace('document', 'site');
  const { length } = result.report.problems;
  const report = length === 0 ? null : await registry.objects.put(JSON.stringify(result.report));
  return { ...noteOn(site.path, outcome, `${formatSite(name)}: ${detail}`), report };
}

function settingsOf({ title, description, theme, navigation, redirects, versions }: SettingsSite): SiteSettings {
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
function filesIn(snapshot: Snapshot, entries: readonly SnapshotEntry[], folder: string): SiteFiles {
  const start = folder === '' ? '' : `${folder}/`;
  const own = entries.filter(({ path }) => path.startsWith(start));
  return {
    files: own.map(({ path, id }) => ({ path: path.slice(start.length), source: id })),
    async read(paths) {
      const read = await snapshot.read(paths.map((path) => start + path));
      return read.map((file) => (file.found ? file.bytes : file.problem));
    },
  };
}

function noteOn(path: string, outcome: RunDocument['outcome'], detail: string): RunDocument {
  return { path, resource: null, outcome, label: null, report: null, detail };
}
