import type { Connection } from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import { nameOf, type Resource } from '../model/resource.ts';

/**
 * Refuses with `conflict` to publish a resource from a repository that it is not connected to, whatever that repository's `stele.yaml` says:
 * who may push there may not thereby replace what others publish.
 */
export function assertConnectable(resource: Resource, { repository }: Pick<Connection, 'repository'>): void {
  if (resource.connection?.repository === repository) return;
  const state = resource.connection === null ? 'is connected to no repository' : 'is connected to another repository';
  throw new RegistryError(
    'conflict',
    `${nameOf(resource)} exists and ${state}. Connect it to this one, or choose another slug.`,
  );
}
