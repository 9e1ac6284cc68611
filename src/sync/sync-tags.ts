import { availableParallelism } from 'node:os';
import { inspect } from 'node:util';
import { mapAtOnce } from '../scheduling/waiting.ts';
import { hasDied, isSandboxLost } from '../compile/compile.ts';
import type { RegistryError } from '../model/errors.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { approvalText } from '../model/approval.ts';
import { matchesGlob } from '../model/glob.ts';
import type { Repository, RunDocument, TagState } from '../model/connection.ts';
import { fileOf } from '../model/artifact.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import type { Remote, Tag } from '../source/source.ts';
import type { Planned } from '../plan/planned.ts';
import { endOf, noteOnTag, publishDocument, refusable } from './publish-document.ts';
import type { Registry } from '../registry/registry.ts';
import { hostOf, remoteOf } from '../registry/remote.ts';
import { readConfigOf } from '../registry/stored.ts';
import { gateNow, rulesetNow } from './inputs.ts';
import { labelFromTag, findRelease, releasePattern } from '../plan/release-tags.ts';
import type { Syncing } from './runs.ts';
import { findVersion, type Resource } from '../model/resource.ts';
import { findResource } from '../registry/lives.ts';

/** The result of a sync for the tags of a repository. */
export interface SyncedTags {
  /** By `@org/type/slug tag`. */
  tags: Record<string, TagState>;
  documents: RunDocument[];
  /** Says which tag was moved, or null. One sentence. */
  moved: string | null;
  /** A note for people, or null. */
  note: string | null;
  /** Says which tag could not be read, or null. One sentence. The tag is read again later. */
  lost: string | null;
}

/** A tag that is new for a document, or was moved. */
export interface NewTag {
  document: Planned;
  tag: Tag;
  /** The previous result, or null. */
  known: TagState | null;
}

const over = { isOverLimits: true } as const;

const maxTags = 2000;

/** Asks a repository for its tags, once. */
export function openTags(
  registry: Registry,
  repository: Parameters<typeof remoteOf>[1],
  signal: AbortSignal,
): Syncing['tags'] {
  let asked: Promise<Tag[]> | null = null;
  return () => (asked ??= remoteOf(registry, repository).then((remote) => registry.source.tags(remote, signal)));
}

/** The tags with something new for these documents, all of which are published by tag. Fetches no objects. */
export async function findNewTags(
  { registry, repository, run, tags }: Syncing,
  documents: readonly Planned[],
): Promise<NewTag[]> {
  if (documents.length === 0) return [];
  const all = await tags();
  const newTags: NewTag[] = [];
  for (const document of documents) {
    const ruleset = await rulesetNow(registry, document);
    for (const tag of all.filter(({ name }) => matchesGlob(document.tags!, name)).slice(0, maxTags)) {
      const key = keyOf(document, tag);
      const recorded = Object.hasOwn(repository.tags, key) ? repository.tags[key]! : null;
      const isKnown = recorded?.commit === tag.commit || recorded?.moved === tag.commit;
      // A rejected tag may pass another ruleset or compiler. The limits may have changed as well; only
      // a person asks for that to be tried.
      const refused = recorded?.refused;
      const mayPass = refused?.isOverLimits === true && run.trigger === 'manual';
      const isGate = refused?.gate === undefined || refused.gate === (await gateNow(registry, document)).gate;
      const isRefusedStill =
        refused === undefined ||
        (refused.ruleset === ruleset && refused.compiler === registry.compiler.id && isGate && !mayPass);
      if (!isKnown || !isRefusedStill) newTags.push({ document, tag, known: recorded });
    }
  }
  return newTags;
}

function keyOf({ coordinate }: Planned, { name }: Tag): string {
  return `${formatCoordinate(coordinate)} ${name}`;
}

/**
 * Publishes every new tag of documents that are published by tag, oldest commit first. The label
 * comes from the tag's name (`v1.4.0` → `1.4.0`). A moved tag changes nothing that is published and
 * is reported once. Fetches nothing when nothing is new.
 */
export async function syncTags(syncing: Syncing, documents: readonly Planned[]): Promise<SyncedTags> {
  const { registry, repository, run, signal } = syncing;
  const synced: SyncedTags = { tags: { ...repository.tags }, documents: [], moved: null, note: null, lost: null };
  if (documents.length === 0) return synced;
  const remote = await remoteOf(registry, repository);
  synced.note = noteOnNumber(documents, await syncing.tags());
  const fresh: NewTag[] = [];
  const first = await withoutVersions(registry, documents);
  for (const { document, tag, known } of await findNewTags(syncing, documents)) {
    if (known === null || known.label === null) {
      fresh.push({ document, tag, known });
      continue;
    }
    synced.moved = `Tag ${tag.name} was moved from ${known.commit} to ${tag.commit}. Published versions stay.`;
    synced.tags[keyOf(document, tag)] = { ...known, moved: tag.commit };
  }
  for (const { document, tag, snapshot } of await openAll({ registry, remote, signal }, fresh)) {
    signal.throwIfAborted();
    const published = await publishTag(syncing, document, tag, snapshot, first.has(document)).catch(orLost);
    if (isSandboxLost(published)) {
      synced.lost ??= `Tag ${tag.name}: ${published.message}`;
      registry.log('warn', 'document not read', { run: run.id, tag: tag.name, error: inspect(published) });
      continue;
    }
    const { document: tagged, refused } = published;
    synced.tags[keyOf(document, tag)] = {
      commit: tag.commit,
      label: tagged?.label ?? null,
      ...(refused && { refused }),
    };
    if (tagged === null) continue;
    synced.documents.push(tagged);
    const level = tagged.label === null ? 'warn' : 'info';
    registry.log(level, 'document', { run: run.id, tag: tag.name, ...tagged, report: undefined });
  }
  return synced;
}

/** The documents whose tags are history, because nobody has a version of them yet. */
async function withoutVersions(registry: Registry, documents: readonly Planned[]): Promise<Set<Planned>> {
  const resources = await Promise.all(documents.map(({ coordinate }) => findResource(registry, coordinate)));
  return new Set(documents.filter((_, at) => (resources[at]?.versions.length ?? 0) === 0));
}

/** Returns a sandbox failure as a value, so that the other tags continue. */
function orLost(error: unknown): RegistryError {
  if (isSandboxLost(error)) return error;
  throw error;
}

function noteOnNumber(documents: readonly Planned[], all: readonly Tag[]): string | null {
  for (const { tags, coordinate } of documents) {
    const { length } = all.filter(({ name }) => matchesGlob(tags!, name));
    if (length <= maxTags) continue;
    const what = `${length} tags match ${JSON.stringify(tags)} of ${formatCoordinate(coordinate)}`;
    return `${what}. Only the first ${maxTags} by name are read. Use a narrower pattern.`;
  }
  return null;
}

type Opened = Snapshot | { refusal: string };

/** Fetches the commits of these tags at once and sorts them, oldest first. A tag without a commit fails alone. */
export async function openAll<T extends { tag: Tag }>(
  { registry, remote, signal }: Pick<Syncing, 'registry' | 'signal'> & { remote: Remote },
  tags: readonly T[],
): Promise<(T & { snapshot: Opened })[]> {
  const commits = [...new Set(tags.map(({ tag }) => tag.commit))];
  if (commits.length > 1) await refusable(() => registry.source.bring(remote, commits, signal));
  // Each asks git several times, one after the other.
  const open = async (each: T) => {
    const snapshot: Opened = await refusable(() => registry.source.snapshot(remote, each.tag.commit, signal));
    return { ...each, snapshot };
  };
  const dateOf = ({ snapshot }: { snapshot: Opened }) => ('refusal' in snapshot ? '' : (snapshot.committedAt ?? ''));
  const opened = await mapAtOnce(tags, availableParallelism(), open);
  return opened.sort((a, b) => (dateOf(a) < dateOf(b) ? -1 : dateOf(a) > dateOf(b) ? 1 : 0));
}

/** `isPast`: it is history, so that it breaks nobody. `document` null: the tag is older than the document, or of another one. */
async function publishTag(
  syncing: Syncing,
  document: Planned,
  tag: Tag,
  snapshot: Opened,
  isPast: boolean,
): Promise<{ document: RunDocument | null; refused?: TagState['refused'] }> {
  const { path, coordinate } = document;
  const about = { path, resource: formatCoordinate(coordinate), commit: tag.commit, label: null, report: null };
  const version = labelFromTag(tag.name, document.tags!);
  const conflict = (detail: string) => ({ document: { ...about, outcome: 'conflict' as const, detail } });
  if (version === null) return conflict(`Tag ${tag.name} cannot be used as a version label.`);
  if ('refusal' in snapshot) return conflict(`Tag ${tag.name}: ${snapshot.refusal}`);
  if (!filesOf(await snapshot.entries()).has(fileOf(document))) {
    const ruleset = await rulesetNow(syncing.registry, document);
    return { document: null, refused: { ruleset, compiler: syncing.registry.compiler.id } };
  }
  const latest = (await followsLatest(syncing, document, snapshot)) || ('newer' as const);
  const result = await refusable(() => publishDocument(syncing, snapshot, document, { version, isPast, latest }));
  if ('refusal' in result) return conflict(`Tag ${tag.name}: ${result.refusal}`);
  const end = await endOf(syncing.registry, result);
  if (result.outcome === 'conflict') return { document: { ...about, ...end } };
  if (result.outcome !== 'rejected') {
    const notes = [noteOnTag(tag.name, version, result), approvalText(result.approvals)];
    return { document: { ...about, ...end, detail: notes.filter(Boolean).join(' ') || null } };
  }
  const refused = {
    ruleset: result.ruleset,
    compiler: syncing.registry.compiler.id,
    ...(hasDied(result.report) && over),
    ...(result.held && { gate: (await gateNow(syncing.registry, document)).gate }),
  };
  return { document: { ...about, ...end, detail: `Tag ${tag.name}: ${end.detail ?? 'rejected'}` }, refused };
}

/**
 * Whether this commit has a date before that of the latest version and yet follows its commit: a clock was wrong, and
 * parents are not. False where it cannot be known.
 */
async function followsLatest(
  { registry, repository, signal }: Syncing,
  { coordinate }: Planned,
  { origin, committedAt }: Snapshot,
): Promise<boolean> {
  const resource = await findResource(registry, coordinate);
  const latest = resource?.latest ? findVersion(resource, resource.latest) : null;
  if (!latest?.createdAt || committedAt === null || Date.parse(committedAt) >= Date.parse(latest.createdAt))
    return false;
  const { commit } = (await readConfigOf(registry, latest)).provenance;
  if (origin.commit === null || commit === null || origin.commit === commit) return false;
  const remote = await remoteOf(registry, repository);
  const how = await refusable(() => registry.source.ancestry(remote, origin.commit!, commit, signal));
  return how === 'descendant';
}

/**
 * Says that the first version of a document took the label of a release tag, and how to publish the tags instead. Null: it
 * did not.
 */
export async function noteOnRelease(
  syncing: Syncing,
  { origin }: Snapshot,
  { coordinate }: Planned,
  label: string,
): Promise<string | null> {
  // Only the advice depends on them.
  const tags = await syncing.tags().catch(() => []);
  const release = findRelease(tags, coordinate, label);
  // The tip itself is the release.
  if (release === null || release.tag.commit === origin.commit) return null;
  const { tag, pattern, count } = release;
  const others = count === 1 ? '' : ` ${count} tags match ${JSON.stringify(pattern)}.`;
  const what = `Tag ${tag.name} names version ${label} too, at ${tag.commit.slice(0, 12)}.${others}`;
  const effect = `The branch takes the label ${label} first; what the tag contains then becomes a revision of it, if it differs.`;
  const offer = `To publish tags instead of the branch, set \`versions: 'tags'\` for the repository in registry.config.ts (\`stele serve --versions tags\`), or \`tags: ${JSON.stringify(pattern)}\` in stele.yaml or in the connection, before the first sync.`;
  return `${what} ${effect} ${offer}`;
}

/** The release tags of a repository whose branch is about to be published. */
export interface ReleaseTags {
  /** The pattern that matches them: what `tags` of the connection should be. */
  tags: string;
  count: number;
  /** What the branch would do, and how to publish the tags instead. */
  detail: string;
}

/** Milliseconds that somebody who connects a resource waits for the tags. */
const patience = 3000;

/**
 * The release tags that should be published before the branch. Null if there are none, if the
 * connection follows tags, if the resource has versions, or if the remote does not answer in time.
 */
export async function offerTags(registry: Registry, resource: Resource): Promise<ReleaseTags | null> {
  const { org, slug, connection, versions } = resource;
  if (connection === null || connection.tags !== null || versions.length > 0) return null;
  const repository = { org, url: connection.repository, ...connection };
  const tags = await openTags(registry, repository, AbortSignal.timeout(patience))().catch(() => []);
  const names = tags.map(({ name }) => name);
  const pattern = releasePattern(names, { slug });
  if (pattern === null) return null;
  const count = names.filter((name) => matchesGlob(pattern, name)).length;
  const what = `The repository has ${count} release ${count === 1 ? 'tag that matches' : 'tags that match'} ${JSON.stringify(pattern)}.`;
  const detail = `${what} The branch is published first and may take their labels. To publish the tags instead, connect again with "tags": ${JSON.stringify(pattern)} before the first sync.`;
  return { tags: pattern, count, detail };
}

/**
 * The pattern of the tags that will publish a new resource, where its organization follows this repository by its release
 * tags. Null: it does not, or there are none. Rejects with `unreachable`.
 */
export async function tagsOfNew(
  registry: Registry,
  { org, slug }: Coordinate,
  given: string,
  signal: AbortSignal,
): Promise<string | null> {
  const placeOf = (url: string) => {
    const { host, name } = hostOf(registry, url) ?? {};
    return host ? `${host.name} ${name}` : url;
  };
  const all = await registry.refs.all<Repository>(`repositories/${org}/`);
  const found = all.find(
    ({ value }) => value.versions === 'tags' && !value.gone && placeOf(value.url) === placeOf(given),
  );
  if (found === undefined) return null;
  const tags = await openTags(registry, found.value, signal)();
  return releasePattern(
    tags.map(({ name }) => name),
    { slug },
  );
}
