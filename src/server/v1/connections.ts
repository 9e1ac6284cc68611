import { publicDetail, repositoryName, type Connection, type OnConflict } from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Resource } from '../../model/resource.ts';
import { connectResource, disconnectResource, readConnection } from '../../registry/connect.ts';
import type { Generation } from '../../store/refs.ts';
import { bodyOf, type Answer, type Call, type ResourceHandler } from './call.ts';
import { etagOf, guardOf } from './conditional.ts';

interface NewConnection {
  repository: string;
  branch?: string | null;
  path: string;
  tags?: string | null;
  onConflict: OnConflict;
  credential?: string | null;
}

export const getConnection: ResourceHandler = (call) => describe(call, call.found);

export const connect: ResourceHandler = async (call) => {
  const { branch = null, tags = null, credential = null, ...given } = bodyOf<NewConnection>(call);
  const { registry, coordinate, author } = call;
  return describe(
    call,
    await connectResource(registry, coordinate, { ...given, branch, tags, credential }, author, guardOf(call)),
  );
};

export const disconnect: ResourceHandler = async (call) => {
  await disconnectResource(call.registry, call.coordinate, call.author, guardOf(call));
  return { status: 204 };
};

async function describe({ registry }: Call, { value: resource, generation }: Generation<Resource>): Promise<Answer> {
  const { connection } = resource;
  if (connection === null) throw new RegistryError('not_found', 'It has no connection.');
  const { repository, document } = await readConnection(registry, { ...resource, connection });
  const body = {
    ...describeConnection(connection),
    state: repository?.value.state ?? 'new',
    detail: publicDetail(connection.repository, repository?.value.detail ?? null),
    commit: repository?.value.commit ?? null,
    syncedAt: repository?.value.syncedAt ?? null,
    document: document && { outcome: document.outcome, version: document.label },
  };
  return { status: 200, headers: { ETag: etagOf(generation, repository?.generation ?? 0) }, body };
}

function describeConnection({ repository, branch, path, tags, onConflict, credential }: Connection): object {
  return { repository: repositoryName(repository), branch, path, tags: tags ?? null, onConflict, credential };
}
