import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { connectedResources } from '../../plan/plan.ts';
import type { Registry } from '../../registry/registry.ts';

/**
 * Stops following a repository that was found among an owner's, and records why. One that somebody
 * connected by hand is synced on for that connection alone.
 */
export async function leave(registry: Registry, repository: Repository, why: string): Promise<void> {
  const { org, url, branch } = repository;
  const connected = await connectedResources(registry, repository);
  const isConnected = connected.some(({ connection }) => !connection.found);
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
    const { owner, ...value } = current!.value;
    const change = { actor: 'operator:configuration', origin: null, action: 'leave' };
    if (isConnected) return { value: { ...value, discover: null, gone: null }, change };
    if (value.gone === why) return null;
    const since = value.state === 'detached' ? value.since : registry.now().toISOString();
    const left = { ...value, state: 'detached' as const, detail: why, gone: why };
    return { value: { ...left, ...(owner && { owner }), ...(since && { since }) }, change };
  });
  if (!repository.gone) registry.log('warn', 'repository detached', { org, repository: url, detail: why });
}
