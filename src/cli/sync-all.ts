import {
  isRejected,
  repositoryId,
  repositoryRef,
  type Repository,
  type Run,
  type RunDocument,
} from '../model/connection.ts';
import { notFound } from '../model/errors.ts';
import { createPulls } from '../pulls/pulls.ts';
import { findResource } from '../registry/lives.ts';
import type { Registry } from '../registry/registry.ts';
import { listRepositories } from '../sync/follow.ts';
import { createSyncQueue, type RunNews } from '../sync/queue.ts';
import { followConfigured, leaveUnconfigured } from '../sync/reconcile.ts';
import { requireCoordinate } from './command-context.ts';

/** Syncs the repository of a resource, or all that are followed. */
export async function syncAll(
  registry: Registry,
  name: string | undefined,
  onProgress: (news: RunNews) => void,
): Promise<Run[]> {
  await followConfigured(registry);
  await leaveUnconfigured(registry, { sparesArguments: true });
  const queue = createSyncQueue(registry, createPulls, onProgress);
  if (name === undefined) await queue.owners.lookAll(async () => undefined);
  const wanted =
    name === undefined
      ? (await listRepositories(registry)).map(({ org, url, branch }) => ({ org, id: repositoryId(url, branch) }))
      : [await repositoryOf(registry, name)];
  const sync = ({ org, id }: Wanted): Promise<Run> => queue.request(org, id, 'manual').then(({ done }) => done);
  const runs = await Promise.all(wanted.map(sync));
  // What one repository published, such as a ruleset or a schema, another one may have missed.
  const isWaiting = ({ documents }: Run) => documents.some(isRejected);
  let isNews = runs.some(hasPublished);
  while (isNews) {
    const waiting = [...runs.keys()].filter((at) => isWaiting(runs[at]!));
    const again = await Promise.all(waiting.map((at) => sync(wanted[at]!)));
    for (const [index, at] of waiting.entries()) runs[at] = both(runs[at]!, again[index]!);
    isNews = again.some(hasPublished);
  }
  await queue.close();
  return Promise.all(runs.map((run) => withStillRejected(registry, run)));
}

function hasPublished({ documents }: Run): boolean {
  return documents.some(({ outcome }) => outcome === 'published');
}

/** Two runs of a repository as one: what the second one read again counts. */
function both(first: Run, again: Run): Run {
  const isAgain = ({ path, resource }: RunDocument) =>
    again.documents.some((each) => each.path === path && (resource === null || each.resource === resource));
  const documents = [...first.documents.filter((each) => !isAgain(each)), ...again.documents];
  return { ...again, from: first.from, documents };
}

/** A run together with the documents that earlier runs rejected and this one did not read again. */
async function withStillRejected(registry: Registry, run: Run): Promise<Run> {
  const repository = await registry.refs.read<Repository>(repositoryRef(run.org, run.repository));
  const read = new Set(run.documents.map(({ path }) => path));
  const others = Object.entries(repository?.value.documents ?? {})
    .filter(([path, document]) => isRejected(document) && !read.has(path))
    .map(([path, { resource, outcome, report, detail = null }]) => ({
      path,
      resource,
      outcome,
      label: null,
      report,
      detail,
    }));
  return { ...run, documents: [...run.documents, ...others] };
}

interface Wanted {
  org: string;
  id: string;
}

async function repositoryOf(registry: Registry, name: string): Promise<Wanted> {
  const { coordinate } = requireCoordinate(name);
  const resource = await findResource(registry, coordinate);
  if (!resource?.connection) throw notFound(`${name} does not exist or is not connected to a repository.`);
  return { org: coordinate.org, id: repositoryId(resource.connection.repository, resource.connection.branch) };
}
