import { readSecret } from '../config.ts';
import { repositoryId, repositoryRef, type Repository } from '../model/connection.ts';
import type { Hint, Host, HostKind } from '../hosts/host.ts';
import { readAmong } from '../registry/read-among.ts';
import { createFollowed } from './followed.ts';
import type { SyncQueue } from './queue.ts';
import type { Registry } from '../registry/registry.ts';
import { openSecret } from '../registry/seal.ts';

/** One followed repository, as a hook's URL names it. */
export interface RepositoryName {
  org: string;
  /** `repositoryId` */
  id: string;
}

/** The secrets that a delivery may be signed with: those of the repository that its URL names, else those that the configuration has for the host. */
export async function hookSecrets(registry: Registry, kind: HostKind, only: RepositoryName | null): Promise<string[]> {
  if (only !== null) {
    const repository = await readAmong<Repository>(registry, repositoryRef(only.org, only.id));
    return (repository?.value.hookSecrets ?? []).map((sealed) => openSecret(registry, sealed));
  }
  const { webhookSecret } = registry.config.hosts[kind];
  return webhookSecret === null
    ? []
    : readSecret(webhookSecret)
        .split(/\r?\n/)
        .filter((line) => line !== '');
}

/**
 * Takes a genuine delivery's hint: every followed repository of that name on that host is to be looked at, or the pull request checked. Resolves, once
 * that is durable, to how many there are. Whatever the hint says, nothing happens but a look at what the remote itself says. `only`: the one
 * repository that the secret was for.
 */
export async function receiveHook(
  registry: Registry,
  queue: SyncQueue,
  host: Host,
  hint: Hint,
  only: RepositoryName | null,
): Promise<number> {
  if (hint.kind === 'nothing') return 0;
  const wanted = (await followedBy(registry)).filter((repository) => {
    if (host.nameOf(repository.url)?.toLowerCase() !== hint.repository.toLowerCase()) return false;
    return only === null || (repository.org === only.org && idOf(repository) === only.id);
  });
  await Promise.all(
    wanted.map((repository) =>
      hint.kind === 'pull'
        ? queue.check(repository.org, idOf(repository), hint.pull, hint.isOpen)
        : queue.request(repository.org, idOf(repository), 'hook'),
    ),
  );
  return wanted.length;
}

function idOf({ url, branch }: Repository): string {
  return repositoryId(url, branch);
}

const followed = new WeakMap<Registry, () => Promise<Repository[]>>();

/** Every followed repository, as it was half a second ago at most: a burst of hooks does not read them all again for each. */
function followedBy(registry: Registry): Promise<Repository[]> {
  const read = followed.get(registry) ?? createFollowed(registry);
  followed.set(registry, read);
  return read();
}
