import type { Principal } from '../../model/access.ts';
import type { Coordinate } from '../../model/address.ts';
import { isRejected, publicDetail, repositoryName } from '../../model/connection.ts';
import type { Digest } from '../../model/digest.ts';
import { nameOf, resourceRef, type Resource } from '../../model/resource.ts';
import { newResource } from '../../registry/create-resource.ts';
import { mayRead } from '../../registry/readable.ts';
import type { Registry } from '../../registry/registry.ts';
import { isUnfollowed } from '../follow.ts';
import { listRepositories } from '../followed.ts';
import type { RejectedDocument } from './describe-followed.ts';

/** A document that was rejected before a version of it was ever published. */
export interface Rejected extends Omit<RejectedDocument, 'resource'> {
  /** The resource that it would be: private, with its file as its connection. It is not stored. */
  resource: Resource;
  /** Public name of the repository. */
  repository: string;
  report: Digest | null;
}

/**
 * Why the document of a resource that does not exist was rejected. Null if it exists or did, if no followed repository
 * has such a document, or if the principal may not read private resources of that name: then nothing is looked for.
 */
export async function findRejected(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<Rejected | null> {
  if (!mayRead(principal, { ...coordinate, visibility: 'private' })) return null;
  if ((await registry.refs.read<Resource>(resourceRef(coordinate))) !== null) return null;
  const name = nameOf(coordinate);
  for (const followed of await listRepositories(registry)) {
    if (followed.org !== coordinate.org || isUnfollowed(followed)) continue;
    const { url, branch, credential, documents } = followed;
    for (const [path, document] of Object.entries(documents)) {
      if (document.resource !== name || !isRejected(document)) continue;
      const { outcome, since = null, detail = null, report } = document;
      const connection = { repository: url, branch, path, tags: null, onConflict: 'revise', credential } as const;
      const fresh = newResource(registry, coordinate, { name: coordinate.slug, visibility: 'private' });
      const resource = { ...fresh, connection, ...(since !== null && { createdAt: since }) };
      return {
        resource,
        repository: repositoryName(url),
        path,
        outcome,
        since,
        detail: publicDetail(url, detail),
        report,
      };
    }
  }
  return null;
}
