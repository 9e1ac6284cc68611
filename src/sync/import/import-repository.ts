import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import {
  repositoryId,
  repositoryRef,
  trustedCommit,
  type Repository,
  type Run,
  type RunDocument,
} from '../../model/connection.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { assertAccepted } from '../guard.ts';
import { resourceRef, type Resource } from '../../model/resource.ts';
import { importChanges } from './import-changes.ts';
import type { ImportLatest, ImportProgress, ImportWork } from './import-past.ts';
import { importTags } from './import-tags.ts';
import { withLease } from '../lease.ts';
import type { Registry } from '../../registry/registry.ts';
import { remoteOf } from '../../registry/remote.ts';
import { findResource } from '../../registry/find-resource.ts';
import { newRun, recordRun } from '../runs.ts';

/** Which part of the history to import. */
export interface ImportOptions {
  /** Glob of tag names. Each matching tag becomes a version with that name. Null: no tags. */
  tags: string | null;
  /**
   * Whether to import every commit of the branch that changed the document or a file that it refers
   * to.
   */
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
  if (!resource?.connection)
    throw new RegistryError('not_found', `${name} does not exist, or is not connected to a repository.`);
  const { connection } = resource;
  const id = repositoryId(connection.repository, connection.branch);
  const repository = (await registry.refs.read<Repository>(repositoryRef(coordinate.org, id)))?.value;
  // One that is followed again, or otherwise, has to be read again from the commit that it had.
  const tip = repository && (repository.commit ?? trustedCommit(repository));
  if (!tip) throw new RegistryError('conflict', `${name} was never synced. Run stele sync first.`);
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
