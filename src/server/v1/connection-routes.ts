import { isAllowed } from '../../model/access.ts';
import {
  publicDetail,
  repositoryId,
  repositoryName,
  type Connection,
  type OnConflict,
  type Repository,
  connectionState,
} from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Resource } from '../../model/resource.ts';
import { connectRecord, disconnectRecord, readConnection } from '../../sync/connect.ts';
import { offerTags, type ReleaseTags } from '../../sync/sync-tags.ts';
import { hostOf } from '../../registry/host-of.ts';
import type { Generation } from '../../store/records.ts';
import { bodyOf, type Answer, type Call, type CallAbout, type ResourceHandler } from './call.ts';
import type { Name } from '../../registry/lives.ts';
import { etagOf, guardOf } from './conditional.ts';

interface NewConnection {
  repository: string;
  branch?: string | null;
  path: string;
  tags?: string | null;
  onConflict: OnConflict;
  credential?: string | null;
  webhookSecret?: string | null;
}

export const getConnection: ResourceHandler = (call) => describe(call, call.found);

export const connect: ResourceHandler = async (call) => {
  const { branch = null, tags = null, credential = null, webhookSecret, ...given } = bodyOf<NewConnection>(call);
  assertMaySetSecret(call, webhookSecret);
  const { registry, coordinate, author } = call;
  const wanted = { ...given, branch, tags, credential };
  const connected = await connectRecord(registry, coordinate, wanted, author, guardOf(call), webhookSecret);
  const releases = await offerTags(registry, connected.value);
  return describe(call, connected, releases);
};

/** Disconnects a resource or a site. */
export async function disconnect({ registry, coordinate, author, asker }: CallAbout<Name>): Promise<Answer> {
  await disconnectRecord(registry, coordinate, author, guardOf({ asker }));
  return { status: 204 };
}

async function describe(
  { registry, context }: Call,
  { value: resource, generation }: Generation<Resource>,
  releases: ReleaseTags | null = null,
): Promise<Answer> {
  const { connection } = resource;
  if (connection === null) throw new RegistryError('not_found', 'The resource has no connection.');
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  const body = {
    ...describeConnection(connection),
    ...describeFollowed({ registry, context }, resource.org, connection, repository?.value ?? null, document),
    document: document && { outcome: document.outcome, version: document.label },
    ...(releases && { releases }),
  };
  return { status: 200, headers: { ETag: etagOf(generation, repository?.generation ?? 0) }, body };
}

/** How the repository of a connection is followed, as described in the API. */
export function describeFollowed(
  { registry, context }: Pick<Call, 'registry' | 'context'>,
  org: string,
  { repository: url, branch }: { repository: string; branch: string | null },
  repository: Repository | null,
  document: Parameters<typeof connectionState>[1],
): object {
  const id = repositoryId(url, branch);
  const { state, detail, since } = connectionState(repository, document, context.queue.hasNews(org, id));
  const hasSecret = (repository?.hookSecrets ?? []).length > 0;
  const host = hostOf(registry, url)?.host.name ?? null;
  return {
    state,
    detail: publicDetail(url, detail),
    since,
    webhook: host && {
      // Without a secret of its own, the connection uses the configured one.
      url: `${context.url}/v1/hooks/${host}${hasSecret ? `?connection=${org}/${id}` : ''}`,
      hasSecret,
    },
    commit: repository?.commit ?? null,
    syncedAt: repository?.syncedAt ?? null,
  };
}

/** Throws `forbidden` unless the key may change the hook secret, which is that of the whole repository. */
export function assertMaySetSecret({ principal, org }: Call, webhookSecret: string | null | undefined): void {
  if (webhookSecret === undefined || isAllowed(principal, 'admin', { org })) return;
  const why = 'The hook secret applies to the whole repository. A key limited to some resources cannot change it.';
  throw new RegistryError('forbidden', why);
}

function describeConnection({ repository, branch, path, tags, onConflict, credential }: Connection): object {
  return { repository: repositoryName(repository), branch, path, tags: tags ?? null, onConflict, credential };
}
