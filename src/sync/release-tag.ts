import type { Run } from '../model/connection.ts';
import { matchesGlob } from '../model/glob.ts';
import type { Resource } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { Planned } from '../plan/planned.ts';
import { findRelease, releasePattern } from '../plan/release-tags.ts';
import { findResource } from '../registry/lives.ts';
import { remoteOf } from '../registry/remote.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Tag } from '../source/source.ts';
import { publishDocument, refusable } from './publish-document.ts';
import { rememberCompiled } from './remember-compiled.ts';
import type { Syncing } from './syncing.ts';

/** The tags of a repository, asked for once in a run. */
const tagsOfRun = new WeakMap<Run, Promise<Tag[]>>();

/**
 * To call before the branch publishes a document. `release`: says that the document's first version
 * is about to take the label of a release tag, and how to publish the tags instead; null where it
 * does not. `syncing`: how to publish it without compiling it again.
 */
export async function beforeFirst(
  syncing: Syncing,
  snapshot: Snapshot,
  document: Planned,
): Promise<{ syncing: Syncing; release: string | null }> {
  const { registry, run } = syncing;
  const resource = await findResource(registry, document.coordinate);
  if (resource !== null && resource.versions.length > 0) return { syncing, release: null };
  const asked = tagsOfRun.get(run) ?? askTags(syncing);
  tagsOfRun.set(run, asked);
  const tags = await asked;
  if (tags.length === 0) return { syncing, release: null };
  const compiler = rememberCompiled(registry.compiler, 1)(snapshot);
  const prepared = { ...syncing, registry: { ...registry, compiler } };
  const foreseen = await refusable(() => publishDocument(prepared, snapshot, document, { dryRun: true }));
  const label = 'outcome' in foreseen && foreseen.outcome === 'published' ? foreseen.version.label : null;
  const release = label === null ? null : findRelease(tags, document.coordinate, label);
  // The tip itself is the release.
  if (release === null || release.tag.commit === snapshot.origin.commit) return { syncing: prepared, release: null };
  const { tag, pattern, count } = release;
  const others = count === 1 ? '' : ` ${count} tags match ${JSON.stringify(pattern)}.`;
  const what = `Tag ${tag.name} names version ${label} too, at ${tag.commit.slice(0, 12)}.${others}`;
  const effect = `The branch takes the label ${label} first; what the tag contains then becomes a revision of it, if it differs.`;
  const offer = `To publish tags instead of the branch, set \`versions: 'tags'\` for the repository in registry.config.ts (\`stele serve --versions tags\`), or \`tags: ${JSON.stringify(pattern)}\` in stele.yaml or in the connection, before the first sync.`;
  return { syncing: prepared, release: `${what} ${effect} ${offer}` };
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
  const tags = await askTags({ registry, repository, signal: AbortSignal.timeout(patience) });
  const names = tags.map(({ name }) => name);
  const pattern = releasePattern(names, { slug });
  if (pattern === null) return null;
  const count = names.filter((name) => matchesGlob(pattern, name)).length;
  const what = `The repository has ${count} release ${count === 1 ? 'tag that matches' : 'tags that match'} ${JSON.stringify(pattern)}.`;
  const detail = `${what} The branch is published first and may take their labels. To publish the tags instead, connect again with "tags": ${JSON.stringify(pattern)} before the first sync.`;
  return { tags: pattern, count, detail };
}

/** None where the remote does not answer: only the advice depends on them. */
async function askTags({
  registry,
  repository,
  signal,
}: {
  registry: Registry;
  repository: Parameters<typeof remoteOf>[1];
  signal: AbortSignal;
}): Promise<Tag[]> {
  return remoteOf(registry, repository)
    .then((remote) => registry.source.tags(remote, signal))
    .catch(() => []);
}
