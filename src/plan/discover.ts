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
import { readSettingsOf, type AddProblem } from './settings-of.ts';

/** The documents of a repository at one commit. */
export interface Plan {
  documents: Planned[];
  /** Every file that was searched. */
  searched: ReadonlySet<string>;
  /** Files that may be documents but cannot be read: too large, or stored in Git LFS. */
  unread: Problem[];
  /** Problems in `stele.yaml`. */
  settings: { path: string; report: Report };
  /** Whether `stele.yaml` is invalid. Nothing is planned then. */
  isRefused: boolean;
}

/**
 * Finds the documents of a repository: those listed in `stele.yaml` and, unless it disables
 * discovery, all others.
 */
export async function planDocuments(
  registry: Registry,
  repository: Repository,
  snapshot: Snapshot,
  signal?: AbortSignal,
): Promise<Plan> {
  const folder = repository.discover ?? '';
  const file = await readSettingsOf(registry, repository, snapshot, signal);
  const { path, settings, isRefused, addProblem } = file;
  if (isRefused)
    return { documents: [], searched: new Set(), unread: [], settings: { path, report: file.report() }, isRefused };
  const listed = settings === null ? new Map() : await listDocuments(settings, folder, snapshot, addProblem, signal);
  const isSearched = createSearched(folder, settings);
  const isDiscovering = settings?.discover ?? true;
  const paths = (await snapshot.entries()).flatMap((entry) => {
    if (entry.kind !== 'file' || !isWithin(entry.path, folder)) return [];
    return listed.has(entry.path) || (isDiscovering && isSearched(entry.path)) ? [entry.path] : [];
  });
  const { detected, unread } = await detectDocuments(registry, repository, snapshot, paths, signal);
  const found = withListed(detected, listed, addProblem);
  const coordinates = await assignSlugs(registry, repository, found, listed, addProblem);
  const documents: Planned[] = [];
  for (const document of found) {
    const coordinate = coordinates.get(document.path);
    if (coordinate === undefined) continue;
    const entry = listed.get(document.path) ?? null;
    const resource = await findResource(registry, coordinate);
    documents.push(applySettings(repository, document, coordinate, entry, file, resource));
    const isOurs = resource?.connection?.repository === repository.url;
    const kept = isOurs ? keptByRegistry(coordinate, entry, file, resource) : null;
    if (kept !== null) addProblem(entry?.entry.at ?? settings!.defaults.at, 'settings-kept', kept, 'info');
  }
  await bringVersionFiles(snapshot, documents);
  documents.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { documents, searched: new Set(paths), unread, settings: { path, report: file.report() }, isRefused };
}

/**
 * Combines the detected documents with the listed ones. A file that is listed by name or with a
 * type is planned even when its content is not a document, so that its report says what is wrong.
 * Other patterns select only documents.
 */
function withListed(detected: readonly Found[], listed: Map<string, Listed>, addProblem: AddProblem): Found[] {
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
    const files = count === 1 ? '1 file, but it is not a document' : `${count} files, but none of them is a document`;
    const message = `${JSON.stringify(entry.path)} matches ${files}. Set type to publish ${count === 1 ? 'it' : 'them'} anyway.`;
    addProblem(entry.at, 'path-unmatched', message);
  }
  return [...known.values()];
}

/**
 * Reads all files that contain versions in one batch. Each is read again later, then from memory.
 */
async function bringVersionFiles(snapshot: Snapshot, documents: readonly Planned[]): Promise<void> {
  const paths = new Set(documents.flatMap(({ version }) => (version.from === 'file' ? [version.path] : [])));
  if (paths.size > 1) await snapshot.read([...paths]);
}
