import { isAllowed } from '../../model/access.ts';
import {
  publicDetail,
  repositoryId,
  repositoryName,
  type Connection,
  type OnConflict,
} from '../../model/connection.ts';
import { connectionState } from '../../model/connection-state.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Resource } from '../../model/resource.ts';
import { connectResource, disconnectResource, readConnection } from '../../sync/connect.ts';
import { offerTags, type ReleaseTags } from '../../sync/release-tag.ts';
import { hostOf } from '../../registry/host-of.ts';
import type { Generation } from '../../store/generations.ts';
import { bodyOf, type Answer, type Call, type ResourceHandler } from './call.ts';
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
  if (webhookSecret !== undefined && !isAllowed(call.principal, 'admin', { org: call.org })) {
    const why = 'The hook secret applies to the whole repository. A key limited to some resources cannot change it.';
    throw new RegistryError('forbidden', why);
  }
  const { registry, coordinate, author } = call;
  const wanted = { ...given, branch, tags, credential };
  const connected = await connectResource(registry, coordinate, wanted, author, guardOf(call), webhookSecret);
  const releases = await offerTags(registry, connected.value);
  return describe(call, connected, releases);
};

export const disconnect: ResourceHandler = async (call) => {
  await disconnectResource(call.registry, call.coordinate, call.author, guardOf(call));
  return { status: 204 };
};

async function describe(
  { registry, context }: Call,
  { value: resource, generation }: Generation<Resource>,
  releases: ReleaseTags | null = null,
): Promise<Answer> {
  const { connection } = resource;
  if (connection === null) throw new RegistryError('not_found', 'The resource has no connection.');
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  const id = repositoryId(connection.repository, connection.branch);
  const hasNews = context.queue.hasNews(resource.org, id);
  const { state, detail, since } = connectionState(repository?.value ?? null, document, hasNews);
  const hasSecret = (repository?.value.hookSecrets ?? []).length > 0;
  const host = hostOf(registry, connection.repository)?.host.name ?? null;
  const body = {
    ...describeConnection(connection),
    state,
    detail: publicDetail(connection.repository, detail),
    since,
    webhook: host && {
      // Without a secret of its own, the connection uses the configured one.
      url: `${context.url}/v1/hooks/${host}${hasSecret ? `?connection=${resource.org}/${id}` : ''}`,
      hasSecret,
    },
    commit: repository?.value.commit ?? null,
    syncedAt: repository?.value.syncedAt ?? null,
    document: document && { outcome: document.outcome, version: document.label },
    ...(releases && { releases }),
  };
  return { status: 200, headers: { ETag: etagOf(generation, repository?.generation ?? 0) }, body };
}

function describeConnection({ repository, branch, path, tags, onConflict, credential }: Connection): object {
  return { repository: repositoryName(repository), branch, path, tags: tags ?? null, onConflict, credential };
}
