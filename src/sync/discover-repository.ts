import { connectedResources } from '../plan/plan.ts';
import { planDocuments, type Plan } from '../plan/discover.ts';
import { repositoryId, repositoryRef, type Repository } from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { remoteOf } from '../registry/remote.ts';

/** A repository to look into. `discover`: the folder to follow, or `''`. */
export type Wanted = Pick<Repository, 'org' | 'url' | 'branch' | 'credential'> & { discover: string };

/**
 * Returns what the next sync of a repository would plan, at the newest commit of its branch. If the
 * registry follows it already, the plan continues from there. Writes nothing. Rejects with
 * `not_found` when the branch does not exist, and with `unreachable`.
 */
export async function discoverRepository(
  registry: Registry,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<{ commit: string; plan: Plan }> {
  const { org, url, branch } = wanted;
  const recorded = await registry.refs.read<Repository>(repositoryRef(org, repositoryId(url, branch)));
  const repository: Repository = { ...unknown, ...recorded?.value, ...wanted };
  const remote = await remoteOf(registry, repository);
  const tip = await registry.source.tip(remote, signal);
  if (!tip.found) throw new RegistryError('not_found', tip.detail);
  const snapshot = await registry.source.snapshot(remote, tip.commit, signal);
  const published = new Set((await connectedResources(registry, repository)).map(({ connection }) => connection.path));
  return { commit: tip.commit, plan: await planDocuments(registry, repository, snapshot, signal, published) };
}

/** A repository that no sync has read. */
const unknown = {
  visibility: 'private',
  validation: 'strict',
  state: 'new',
  detail: null,
  commit: null,
  syncedAt: null,
  documents: {},
  tags: {},
} as const;
