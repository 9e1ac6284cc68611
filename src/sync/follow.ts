import type { RepositoryConfig } from '../config.ts';
import { repositoryId, repositoryRef, trustedCommit, type Repository } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';

/** The folder of a configured repository as records have it: `''` for the whole tree. */
export function normalizeFolder({ path }: Pick<RepositoryConfig, 'path'>): string {
  return (path ?? '').replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
}

/** What the versions of a configured repository are made from, as records have it. */
export function versionsOf({ versions }: Pick<RepositoryConfig, 'versions'>): Repository['versions'] {
  return versions === 'tags' ? 'tags' : undefined;
}

/** Follows a repository and branch, or changes how. Keeps what was synced from it. */
export async function follow(
  registry: Registry,
  org: string,
  given: Pick<
    Repository,
    'url' | 'branch' | 'credential' | 'discover' | 'visibility' | 'validation' | 'versions' | 'owner' | 'gone'
  >,
): Promise<string> {
  const id = repositoryId(given.url, given.branch);
  await registry.refs.update<Repository>(repositoryRef(org, id), (current) => {
    const fresh = { org, state: 'new', detail: null, commit: null, syncedAt: null, documents: {}, tags: {} } as const;
    const value: Repository = { ...fresh, ...current?.value, ...given };
    // Then the commit has to be read again.
    const isOther = current && (current.value.discover !== given.discover || current.value.versions !== given.versions);
    if (current && isOther)
      Object.assign(value, { commit: null, trusted: trustedCommit(current.value) } satisfies Partial<Repository>);
    if (current && JSON.stringify(value) === JSON.stringify(current.value)) return null;
    return { value, change: { actor: 'operator:configuration', origin: null, action: 'follow' } };
  });
  return id;
}
