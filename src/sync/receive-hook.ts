import { readSecret } from '../config/environment.ts';
import { repositoryId, repositoryRef, type Repository } from '../model/connection.ts';
import type { Hint, Host } from '../hosts/host.ts';
import { currentId, noteHost, hostIdOf } from './renames/former.ts';
import { listRepositories } from './follow.ts';
import type { SyncQueue } from './queue.ts';
import type { Registry } from '../registry/registry.ts';
import { openSecret } from '../registry/seal.ts';

/** A followed repository, as named in a hook's URL. */
export interface RepositoryName {
  org: string;
  /** `repositoryId` */
  id: string;
}

/**
 * The secrets that may sign a delivery: the repository's when the URL names one, otherwise the
 * configured secrets of the host, which is named as in the configuration.
 */
export async function hookSecrets(registry: Registry, host: string, only: RepositoryName | null): Promise<string[]> {
  if (only !== null) {
    // The address of a hook stays when its repository is renamed.
    const id = await currentId(registry, only.org, only.id);
    const repository = await registry.refs.read<Repository>(repositoryRef(only.org, id));
    return (repository?.value.hookSecrets ?? []).map((sealed) => openSecret(registry, sealed));
  }
  const { webhookSecret } = registry.config.hosts[host]!;
  return webhookSecret === null
    ? []
    : readSecret(webhookSecret)
        .split(/\r?\n/)
        .filter((line) => line !== '');
}

/**
 * Handles a verified hook: requests a sync of every followed repository with that name or id on that host, a check of
 * the pull request, or the checks of a commit again. Resolves to their number when the requests are durable. A
 * repository that is not followed, or was created or moved, makes Stele look at its owner's. The hook is only a hint;
 * Stele always asks the remote itself. `only`: the repository that the secret belongs to.
 */
export async function receiveHook(
  registry: Registry,
  queue: SyncQueue,
  host: Host,
  hint: Hint,
  only: RepositoryName | null,
): Promise<number> {
  if (hint.kind === 'nothing') return 0;
  const hostId = hint.kind === 'again' ? undefined : hostIdOf(host, hint);
  const now = hint.kind === 'repository' ? hint.now : undefined;
  const names = [hint.repository.toLowerCase(), ...(now === undefined ? [] : [now])];
  const onlyId = only && (await currentId(registry, only.org, only.id));
  const wanted = (await listRepositories(registry)).filter((repository) => {
    if (repository.gone) return false;
    const isIt = hostId !== undefined && repository.hostId === hostId;
    if (!isIt && host.nameOf(repository.url)?.toLowerCase() !== names[0]) return false;
    return only === null || (repository.org === only.org && idOf(repository) === onlyId);
  });
  // A hook of one repository must not start a look at all of its owner's.
  const isAbout = hint.kind === 'repository';
  const isNews = isAbout || wanted.length === 0;
  if (only === null && isNews) for (const name of names) await queue.owners.hint(host, name, isAbout);
  await Promise.all(
    wanted.map(async (repository) => {
      const id = idOf(repository);
      // The host says which repository had this name.
      if (hostId !== undefined && repository.hostId === undefined) await noteHost(registry, repository, { hostId });
      const named = hostId === undefined ? {} : { hostId };
      const isElsewhere = host.nameOf(repository.url) !== names.at(-1);
      const isOther = hostId !== undefined && repository.hostId !== undefined && repository.hostId !== hostId;
      if (isElsewhere || isOther || isAbout) queue.renames.lookSoon({ ...repository, ...(isOther ? {} : named) });
      // The look at the owner syncs it under its current name.
      if (now !== undefined) return;
      if (hint.kind === 'pull') return queue.check(repository.org, id, hint.pull, hint.isOpen);
      if (hint.kind === 'again') return queue.checkAgain(repository.org, id, hint.commit);
      await queue.request(repository.org, id, 'hook');
    }),
  );
  return wanted.length;
}

function idOf({ url, branch }: Repository): string {
  return repositoryId(url, branch);
}
