import { RegistryError } from '../model/errors.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { PublishRequest } from './append-version.ts';
import type { Registry } from './registry.ts';

/**
 * An upload as it is published: now, or, for moving in, in its place by the date that another registry had for it
 * (decision 170). `latest`: whether it may become the latest. Throws `malformed` for a time that is none, or that is yet
 * to come.
 */
export function datedUpload(
  { now }: Pick<Registry, 'now'>,
  snapshot: Snapshot,
  createdAt: string | null,
  latest: boolean,
): Pick<PublishRequest, 'snapshot' | 'isPast' | 'latest'> {
  if (createdAt === null) return { snapshot, latest };
  const time = Date.parse(createdAt);
  if (Number.isNaN(time)) throw new RegistryError('malformed', `${createdAt} is not a time.`);
  if (time > now().getTime())
    throw new RegistryError('malformed', `${createdAt} is in the future. Say when it was published.`);
  const committedAt = new Date(time).toISOString();
  return { snapshot: { ...snapshot, committedAt }, isPast: true, latest: latest && 'newer' };
}
