import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { connectedResources } from '../../plan/plan.ts';
import type { Registry } from '../../registry/registry.ts';
import { connectedSites } from '../../sites/sync/connect-site.ts';

/**
 * Stops following a repository that the configuration followed, and records why. One that somebody
 * connected a document or a site to by hand is synced on for that connection alone.
 */
export async function leave(registry: Registry, repository: Repository, why: string): Promise<void> {
  const { org, url, branch } = repository;
  const connected = await connectedResources(registry, repository);
  const isConnected =
    connected.some(({ connection }) => !connection.found) || (await connectedSites(registry, repository)).length > 0;
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
    const { owner, configured, ...value } = current!.value;
    const change = { actor: 'operator:configuration', origin: null, action: 'leave' };
    if (isConnected) return { value: { ...value, discover: null, gone: null }, change };
    if (value.gone === why) return null;
    const since = value.state === 'detached' ? value.since : registry.now().toISOString();
    const left = { ...value, state: 'detached' as const, detail: why, gone: why };
    return {
      value: { ...left, ...(owner && { owner }), ...(configured && { configured }), ...(since && { since }) },
      change,
    };
  });
  if (!repository.gone) registry.log('warn', 'repository detached', { org, repository: url, detail: why });
}
