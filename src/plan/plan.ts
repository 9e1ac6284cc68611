import { formatCoordinate } from '../model/address.ts';
import {
  documentAt,
  repositoryName,
  type Connection,
  type DocumentState,
  type Repository,
  type RunDocument,
} from '../model/connection.ts';
import type { Digest } from '../model/digest.ts';
import { fileOf } from '../model/artifact.ts';
import { gateSettingsOf } from '../model/gate.ts';
import { coordinateOf, nameOf, newestVersions, type Resource } from '../model/resource.ts';
import type { SettingsSite } from '../compile/sandboxes.ts';
import type { ReportedContract } from '../model/dependency.ts';
import { contractsIn } from './locked-files.ts';
import { planDocuments, type Plan } from './discover.ts';
import type { Reading } from './settings-of.ts';
import type { Planned } from './planned.ts';
import { policyOf } from '../registry/gate/policy.ts';
import type { Registry } from '../registry/registry.ts';
import type { Projection } from '../store/log/state.ts';
import { readConfigOf, readJson } from '../registry/stored.ts';

const maxQuotes = 10;

/** A resource that is connected to a repository. */
export type Connected = Resource & { connection: Connection };

/** Names of the records of resources, by the URL of the repository that they are connected to. */
const byRepository: Projection<Map<string, Set<string>>> = {
  create: () => new Map(),
  change(view, name, before, after) {
    if (!name.startsWith('resources/')) return;
    const [old, now] = [before, after].map((value) => (value as Resource | undefined)?.connection?.repository);
    if (old === now) return;
    if (old !== undefined) view.get(old)?.delete(name);
    if (now !== undefined) view.getOrInsert(now, new Set()).add(name);
  },
};

/**
 * The resources that are connected to this repository and branch. Those that discovery connected
 * count only while it looks for documents there.
 */
export async function connectedResources(registry: Registry, repository: Repository): Promise<Connected[]> {
  const { org, url, branch, discover } = repository;
  const names = [...((await registry.refs.projected(org, byRepository)).get(url) ?? [])].sort();
  const found = await Promise.all(names.map((name) => registry.refs.read<Resource>(name)));
  return found
    .flatMap((generation) => generation?.value ?? [])
    .filter(
      (resource): resource is Connected =>
        resource.deletedAt === null &&
        resource.connection?.repository === url &&
        resource.connection.branch === branch &&
        (discover !== null || resource.connection.found !== true),
    );
}

/** The plan for a resource that is connected by hand. */
export function plannedFor(resource: Connected): Planned {
  const { name, description, visibility, ruleset, validation, connection } = resource;
  const { path, view, onConflict, tags } = connection;
  const settings = { name, description, visibility, ruleset, validation, ...gateSettingsOf(resource) };
  const coordinate = coordinateOf(resource);
  return {
    path,
    ...(view && { view }),
    coordinate,
    ...settings,
    onConflict,
    tags,
    version: { from: 'document' },
    isFound: connection.found === true,
    listedAt: null,
  };
}

/** What a commit becomes. */
export interface PlannedTree {
  planned: Planned[];
  /** The resources that are connected to the repository: their names, and their files. */
  connected: ReadonlyMap<string, string>;
  notes: RunDocument[];
  isRefused: boolean;
  sites: readonly SettingsSite[];
  /** What its locks say it uses, or said before one of them was invalid. Absent: they never named anything. */
  contracts?: ReportedContract[] | undefined;
}

/**
 * Plans the documents that were connected by hand and those that discovery finds. A connection by
 * hand wins. `moves`: files that were renamed since the last sync.
 */
export async function planAll(reading: Reading, moves: Moves = new Map()): Promise<PlannedTree> {
  const { registry, repository, snapshot } = reading;
  const connected = (await connectedResources(registry, repository)).map(({ connection, ...resource }) => ({
    ...resource,
    connection: { ...connection, path: moves.get(connection.path) ?? connection.path },
  }));
  const published = new Set(connected.map(({ connection }) => connection.path));
  const discovered = repository.discover === null ? null : await planDocuments(reading, published);
  const planned = new Map((discovered?.documents ?? []).map((each) => [formatCoordinate(each.coordinate), each]));
  // Of a name that was found, also those of another path.
  const states = new Map([
    ...Object.entries(repository.left ?? {}),
    ...Object.values(repository.documents).map((state) => [state.resource, state] as const),
  ]);
  const present = new Set((await snapshot.entries()).map(({ path }) => path));
  const isRefused = discovered?.isRefused ?? false;
  for (const resource of connected) {
    const { connection } = resource;
    const key = nameOf(resource);
    const recorded =
      documentAt(repository, connection.path, key) ?? (connection.found ? (states.get(key) ?? null) : null);
    // A published file that is missing is detached. It is not rejected.
    const isGone =
      !present.has(fileOf(connection)) &&
      recorded !== null &&
      (recorded.label !== null || recorded.outcome === 'detached');
    // When `stele.yaml` is invalid, only documents that were connected since the last sync are
    // planned.
    const isHeld = isRefused && recorded !== null;
    const document = planned.get(key);
    if (document !== undefined && !connection.found && document.path === connection.path) document.isFound = false;
    const isNoLongerFound = discovered !== null && connection.found && isPassedOver(discovered, key, connection);
    if (document !== undefined || isGone || isHeld || isNoLongerFound) continue;
    planned.set(key, plannedFor(resource));
  }
  const files = new Map(connected.map((resource) => [nameOf(resource), fileOf(resource.connection)]));
  const ended: NonNullable<Planned['ended']> = [];
  for (const resource of connected) {
    const document = planned.get(nameOf(resource));
    const lost = (await filesOf(registry, repository, resource)).filter(
      (file) => document === undefined || fileOf(document) !== file,
    );
    if (lost.length === 0 || (await policyOf(registry, resource)).approval !== 'required') continue;
    ended.push(...lost.map((file) => ({ file, resource })));
  }
  for (const [name, document] of planned) if (files.get(name) !== fileOf(document)) document.ended = ended;
  const paths = new Set([...planned.values()].map(({ path }) => path));
  const unread = (discovered?.unread ?? []).filter(({ file }) => !paths.has(file));
  const notes = unread.map(({ file, message }) => noteOn(file, null, message));
  if (discovered !== null) notes.push(...(await settingsNotes(registry, discovered)));
  const named = discovered === null || isRefused ? null : contractsIn(discovered.locks);
  const isWithout = repository.contracts === undefined && named?.length === 0;
  const contracts = isWithout ? undefined : (named ?? repository.contracts);
  // Where there are documents, the report of each that is below an invalid lock says so.
  const invalid = planned.size > 0 ? null : discovered?.locks.find(({ fault }) => fault !== null);
  if (invalid) notes.push(noteOn(invalid.path, null, `It is ${invalid.fault}`));
  const sites = discovered?.settings.sites ?? [];
  return { planned: [...planned.values()], connected: files, notes, isRefused, sites, contracts };
}

/**
 * The file that a resource is connected to, and those of its newest versions: by tags, or by a version below the latest, it
 * may be connected to another.
 */
async function filesOf(registry: Registry, repository: Repository, resource: Connected): Promise<string[]> {
  const { connection, latest } = resource;
  const file = fileOf(connection);
  if (connection.tags === null && documentAt(repository, connection.path, nameOf(resource))?.label === latest)
    return [file];
  const configs = await Promise.all(newestVersions(resource).map((version) => readConfigOf(registry, version)));
  const name = repositoryName(connection.repository);
  const published = configs.flatMap(({ provenance }) => (provenance.repository === name ? [provenance.path] : []));
  return [...new Set([...(connection.tags === null || published.length === 0 ? [file] : []), ...published])];
}

/** Whether `stele.yaml` now skips a file that was found earlier, or assigns it to another resource. */
function isPassedOver({ documents, searched, isRefused }: Plan, name: string, connection: Connection): boolean {
  if (isRefused) return false;
  const { path } = connection;
  return (
    !searched.has(fileOf(connection)) ||
    // A view that is listed no more, or now belongs to another resource.
    (connection.view !== undefined && documents.every((each) => each.path !== path)) ||
    // Of a file of which only views are listed, nothing else is published.
    documents.some((each) => fileOf(each) === fileOf(connection) && formatCoordinate(each.coordinate) !== name)
  );
}

/** The problems in `stele.yaml`, each with its place. The report contains all of them. */
async function settingsNotes(registry: Registry, { settings: { path, report } }: Plan): Promise<RunDocument[]> {
  const { problems, counts } = report;
  if (problems.length === 0) return [];
  const digest = await registry.objects.put(JSON.stringify(report));
  const quoted = problems
    .slice(0, maxQuotes)
    .map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`);
  const more = counts.error + counts.warning + counts.info - quoted.length;
  const detail = [...quoted, ...(more > 0 ? [`And ${more} more.`] : [])].join(' ');
  return [{ ...noteOn(path, digest, detail), outcome: counts.error > 0 ? 'rejected' : 'unchanged' }];
}

/** The result for a file that belongs to no resource. */
function noteOn(path: string, report: Digest | null, detail: string | null): RunDocument {
  return { path, resource: null, outcome: 'rejected', label: null, report, detail };
}

/** What a plan ends. */
export interface Detached {
  /** The recorded states, by path. One that moved, or left its path to another, has none. */
  documents: Record<string, DocumentState>;
  left: Record<string, DocumentState>;
  /** Each is reported once. */
  results: RunDocument[];
}

const noLonger = 'The file was removed, or is no longer published from this repository. Published versions stay.';

/**
 * Everything that was published from this repository and no longer is, whatever the cause: its file is missing or no
 * longer a document, or is published as another resource.
 */
export function detachedDocuments(
  { id }: Registry['compiler'],
  { documents, left = {} }: Pick<Repository, 'documents' | 'left'>,
  { planned, connected, isRefused }: Pick<PlannedTree, 'planned' | 'connected' | 'isRefused'>,
): Detached {
  if (isRefused) return { documents, left, results: [] };
  const names = new Map(planned.map(({ path, coordinate }) => [path, formatCoordinate(coordinate)]));
  const published = new Set(planned.map(({ coordinate }) => formatCoordinate(coordinate)));
  const detached: Detached = {
    documents: {},
    left: Object.fromEntries(Object.entries(left).filter(([resource]) => !published.has(resource))),
    results: [],
  };
  for (const [path, state] of Object.entries(documents)) {
    const { resource, outcome, label } = state;
    const now = names.get(path);
    // A name that another repository has was never published from here.
    if (outcome === 'conflict' && now !== resource && !connected.has(resource)) continue;
    // What ended is known until it is published again, also where another resource has its file now.
    if (outcome === 'detached' && published.has(resource)) continue;
    if (outcome === 'detached' && now !== undefined) detached.left[resource] = state;
    const isThere = outcome === 'detached' || (now !== undefined && published.has(resource));
    if (isThere) detached.documents[path] = state;
    if (isThere || published.has(resource)) continue;
    const detail = now === undefined ? noLonger : `${path} belongs to ${now} now. Published versions stay.`;
    if (now === undefined) detached.documents[path] = { ...state, outcome: 'detached', detail };
    else detached.left[resource] = { ...state, outcome: 'detached', detail };
    detached.results.push({ path, resource, outcome: 'detached', label, report: null, detail });
  }
  // One of two resources of a file has no state of its own there.
  const known = new Set([...Object.values(documents), ...Object.values(left)].map(({ resource }) => resource));
  for (const [resource, path] of connected) {
    if (published.has(resource) || known.has(resource)) continue;
    const ended = { resource, outcome: 'detached', label: null, report: null, detail: noLonger } as const;
    detached.left[resource] = { ...ended, inputs: null, rulesetName: null, ruleset: null, compiler: id };
    detached.results.push({ path, ...ended });
  }
  return detached;
}

/** Where documents moved to: old path → new path. */
export type Moves = ReadonlyMap<string, string>;

/**
 * Finds documents that moved: a missing file whose exact content is now at one other path, and only
 * one. `files`: blob ids by path.
 */
export async function findMoves(
  registry: Pick<Registry, 'objects'>,
  { documents }: Repository,
  files: ReadonlyMap<string, string>,
): Promise<Moves> {
  const gone = Object.entries(documents).filter(
    ([path, { outcome, inputs, view }]) =>
      view === undefined && !files.has(path) && outcome !== 'detached' && inputs !== null,
  );
  const moves = new Map<string, string>();
  if (gone.length === 0) return moves;
  const places = new Map<string, string[]>();
  for (const [path, blob] of files) {
    if (!Object.hasOwn(documents, path)) places.getOrInsert(blob, []).push(path);
  }
  const taken = new Set<string>();
  for (const [from, { inputs }] of gone) {
    const blob = (await readJson<Record<string, string | null>>(registry, inputs!))[from];
    const [to, ...others] = places.get(blob ?? '') ?? [];
    if (to === undefined || others.length > 0 || taken.has(to)) continue;
    taken.add(to);
    moves.set(from, to);
  }
  return moves;
}

/** The repository with the state of moved documents under their new paths. */
export function withMoves(repository: Repository, moves: Moves): Repository {
  if (moves.size === 0) return repository;
  const entries = Object.entries(repository.documents).map(
    ([path, state]) => [moves.get(path) ?? path, state] as const,
  );
  return { ...repository, documents: Object.fromEntries(entries) };
}
