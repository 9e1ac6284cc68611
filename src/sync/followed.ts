import type { Repository } from '../model/connection.ts';
import type { Registry } from '../registry/registry.ts';
import { shareWalk } from '../scheduling/shared-walk.ts';

/** Every followed repository, of all organizations. Records that a rename left behind are not among them. */
export async function listRepositories(registry: Registry): Promise<Repository[]> {
  return readRepositories(registry, await Array.fromAsync(registry.refs.list('repositories/')));
}

/** Those of some records. */
export async function readRepositories(registry: Registry, names: readonly string[]): Promise<Repository[]> {
  const generations = await Promise.all(names.map((name) => registry.refs.read<Repository>(name)));
  return generations.flatMap((generation) => (generation && !generation.value.renamed ? [generation.value] : []));
}

/** Creates a cached `listRepositories`: calls within half a second share one walk. */
export function createFollowed(registry: Registry): () => Promise<Repository[]> {
  return shareWalk(
    500,
    () => registry.monotonic(),
    () => listRepositories(registry),
  );
}
