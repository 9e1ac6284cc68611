import type { RunDocument } from '../model/connection.ts';
import { matchesGlob } from '../model/glob.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Tag } from '../source/source.ts';
import { fileIn, isSince, publishPast, refuse, type ImportWork, type Past } from './import-past.ts';
import { findPaths } from './past-paths.ts';
import { refusable } from './publish-document.ts';
import { labelFromTag } from './sync-tags.ts';

interface TaggedPast extends Past {
  snapshot: Snapshot;
  blob: string;
}

/** Publishes each tag that matches the glob under its name, oldest commit first. */
export async function importTags(work: ImportWork, glob: string): Promise<RunDocument[]> {
  const { registry, remote, since, onProgress, signal } = work;
  const tags = (await registry.source.tags(remote, signal)).filter(({ name }) => matchesGlob(glob, name));
  const commits = [...new Set(tags.map(({ commit }) => commit))];
  await refusable(() => registry.source.bring(remote, commits, signal));
  const pasts: TaggedPast[] = [];
  const documents: RunDocument[] = [];
  for (const tag of tags) {
    const past = await openTag(work, tag, glob);
    if (!('snapshot' in past)) documents.push(past);
    else if (isSince(past.snapshot.committedAt, since)) pasts.push(past);
  }
  const blobs = [...new Set(pasts.map(({ blob }) => blob))];
  if (blobs.length > 1) await registry.source.bringBlobs(remote, pasts[0]!.commit, blobs, signal);
  for (const [index, past] of pasts.sort(byDate).entries()) {
    const { document } = await publishPast(work, past, past.snapshot);
    documents.push(document);
    onProgress?.({ done: index + 1, total: pasts.length, document });
  }
  return documents;
}

/**
 * Finds the document in a tag's commit, or says why it cannot be published. Tries its earlier paths
 * if the tag is not on the branch.
 */
async function openTag(work: ImportWork, { name, commit }: Tag, glob: string): Promise<TaggedPast | RunDocument> {
  const { registry, remote, connected, history, signal } = work;
  const version = labelFromTag(name, glob);
  if (version === null) return refuse(connected, commit, `Tag ${name} cannot be used as a version label.`);
  const snapshot = await refusable(() => registry.source.snapshot(remote, commit, signal));
  if ('refusal' in snapshot) return refuse(connected, commit, `Tag ${name}: ${snapshot.refusal}`);
  const paths = findPaths(history, connected.connection.path);
  const likely = paths.at(commit);
  const file = await fileIn(snapshot, [...(likely === null ? [] : [likely]), ...paths.all]);
  if (file === null) return refuse(connected, commit, `Tag ${name} does not contain ${connected.connection.path}.`);
  return { commit, version, snapshot, ...file };
}

function byDate({ snapshot: a }: TaggedPast, { snapshot: b }: TaggedPast): number {
  const [first, second] = [a.committedAt ?? '', b.committedAt ?? ''];
  return first < second ? -1 : first > second ? 1 : 0;
}
