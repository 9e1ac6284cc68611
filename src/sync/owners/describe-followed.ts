import {
  isRejected,
  publicDetail,
  repositoryId,
  repositoryName,
  staysVisible,
  type DocumentState,
  type Repository,
  connectionState,
  type ConnectionState,
} from '../../model/connection.ts';
import { type Resource, nameOf, resourceRef } from '../../model/resource.ts';
import { ownerId, ownerRef, type Owner, type SkipReason } from '../../model/owner.ts';
import { countOutcomes, type StateCounts } from '../../model/states.ts';
import { readAmong } from '../../registry/stored.ts';
import type { Registry } from '../../registry/registry.ts';
import { isUnfollowed, listRepositories } from '../follow.ts';
import { ownersIn } from './owners.ts';
import type { Principal } from '../../model/access.ts';
import type { Coordinate } from '../../model/address.ts';
import type { Digest } from '../../model/digest.ts';
import { newResource } from '../../registry/change-resource.ts';
import { mayRead } from '../../registry/readable.ts';

/** A followed repository, for people and programs. */
export interface FollowedRepository {
  /** `repositoryId` */
  id: string;
  /** Its public name. */
  repository: string;
  branch: string | null;
  /** The id of the owner among whose repositories it was found, or null. */
  owner: string | null;
  /** The folder in which documents are looked for. Null: the whole repository. */
  path: string | null;
  /** Of what is published from it. These are null if only connections use the repository. */
  visibility: Repository['visibility'] | null;
  validation: Repository['validation'] | null;
  versions: 'branch' | 'tags' | null;
  /** Name of a credential in the configuration. */
  credential: string | null;
  state: ConnectionState;
  detail: string | null;
  since: string | null;
  commit: string | null;
  syncedAt: string | null;
  /** How many contracts its locks (`contracts.lock`) name. */
  contracts: number;
  /** The documents that the last sync read. */
  documents: StateCounts;
  /** The first of those that are rejected, also those of which no version was ever published. */
  rejected: RejectedDocument[];
}

/** A document that the last sync that read it did not publish, for people and programs. */
interface RejectedDocument extends Pick<DocumentState, 'resource' | 'outcome'> {
  path: string;
  since: string | null;
  detail: string | null;
}

const maxRejected = 20;

/** An owner whose repositories are followed, for people and programs. */
export interface FollowedOwner extends Omit<Owner, 'org' | 'state' | 'skipped' | 'lookedAt'> {
  id: string;
  /** `new`: Stele has not asked the host yet. */
  state: Owner['state'] | 'new';
  lookedAt: string | null;
  skipped: { name: string; reason: SkipReason }[];
}

/** The followed repositories of an organization, by name. `hasNews`: whether a sync found something new. */
export async function describeRepositories(
  registry: Registry,
  org: string,
  hasNews: (org: string, id: string) => boolean = () => false,
): Promise<FollowedRepository[]> {
  const repositories = (await listRepositories(registry)).filter((each) => each.org === org && !isUnfollowed(each));
  const described = repositories.map(async (repository) => {
    const record = describe(repository, hasNews);
    return record.detail === null && (await isMoreVisible(registry, repository))
      ? { ...record, detail: staysVisible }
      : record;
  });
  return (await Promise.all(described)).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

/** Whether it was made private on its host, and something of it is public here. */
async function isMoreVisible(registry: Registry, { onHost, documents }: Repository): Promise<boolean> {
  if (onHost !== 'made private') return false;
  const names = Object.values(documents).map(({ resource }) => `resources/${resource.slice(1)}`);
  const read = await Promise.all(names.map((name) => registry.refs.read<Resource>(name)));
  return read.some((resource) => resource?.value.visibility === 'public' && resource.value.deletedAt === null);
}

function keyOf({ repository, id }: FollowedRepository): string {
  return `${repository} ${id}`;
}

function describe(repository: Repository, hasNews: (org: string, id: string) => boolean): FollowedRepository {
  const { org, url, branch, owner = null, credential, commit, syncedAt } = repository;
  const { discover, visibility, validation, versions = 'branch' } = repository;
  const id = repositoryId(url, branch);
  const { state, detail, since } = connectionState(repository, null, hasNews(org, id));
  const rejected = Object.entries(repository.documents).filter(([, document]) => isRejected(document));
  return {
    id,
    repository: repositoryName(url),
    branch,
    owner,
    ...(discover === null
      ? { path: null, visibility: null, validation: null, versions: null }
      : { path: discover || null, visibility, validation, versions }),
    credential,
    state,
    detail: publicDetail(url, detail),
    since,
    commit,
    syncedAt,
    contracts: repository.contracts?.length ?? 0,
    documents: countOutcomes(Object.values(repository.documents)),
    rejected: rejected.slice(0, maxRejected).map(([path, document]) => {
      const { resource, outcome, since: changedAt = null, detail: why = null } = document;
      return { path, resource, outcome, since: changedAt, detail: publicDetail(url, why) };
    }),
  };
}

/** The owners whose repositories an organization follows, in the order of the configuration. */
export async function describeOwners(registry: Registry, organization: string): Promise<FollowedOwner[]> {
  const owners = ownersIn(registry).filter(({ org }) => org === organization);
  return Promise.all(
    owners.map(async ({ org, owner: { host, pattern } }): Promise<FollowedOwner> => {
      const id = ownerId(host, pattern);
      const recorded = (await readAmong<Owner>(registry, ownerRef(org, id)))?.value;
      const fresh = { detail: null, lookedAt: null, listedAt: null, isComplete: true, followed: 0 };
      if (recorded === undefined) return { id, host, pattern, state: 'new', ...fresh, skipped: [] };
      const { org: _org, skipped, ...rest } = recorded;
      const names = Object.entries(skipped).map(([name, reason]) => ({ name, reason }));
      return { id, ...rest, skipped: names.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
    }),
  );
}

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
