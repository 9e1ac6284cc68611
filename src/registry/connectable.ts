import type { Connection } from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import { nameOf, type Resource } from '../model/resource.ts';

/**
 * Throws `conflict` if the resource is not connected to this repository. Otherwise anyone who may
 * push to one repository could replace what another one publishes.
 */
export function assertConnectable(resource: Resource, { repository }: Pick<Connection, 'repository'>): void {
  if (resource.connection?.repository === repository) return;
  const state =
    resource.connection === null ? 'is not connected to a repository' : 'is connected to another repository';
  throw new RegistryError(
    'conflict',
    `${nameOf(resource)} exists and ${state}. Connect it to this one, or choose another slug.`,
  );
}
