import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import {
  repositoryId,
  repositoryRef,
  trustedCommit,
  type Repository,
  type Run,
  type RunDocument,
  isInStep,
} from '../../model/connection.ts';
import { isRegistryError, notFound, conflict } from '../../model/errors.ts';
import { assertAccepted } from '../guard.ts';
import { resourceRef, type Resource, chooseLatest, findVersion, type Version } from '../../model/resource.ts';
import {
  type ImportLatest,
  type ImportProgress,
  type ImportWork,
  fileIn,
  isSince,
  publishPast,
  readPast,
  findPaths,
  type PastPaths,
  refuse,
} from './import-past.ts';
import { withLease } from '../lease.ts';
import type { Registry } from '../../registry/registry.ts';
import { remoteOf } from '../../registry/remote.ts';
import { findResource } from '../../registry/lives.ts';
import { newRun, recordRun } from '../runs.ts';
import { fileOf } from '../../model/artifact.ts';
import type { HistoryCommit, Tag } from '../../source/source.ts';
import { insertByDate, latestMovedBack } from '../../model/latest.ts';
import { matchesGlob } from '../../model/glob.ts';
import { filesOf, type Snapshot } from '../../source/snapshot.ts';
import { readConfigOf } from '../../registry/stored.ts';
import { compileAhead, type OpenPast } from '../compile-ahead.ts';
import { openAll } from '../sync-tags.ts';
import { labelFromTag } from '../../plan/release-tags.ts';
import type { Digest } from '../../model/digest.ts';
import { plannedFor } from '../../plan/plan.ts';
import { rulesetNow } from '../inputs.ts';

/** Which part of the history to import. */
export interface ImportOptions {
  /** Glob of tag names. Each matching tag becomes a version with that name. Null: no tags. */
  tags: string | null;
  /** Whether to import every commit of the branch that changed the document or a file that it refers to. */
  eachChange: boolean;
  /** Skips commits before this time. ISO 8601; null: none. */
  since: string | null;
  /** Default: `ask`. */
  latest?: ImportLatest;
  onProgress?: (progress: ImportProgress) => void;
}

const maxCommits = 20_000;

/**
 * Imports the history of a connected document, oldest first. Each version gets its commit's date
 * and its place in the list by that date. Published versions do not change. An import can be
 * interrupted at any time and resumes when it is repeated. It fetches only the trees of the history
 * and the document's own files. Syncs of the repository run meanwhile; another import of the same
 * document waits.
 */
export async function importHistory(
  registry: Registry,
  coordinate: Coordinate,
  { tags, eachChange, since, latest = 'ask', onProgress }: ImportOptions,
  signal: AbortSignal,
): Promise<Run> {
  const resource = await findResource(registry, coordinate);
  const name = formatCoordinate(coordinate);
  if (resource === null) throw notFound(`${name} does not exist.`);
  const { connection } = resource;
  if (connection === null) throw notFound(`${name} is not connected to a repository. Connect it, and run stele sync.`);
  const id = repositoryId(connection.repository, connection.branch);
  const repository = (await registry.refs.read<Repository>(repositoryRef(coordinate.org, id)))?.value;
  // One that is followed again, or otherwise, has to be read again from the commit that it had.
  const tip = repository && (repository.commit ?? trustedCommit(repository));
  if (!tip) throw conflict(`${name} was never synced. Run stele sync first.`);
  const run: Run = { ...newRun(registry, repository, id, 'import'), state: 'running', to: tip };
  const lease = { org: coordinate.org, name: `${coordinate.type}/${coordinate.slug}` };
  return withLease(registry, lease, signal, async ({ registry: fenced, signal: held }) => {
    await recordRun(registry, run);
    const end = async (documents: RunDocument[], detail: string | null): Promise<Run> => {
      const state = detail === null ? 'succeeded' : 'failed';
      return recordRun(registry, { ...run, state, documents, detail, finishedAt: registry.now().toISOString() });
    };
    try {
      await assertAccepted(registry, repository, held);
      const remote = await remoteOf(registry, repository);
      const history = await registry.source.history(remote, tip, maxCommits, held);
      // Read again: another import of the document may have just ended.
      const newest = await registry.refs.readFresh<Resource>(resourceRef(coordinate));
      const connected = { ...(newest?.value ?? resource), connection };
      const work: ImportWork = {
        registry: fenced,
        repository,
        connected,
        remote,
        history,
        run,
        since,
        latest,
        onProgress,
        signal: held,
      };
      const documents = tags === null ? [] : await importTags(work, tags);
      if (eachChange) documents.push(...(await importChanges(work)));
      return await end(documents, null);
    } catch (error) {
      const isAsked = isRegistryError(error, 'conflict');
      await end([], isAsked ? error.message : 'The import was interrupted. Run it again to continue.');
      throw error;
    }
  });
}

/** The progress of an import: the value of one record. */
interface Imported {
  /** The file that is imported. */
  repository: string;
  path: string;
  /** Where the import starts. Null: the first commit. */
  since: string | null;
  /** The last commit that was read. Null: something was rejected, so the next import starts over. */
  commit: string | null;
  hasRefused: boolean;
}

const commitsPerNote = 20;
const blobsPerFetch = 200;

/**
 * Publishes every commit of the branch that changed the document or a file that it refers to,
 * oldest first. Saves its progress every few commits and resumes there. After a complete import, it
 * starts over only when something was rejected.
 */
async function importChanges(work: ImportWork): Promise<RunDocument[]> {
  const { registry, connected, remote, history, since, onProgress, signal } = work;
  const paths = await findPaths(history, fileOf(connected.connection), readPast(work));
  const ref = `imports/${connected.org}/${connected.type}/${connected.slug}`;
  const before = (await registry.refs.readFresh<Imported>(ref))?.value ?? null;
  const reached = before !== null && coversAll(before, work) ? before : null;
  const start = history.findIndex(({ commit }) => commit === reached?.commit) + 1;
  const hasBegun = ({ commit }: HistoryCommit) => paths.at(commit) !== null;
  const rest = history.slice(start).filter((each) => hasBegun(each) && isSince(each.committedAt, since));
  const documents: RunDocument[] = [];
  // The files that the last commit needed. Unknown after a resume, so the first commit is always
  // read.
  let inputs: readonly string[] = [];
  let isUnknown = rest.length < history.length;
  let brought = 0;
  let hasRefused = start > 0 && reached!.hasRefused;
  for (const [index, { commit, files }] of rest.entries()) {
    signal.throwIfAborted();
    const path = paths.at(commit)!;
    if (files.get(path) === null) inputs = [];
    const isTouched = [path, ...inputs].some((each) => files.has(each));
    if (files.get(path) !== null && (isTouched || isUnknown)) {
      if (index >= brought) brought = await bringAhead(work, rest, paths, index);
      const snapshot = await registry.source.snapshot(remote, commit, signal);
      if ((await fileIn(snapshot, [path])) !== null) {
        const { document, read } = await publishPast(work, { commit, path, tag: null }, snapshot);
        inputs = read ?? inputs;
        documents.push(document);
        hasRefused ||= !isInStep(document);
        onProgress?.({ done: index + 1, total: rest.length, document });
      }
      isUnknown = false;
    }
    const isLast = index === rest.length - 1;
    if ((index + 1) % commitsPerNote === 0 || isLast)
      await note(work, ref, { commit: isLast && hasRefused ? null : commit, hasRefused });
  }
  return documents;
}

/** Fetches the document's blobs of the next commits in one request. Returns the first index that is not covered. */
async function bringAhead(
  { registry, remote, signal }: ImportWork,
  commits: readonly HistoryCommit[],
  paths: PastPaths,
  from: number,
): Promise<number> {
  const blobs = new Set<string>();
  let index = from;
  for (; index < commits.length && blobs.size < blobsPerFetch; index++) {
    const { commit, files } = commits[index]!;
    const blob = files.get(paths.at(commit)!);
    if (blob) blobs.add(blob);
  }
  if (blobs.size > 1) await registry.source.bringBlobs(remote, commits[from]!.commit, [...blobs], signal);
  return index;
}

function coversAll(
  { repository, path, since }: Imported,
  { connected: { connection }, since: wanted }: Pick<ImportWork, 'connected' | 'since'>,
): boolean {
  if (repository !== connection.repository || path !== connection.path) return false;
  return since === null || (wanted !== null && Date.parse(wanted) >= Date.parse(since));
}

async function note(
  { registry, run, connected, since }: ImportWork,
  ref: string,
  progress: Pick<Imported, 'commit' | 'hasRefused'>,
): Promise<void> {
  const change = { actor: `sync:${run.org}`, origin: `run:${run.id}`, action: 'import' };
  const { repository, path } = connected.connection;
  await registry.refs.update<Imported>(ref, () => ({ value: { repository, path, since, ...progress }, change }));
}

const tagsPerSave = 20;

/**
 * Publishes each tag that matches the glob under its name, oldest commit first. Tags that an
 * earlier import or sync published are not read again. Documents are compiled ahead, as many at
 * once as there are processors, and published in order.
 */
async function importTags(work: ImportWork, glob: string): Promise<RunDocument[]> {
  const { registry, connected, remote, onProgress, signal } = work;
  const tags = (await registry.source.tags(remote, signal)).filter(({ name }) => matchesGlob(glob, name));
  const notes = await openTagNotes(work);
  const fresh: Tag[] = [];
  const documents: RunDocument[] = [];
  for (const tag of tags) {
    const noted = notes.find(tag);
    if (noted === null) fresh.push(tag);
    else if (noted.commit !== tag.commit) documents.push(refuse(connected, tag.commit, moved(tag, noted.commit)));
  }
  const total = tags.length;
  let done = total - fresh.length;
  onProgress?.({ done, total, document: null });
  const { pasts, refused } = await openTags(work, fresh, glob);
  documents.push(...refused);
  done += fresh.length - pasts.length;
  if (work.latest === 'ask') assertLatestStays(work, pasts);
  for (const document of documents) onProgress?.({ done, total, document });
  const ahead = compileAhead(work, pasts, await pathsOfLatest(work));
  try {
    for (const [index, past] of pasts.entries()) {
      const { document, refusal } = await ahead.publish(index);
      const outcome = refusal === null ? {} : { refused: { ...notes.judge, ruleset: refusal.ruleset } };
      if (document.label !== null || refusal !== null)
        notes.add(past.tag.name, { commit: past.commit, label: document.label, ...outcome });
      documents.push(document);
      onProgress?.({ done: ++done, total, document });
      if ((index + 1) % tagsPerSave === 0) await notes.save();
    }
  } finally {
    await ahead.end();
    await notes.save();
  }
  return documents;
}

/** Throws `conflict` when one of these tags would take over latest, although its commit is older. */
function assertLatestStays({ registry, connected }: ImportWork, pasts: readonly OpenPast[]): void {
  const now = registry.now().toISOString();
  const added = pasts.flatMap(({ tag: { label }, snapshot: { committedAt } }): Version[] => {
    if (findVersion(connected, label) !== null) return [];
    const createdAt = committedAt ?? new Date(0).toISOString();
    const bytes = { manifest: 'sha256:', content: 'sha256:' } as const;
    return [{ label, ...bytes, publishedAt: now, createdAt, status: { state: 'active' } }];
  });
  const next = { ...connected, versions: added.reduce(insertByDate, connected.versions) };
  const change = latestMovedBack(connected, { ...next, latest: chooseLatest(next) });
  if (change === null) return;
  const say = ({ label, createdAt, publishedAt }: Version) => `${label} (${(createdAt ?? publishedAt).slice(0, 10)})`;
  throw conflict(
    `The import would move latest back from ${say(change.from)} to ${say(change.to)}. Nothing was imported. Repeat it with --latest keep to leave latest where it is, or with --latest rule to move it.`,
  );
}

function moved({ name, commit }: Tag, before: string): string {
  return `Tag ${name} was moved from ${before} to ${commit}. Published versions stay.`;
}

/** Finds the document in each tag's commit, oldest commit first. `refused`: why other tags cannot be published. */
async function openTags(
  work: ImportWork,
  tags: readonly Tag[],
  glob: string,
): Promise<{ pasts: OpenPast[]; refused: RunDocument[] }> {
  const opened = await openAll(
    work,
    tags.map((tag) => ({ tag })),
  );
  const paths = await findPaths(work.history, fileOf(work.connected.connection), readPast(work));
  const pasts: OpenPast[] = [];
  const refused: RunDocument[] = [];
  for (const { tag, snapshot } of opened) {
    const past = await pastIn(work, tag, snapshot, glob, paths);
    if (!('snapshot' in past)) refused.push(past);
    else if (isSince(past.snapshot.committedAt, work.since)) pasts.push(past);
  }
  return { pasts, refused };
}

/**
 * Finds the document in a tag's commit, or says why it cannot be published. Tries all its paths if
 * the tag is not on the branch.
 */
async function pastIn(
  { connected }: ImportWork,
  { name, commit }: Tag,
  snapshot: Snapshot | { refusal: string },
  glob: string,
  paths: PastPaths,
): Promise<OpenPast | RunDocument> {
  const label = labelFromTag(name, glob);
  if (label === null) return refuse(connected, commit, `Tag ${name} cannot be used as a version label.`);
  if ('refusal' in snapshot) return refuse(connected, commit, `Tag ${name}: ${snapshot.refusal}`);
  const pathAt = paths.at(commit);
  const files = filesOf(await snapshot.entries());
  const path = pathAt === undefined ? paths.all.find((each) => files.has(each)) : pathAt;
  if (!path || !files.has(path))
    return refuse(connected, commit, `Tag ${name} does not contain ${connected.connection.path}.`);
  return { commit, tag: { name, label }, path, snapshot, files };
}

/** The files that the latest version was made from: most likely, earlier ones need the same. */
async function pathsOfLatest({ registry, connected }: ImportWork): Promise<string[]> {
  const version = connected.latest === null ? null : findVersion(connected, connected.latest);
  if (version === null || version.status.state === 'withdrawn') return [];
  return Object.keys((await readConfigOf(registry, version)).provenance.blobs);
}

/** The result of importing a tag. `label` is null when its document was refused. */
interface ImportedTag {
  commit: string;
  label: string | null;
  /** What refused it. It is tried again when one of these changes. */
  refused?: Judge;
}

interface Judge {
  ruleset: Digest | null;
  compiler: string;
  validation: string | null;
}

/** The tags of a document that were imported: the value of one record. */
interface ImportedTags {
  /** The file that was imported. */
  repository: string;
  path: string;
  tags: Record<string, ImportedTag>;
}

/** Opens the notes of earlier imports and syncs about the tags of a document: which need not be read again. */
async function openTagNotes(work: ImportWork) {
  const { registry, repository: followed, run, connected } = work;
  const { org, type, slug, connection, validation } = connected;
  const ref = `imported-tags/${org}/${type}/${slug}`;
  const { repository, path } = connection;
  const before = (await registry.refs.readFresh<ImportedTags>(ref))?.value;
  const tags = new Map(before?.repository === repository && before.path === path ? Object.entries(before.tags) : []);
  const ruleset = await rulesetNow(registry, plannedFor(connected));
  const judge: Judge = { ruleset, compiler: registry.compiler.id, validation };
  let isSaved = true;
  return {
    judge,
    /** What is known of the tag; null: it must be read. */
    find({ name, commit }: Tag): ImportedTag | null {
      const key = `${formatCoordinate({ org, type, slug })} ${name}`;
      const synced = Object.hasOwn(followed.tags, key) ? followed.tags[key]! : null;
      const noted = tags.get(name) ?? (synced && { commit: synced.commit, label: synced.label });
      if (!noted || (noted.label === null && noted.commit !== commit)) return null;
      if (noted.label !== null) return findVersion(connected, noted.label) === null ? null : noted;
      return JSON.stringify(noted.refused) === JSON.stringify(judge) ? noted : null;
    },
    add(name: string, imported: ImportedTag): void {
      tags.set(name, imported);
      isSaved = false;
    },
    async save() {
      if (isSaved) return;
      const change = { actor: `sync:${run.org}`, origin: `run:${run.id}`, action: 'import tags' };
      const value = { repository, path, tags: Object.fromEntries(tags) };
      await registry.refs.update<ImportedTags>(ref, () => ({ value, change }));
      isSaved = true;
    },
  };
}
