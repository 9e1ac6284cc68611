import { fileOf } from '../../model/artifact.ts';
import { insertByDate, latestMovedBack } from '../../model/latest.ts';
import type { RunDocument } from '../../model/connection.ts';
import { matchesGlob } from '../../model/glob.ts';
import { RegistryError } from '../../model/errors.ts';
import { chooseLatest, findVersion, type Version } from '../../model/resource.ts';
import { filesOf, type Snapshot } from '../../source/snapshot.ts';
import type { Tag } from '../../source/source.ts';
import { readConfigOf } from '../../registry/stored.ts';
import { compileAhead, type OpenPast } from '../compile-ahead.ts';
import { isSince, readPast, refuse, type ImportWork, findPaths, type PastPaths } from './import-past.ts';
import { openAll } from '../sync-tags.ts';
import { labelFromTag } from '../../plan/release-tags.ts';
import type { Digest } from '../../model/digest.ts';
import { formatCoordinate } from '../../model/address.ts';
import { plannedFor } from '../../plan/plan.ts';
import { rulesetNow } from '../inputs.ts';

const tagsPerSave = 20;

/**
 * Publishes each tag that matches the glob under its name, oldest commit first. Tags that an
 * earlier import or sync published are not read again. Documents are compiled ahead, as many at
 * once as there are processors, and published in order.
 */
export async function importTags(work: ImportWork, glob: string): Promise<RunDocument[]> {
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
  throw new RegistryError(
    'conflict',
    `The import would move latest back from ${say(change.from)} to ${say(change.to)}. Nothing was imported. Repeat it with --latest keep to leave latest where it is, or with --latest rule to move it.`,
  );
}

function moved({ name, commit }: Tag, before: string): string {
  return `Tag ${name} was moved from ${before} to ${commit}. Published versions stay.`;
}

/**
 * Finds the document in each tag's commit, oldest commit first. `refused`: why other tags cannot be
 * published.
 */
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

/** What decides whether a document is refused. */
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
    /** Saves what was added. */
    async save() {
      if (isSaved) return;
      const change = { actor: `sync:${run.org}`, origin: `run:${run.id}`, action: 'import tags' };
      const value = { repository, path, tags: Object.fromEntries(tags) };
      await registry.refs.update<ImportedTags>(ref, () => ({ value, change }));
      isSaved = true;
    },
  };
}
