import type { Host } from '../../hosts/host.ts';
import { repositoryId, repositoryRef, trustedCommit, type Repository } from '../../model/connection.ts';
import { isRegistryError } from '../../model/errors.ts';
import { hostOf } from '../../registry/host-of.ts';
import type { Registry } from '../../registry/registry.ts';
import { listRepositories } from '../followed.ts';
import { adopt } from './adopt.ts';
import { hostIdOf } from './host-id.ts';

/** The most renames that are followed from one record to the next. */
const maxRenames = 10;

/** The id under which a followed repository goes on, after all its renames. */
export async function currentId(registry: Registry, org: string, id: string): Promise<string> {
  let current = id;
  for (let renames = 0; renames < maxRenames; renames++) {
    const record = (await registry.refs.read<Repository>(repositoryRef(org, current)))?.value;
    if (record?.renamed === undefined) break;
    current = repositoryId(record.renamed, record.branch);
  }
  return current;
}

/**
 * Before the first sync of a repository: if the organization followed it under another name, it
 * goes on from there. Asks the host for its id only where another repository of that host is known
 * by one. If the host does not answer now, a later look (`Renames`) finds out. Resolves to the
 * record as it is then.
 */
export async function goOnFromFormer(
  registry: Registry,
  repository: Repository,
  signal: AbortSignal,
): Promise<Repository> {
  const { org, url, branch } = repository;
  const on = hostOf(registry, url);
  if (on === null || repository.commit !== null || trustedCommit(repository) !== null || repository.formerId)
    return repository;
  const repositories = (await listRepositories(registry)).filter(
    (each) => each.org === org && each.url !== url && each.hostId?.startsWith(`${on.host.name}:`),
  );
  if (repositories.length === 0) return repository;
  const name = repositoryRef(org, repositoryId(url, branch));
  try {
    const hostId = repository.hostId ?? (await learnId(registry, repository, on));
    const former = hostId && formerOf(on.host, { ...repository, hostId }, repositories);
    if (!former) return repository;
    await adopt(registry, former, repository, signal);
    return (await registry.refs.readFresh<Repository>(name))!.value;
  } catch (error) {
    if (!isRegistryError(error) || signal.aborted) throw error;
    registry.log('warn', 'rename not followed', { org, repository: url, detail: error.message });
    return repository;
  }
}

/** The record of the same repository under a former name, or undefined. */
export function formerOf(
  host: Host,
  { org, url, branch, hostId }: Pick<Repository, 'org' | 'url' | 'branch'> & { hostId: string },
  among: readonly Repository[],
): Repository | undefined {
  // The same name in another spelling is not a rename: by ssh, or without `.git`. Other capitals are.
  const isOther = (each: Repository) =>
    host.nameOf(each.url) !== host.nameOf(url) || each.url.toLowerCase() === url.toLowerCase();
  return among.find(
    (each) => each.org === org && each.branch === branch && each.hostId === hostId && each.url !== url && isOther(each),
  );
}

/** Asks the host for the id of the repository with this name, and records it. */
async function learnId(
  registry: Registry,
  repository: Repository,
  { host, name }: { host: Host; name: string },
): Promise<string | undefined> {
  const listed = await host.findRepository({ name, credential: repository.credential }, null);
  // A former name, which leads to a repository that has another one now.
  const hostId = listed?.name === name ? hostIdOf(host, listed) : undefined;
  if (hostId !== undefined) await noteHost(registry, repository, { ...listed, hostId });
  return hostId;
}

/** Records what the host says of a repository that was not moved: its id, and who sees it there. */
export async function noteHost(
  registry: Registry,
  { org, url, branch }: Pick<Repository, 'org' | 'url' | 'branch'>,
  { hostId, isPrivate }: { hostId: string; isPrivate?: boolean },
): Promise<void> {
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
    if (current === null || current.value.renamed !== undefined) return null;
    const { movedTo, ...value } = current.value;
    const onHost = isPrivate === undefined ? value.onHost : seenAs(isPrivate, value.onHost);
    if (value.hostId === hostId && value.onHost === onHost && movedTo === undefined) return null;
    const action = onHost === value.onHost ? 'note its id' : `${onHost} on its host`;
    const change = { actor: 'operator:hosts', origin: null, action };
    return { value: { ...value, hostId, ...(onHost && { onHost }) }, change };
  });
}

function seenAs(isPrivate: boolean, before: Repository['onHost']): NonNullable<Repository['onHost']> {
  if (!isPrivate) return 'public';
  return before === undefined || before === 'private' ? 'private' : 'made private';
}
