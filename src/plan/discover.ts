import type { Repository } from '../model/connection.ts';
import type { Problem, Report } from '../model/problem.ts';
import type { Snapshot } from '../source/snapshot.ts';
import { applySettings, keptByRegistry } from './apply-settings.ts';
import type { Planned } from './planned.ts';
import { assignSlugs } from './assign-slugs.ts';
import { detectDocuments, type Found } from './detect-documents.ts';
import { createSearched, isWithin } from './document-names.ts';
import { listDocuments, type Listed } from './list-documents.ts';
import type { Registry } from '../registry/registry.ts';
import { findResource } from '../registry/find-resource.ts';
import { readSettingsOf, type Tell } from './settings-of.ts';

/** What discovery makes of a repository's tree. */
export interface Plan {
  documents: Planned[];
  /** Every file that was to be looked at. */
  looked: ReadonlySet<string>;
  /** Files that may be documents and are not published: too large, or kept elsewhere by Git LFS. */
  unread: Problem[];
  /** What there is to say about its `stele.yaml`. */
  settings: { path: string; report: Report };
  /** That `stele.yaml` did not pass; nothing is planned then. */
  isRefused: boolean;
}

/**
 * Finds the documents of a repository: those that its `stele.yaml` lists and, where it does not say otherwise, every other that is one by its content.
 */
export async function planDocuments(
  registry: Registry,
  repository: Repository,
  snapshot: Snapshot,
  signal?: AbortSignal,
): Promise<Plan> {
  const folder = repository.discover ?? '';
  const file = await readSettingsOf(registry, repository, snapshot, signal);
  const { path, settings, isRefused, tell } = file;
  if (isRefused)
    return { documents: [], looked: new Set(), unread: [], settings: { path, report: file.report() }, isRefused };
  const listed = settings === null ? new Map() : await listDocuments(settings, folder, snapshot, tell, signal);
  const isSearched = createSearched(folder, settings);
  const isDiscovering = settings?.discover ?? true;
  const paths = (await snapshot.entries()).flatMap((entry) => {
    if (entry.kind !== 'file' || !isWithin(entry.path, folder)) return [];
    return listed.has(entry.path) || (isDiscovering && isSearched(entry.path)) ? [entry.path] : [];
  });
  const { detected, unread } = await detectDocuments(registry, repository, snapshot, paths, signal);
  const found = withListed(detected, listed, tell);
  const coordinates = await assignSlugs(registry, repository, found, listed, tell);
  const documents: Planned[] = [];
  for (const document of found) {
    const coordinate = coordinates.get(document.path);
    if (coordinate === undefined) continue;
    const entry = listed.get(document.path) ?? null;
    const resource = await findResource(registry, coordinate);
    documents.push(applySettings(repository, document, coordinate, entry, file, resource));
    const isOurs = resource?.connection?.repository === repository.url;
    const kept = isOurs ? keptByRegistry(coordinate, entry, file, resource) : null;
    if (kept !== null) tell(entry?.entry.at ?? settings!.defaults.at, 'settings-kept', kept, 'info');
  }
  await bringVersionFiles(snapshot, documents);
  documents.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { documents, looked: new Set(paths), unread, settings: { path, report: file.report() }, isRefused };
}

/**
 * What was found, as it is listed. A file that is named, or taken by a pattern with a type, is planned also where it is no document by its content: its report
 * says what is wrong with it. Of the files that other patterns take, the documents count.
 */
function withListed(detected: readonly Found[], listed: Map<string, Listed>, tell: Tell): Found[] {
  const known = new Map(detected.map((document) => [document.path, document]));
  const barren = new Map<Listed['entry'], number>();
  for (const [path, { entry, taken }] of listed) {
    const document = known.get(path);
    if (document !== undefined || taken === null || entry.type !== undefined) {
      known.set(path, { path, title: null, ...document, type: entry.type ?? document?.type ?? 'apis' });
      barren.set(entry, Number.NEGATIVE_INFINITY);
    } else barren.set(entry, (barren.get(entry) ?? 0) + 1);
  }
  for (const [entry, count] of barren) {
    if (count <= 0) continue;
    const files = count === 1 ? 'a file that is no document' : `${count} files, and none is a document`;
    const what = `${JSON.stringify(entry.path)} takes ${files} by its content`;
    tell(entry.at, 'path-unmatched', `${what}. For documents all the same, give their type.`);
  }
  return [...known.values()];
}

/** The files that hold versions, brought together: each is read again where it is needed. */
async function bringVersionFiles(snapshot: Snapshot, documents: readonly Planned[]): Promise<void> {
  const paths = new Set(documents.flatMap(({ version }) => (version.from === 'file' ? [version.path] : [])));
  if (paths.size > 1) await snapshot.read([...paths]);
}
