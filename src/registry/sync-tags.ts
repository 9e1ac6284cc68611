import { formatCoordinate } from '../model/address.ts';
import { matchesGlob } from '../model/glob.ts';
import type { Repository, Run, RunDocument, TagState } from '../model/connection.ts';
import { labelFromVersion } from '../model/label.ts';
import type { Tag } from '../source/source.ts';
import type { Planned } from './discover.ts';
import { publishDocument, refusable } from './publish-document.ts';
import type { Registry } from './registry.ts';
import { remoteOf } from './remote.ts';

/** What a sync made of the tags of a repository. */
export interface SyncedTags {
  /** By `@org/type/slug tag`. */
  tags: Record<string, TagState>;
  documents: RunDocument[];
  /** What a person should know: a tag was moved. Null where all is well. */
  detail: string | null;
}

/** Of the tags that match, no more are looked at for one resource. */
const mostTags = 2000;

/**
 * Publishes every new tag of the documents that are published by tag: the label is the tag's name (`v1.4.0` → `1.4.0`). A tag that was moved
 * changes nothing that is published and is told of. Fetches nothing where there is nothing new.
 */
export async function syncTags(
  registry: Registry,
  repository: Repository,
  documents: readonly Planned[],
  run: Run,
  signal: AbortSignal,
): Promise<SyncedTags> {
  const tagged = documents.filter(({ tags }) => tags !== null);
  const synced: SyncedTags = { tags: { ...repository.tags }, documents: [], detail: null };
  if (tagged.length === 0) return synced;
  const all = await registry.source.tags(await remoteOf(registry, repository), signal);
  for (const document of tagged) {
    const matching = all.filter(({ name }) => matchesGlob(document.tags!, name));
    if (matching.length > mostTags) {
      const what = `${matching.length} tags match ${JSON.stringify(document.tags)} of ${formatCoordinate(document.coordinate)}`;
      synced.detail = `${what}: the first ${mostTags} by name are looked at. Name fewer.`;
    }
    for (const tag of matching.slice(0, mostTags)) {
      signal.throwIfAborted();
      const key = `${formatCoordinate(document.coordinate)} ${tag.name}`;
      const known = Object.hasOwn(synced.tags, key) ? synced.tags[key]! : null;
      if (known?.commit === tag.commit) continue;
      if (known !== null && known.label !== null) {
        synced.detail = `Tag ${tag.name} was moved from ${known.commit} to ${tag.commit}. What is published stays.`;
        continue;
      }
      const result = await publishTag(registry, repository, document, tag, run, signal);
      synced.tags[key] = { commit: tag.commit, label: result.label };
      synced.documents.push(result);
      const level = result.label === null ? 'warn' : 'info';
      registry.log(level, 'document', { run: run.id, tag: tag.name, ...result, report: undefined });
    }
  }
  return synced;
}

/** The label that a tag gives: without `refs/tags/`, and without the `v` that people put before a number. */
function labelFromTag(name: string): string | null {
  return labelFromVersion(name.replace(/^v(?=\d)/, ''));
}

async function publishTag(
  registry: Registry,
  repository: Repository,
  document: Planned,
  tag: Tag,
  run: Run,
  signal: AbortSignal,
): Promise<RunDocument> {
  const { path, coordinate } = document;
  const told = { path, resource: formatCoordinate(coordinate), label: null, report: null };
  const version = labelFromTag(tag.name);
  if (version === null) return { ...told, outcome: 'conflict', detail: `Tag ${tag.name} cannot be a version.` };
  const result = await refusable(async () => {
    const snapshot = await registry.source.snapshot(await remoteOf(registry, repository), tag.commit, signal);
    return publishDocument(registry, repository, snapshot, document, version, run, signal);
  });
  if ('refusal' in result) return { ...told, outcome: 'conflict', detail: `Tag ${tag.name}: ${result.refusal}` };
  if (result.outcome === 'conflict') return { ...told, outcome: 'conflict', detail: result.detail };
  if (result.outcome !== 'rejected')
    return { ...told, outcome: result.outcome, label: result.version.label, detail: null };
  const [first] = result.report.problems;
  const detail = `Tag ${tag.name}: ${first ? `${first.file}:${first.line}:${first.column} ${first.message}` : 'refused'}`;
  return { ...told, outcome: 'rejected', report: result.reportDigest, detail };
}
