import { formatCoordinate } from '../model/address.ts';
import {
  documentAt,
  type Connection,
  type DocumentState,
  type Repository,
  type RunDocument,
} from '../model/connection.ts';
import type { Digest } from '../model/digest.ts';
import { coordinateOf, nameOf, type Resource } from '../model/resource.ts';
import type { Snapshot } from '../source/snapshot.ts';
import { planDocuments, type Plan } from './discover.ts';
import type { Planned } from './planned.ts';
import type { Moves } from './moves.ts';
import type { Registry } from '../registry/registry.ts';
import { listReadable } from '../registry/readable.ts';

/** So many findings in a `stele.yaml` are told in words. */
const mostTold = 10;

/** A resource that is connected to a repository. */
export type Connected = Resource & { connection: Connection };

/** The resources whose connection names this repository and branch. */
export async function connectedResources(registry: Registry, repository: Repository): Promise<Connected[]> {
  const all = await listReadable(registry, { kind: 'operator', id: 'sync' }, { org: repository.org });
  return all.filter(
    (resource): resource is Connected =>
      resource.connection?.repository === repository.url && resource.connection.branch === repository.branch,
  );
}

/** A connected resource as its document is published. */
export function plannedFor(resource: Connected): Planned {
  const { name, description, visibility, ruleset, validation, connection } = resource;
  const { path, onConflict, tags } = connection;
  const made = { name, description, visibility, ruleset, validation };
  const coordinate = coordinateOf(resource);
  return {
    path,
    coordinate,
    ...made,
    onConflict,
    tags,
    version: { from: 'document' },
    isFound: connection.found === true,
    listedAt: null,
  };
}

/** Documents that were connected one by one, and those that discovery finds. What was connected by hand comes first. `moves`: files that were renamed since. */
export async function planAll(
  registry: Registry,
  repository: Repository,
  snapshot: Snapshot,
  signal: AbortSignal,
  moves: Moves = new Map(),
): Promise<{ planned: Planned[]; notes: RunDocument[]; isRefused: boolean }> {
  const discovered = repository.discover === null ? null : await planDocuments(registry, repository, snapshot, signal);
  const planned = new Map((discovered?.documents ?? []).map((each) => [formatCoordinate(each.coordinate), each]));
  const present = new Set((await snapshot.entries()).map(({ path }) => path));
  const isRefused = discovered?.isRefused ?? false;
  for (const resource of await connectedResources(registry, repository)) {
    const path = moves.get(resource.connection.path) ?? resource.connection.path;
    const connection = { ...resource.connection, path };
    const key = nameOf(resource);
    const known = documentAt(repository, connection.path);
    // A file that was published and is gone is detached, not refused.
    const isGone =
      !present.has(connection.path) && known !== null && (known.label !== null || known.outcome === 'detached');
    // Where `stele.yaml` is refused, nobody knows what is to be published: only what was connected since is looked at.
    const isHeld = isRefused && known !== null;
    const document = planned.get(key);
    if (document !== undefined && !connection.found && document.path === connection.path) document.isFound = false;
    const isOut = discovered !== null && connection.found && isPassedOver(discovered, key, connection.path);
    if (document !== undefined || isGone || isHeld || isOut) continue;
    planned.set(key, plannedFor({ ...resource, connection }));
  }
  const paths = new Set([...planned.values()].map(({ path }) => path));
  const unread = (discovered?.unread ?? []).filter(({ file }) => !paths.has(file));
  const notes = unread.map(({ file, message }) => noteOn(file, null, message));
  if (discovered !== null) notes.push(...(await settingsNotes(registry, discovered)));
  return { planned: [...planned.values()], notes, isRefused };
}

/** Whether `stele.yaml` has a file that was found before passed over, or published to another resource. */
function isPassedOver({ documents, looked, isRefused }: Plan, name: string, path: string): boolean {
  if (isRefused) return false;
  return (
    !looked.has(path) || documents.some((each) => each.path === path && formatCoordinate(each.coordinate) !== name)
  );
}

/** What there is to say about `stele.yaml`, each finding with its place; its report holds all of them. */
async function settingsNotes(registry: Registry, { settings: { path, report } }: Plan): Promise<RunDocument[]> {
  const { problems, counts } = report;
  if (problems.length === 0) return [];
  const digest = await registry.objects.put(JSON.stringify(report));
  const told = problems
    .slice(0, mostTold)
    .map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
  const more = counts.error + counts.warning + counts.info - told.length;
  const detail = [...told, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
  return [{ ...noteOn(path, digest, detail), outcome: counts.error > 0 ? 'rejected' : 'unchanged' }];
}

/** What is told of a file that belongs to no resource. */
function noteOn(path: string, report: Digest | null, detail: string | null): RunDocument {
  return { path, resource: null, outcome: 'rejected', label: null, report, detail };
}

/** Documents that were published and whose file is gone, or no document any more. Told once. */
export function detachedDocuments(
  repository: Repository,
  planned: readonly Planned[],
  isPlanRefused: boolean,
): { states: Record<string, DocumentState>; results: RunDocument[] } {
  if (isPlanRefused) return { states: {}, results: [] };
  const paths = new Set(planned.map(({ path }) => path));
  const gone = Object.entries(repository.documents).filter(
    ([path, { outcome }]) => !paths.has(path) && outcome !== 'detached',
  );
  const detail =
    'The file is no longer in the repository, or no longer to be published from there. What is published stays.';
  return {
    states: Object.fromEntries(gone.map(([path, state]) => [path, { ...state, outcome: 'detached' as const, detail }])),
    results: gone.map(([path, { resource, label }]) => ({
      path,
      resource,
      outcome: 'detached',
      label,
      report: null,
      detail,
    })),
  };
}
