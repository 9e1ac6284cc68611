import { inspect } from 'node:util';
import PQueue from 'p-queue';
import type { FoundRepository, Host } from '../../hosts/host.ts';
import { repositoryId, repositoryRef, type Repository, type Trigger } from '../../model/connection.ts';
import { isRegistryError, unavailable } from '../../model/errors.ts';
import { hostOf } from '../../registry/remote.ts';
import type { Registry } from '../../registry/registry.ts';
import { follow } from '../follow.ts';
import type { Owners } from '../owners/owners.ts';
import { adopt, noteHost, hostIdOf, idOn, isSameOwner, renamedUrl } from './former.ts';

/** Milliseconds between two looks at a repository, and at one that is missing. */
const day = 24 * 60 * 60_000;
const hour = 60 * 60_000;
const looksAtOnce = 4;
/** Looks at a host that may fail one after the other before the others are left for later. */
const maxFailures = 3;

/** Follows single repositories to the names that they get on their hosts. `request`: the sync of a repository. */
export function createRenames(
  registry: Registry,
  owners: Pick<Owners, 'hint' | 'covers'>,
  request: (org: string, id: string, trigger: Trigger) => Promise<unknown>,
) {
  const stop = new AbortController();
  const running = new Set<Promise<void>>();
  const lookedAt = new Map<string, number>();

  async function look(repository: Repository): Promise<void> {
    const { org, url, branch, credential } = repository;
    lookedAt.set(keyOf(repository), registry.monotonic());
    const on = hostOf(registry, url);
    if (on === null || repository.renamed !== undefined) return;
    const { host, name } = on;
    // Those of an owner are found by its list.
    if (repository.owner !== undefined) return owners.hint(host, name, true);
    const id = idOn(host, repository);
    const listed = await host.findRepository({ name, credential }, id);
    const hostId = listed === null ? undefined : hostIdOf(host, listed);
    // A host that knows only names may have another repository there, which the guard judges.
    if (listed === null || hostId === undefined || (id !== null && listed.id !== id)) return;
    await noteHost(registry, repository, { ...listed, hostId });
    if (listed.name === name) return;
    const successor = await findSuccessor({ ...repository, hostId }, host, name, listed);
    if (successor === null) return;
    await adopt(registry, repository, successor, stop.signal);
    await request(org, repositoryId(successor.url, branch), 'hook');
  }

  /** The record to go on with. Null if the repository is not followed where it is now, or not yet. */
  async function findSuccessor(
    repository: Repository & { hostId: string },
    host: Host,
    name: string,
    listed: FoundRepository,
  ): Promise<Repository | null> {
    const { org, branch } = repository;
    const url = renamedUrl(host, repository.url, listed);
    if (url === null) return null;
    const ref = repositoryRef(org, repositoryId(url, branch));
    const recorded = (await registry.refs.readFresh<Repository>(ref))?.value;
    if (recorded !== undefined && recorded.renamed === undefined) return recorded;
    if (owners.covers(host, org, listed.name)) {
      await owners.hint(host, listed.name, true);
      return null;
    }
    if (!isSameOwner(name, listed.name)) {
      await detach(repository, host, listed);
      return null;
    }
    const { credential, discover, visibility, validation, versions, hostId } = repository;
    const author = { actor: `sync:${org}`, origin: null };
    await follow(
      registry,
      org,
      { url, branch, credential, discover, visibility, validation, versions, hostId },
      author,
    );
    return (await registry.refs.readFresh<Repository>(ref))!.value;
  }

  async function detach({ org, url, branch }: Repository, host: Host, { name }: FoundRepository): Promise<void> {
    const detail = `The repository was moved to ${name} on ${host.name}, whose owner is not followed. Published versions stay. To continue, follow its new URL.`;
    await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
      const value = current!.value;
      if (value.movedTo === name || value.gone) return null;
      const since = value.state === 'detached' ? value.since : registry.now().toISOString();
      const left = { ...value, state: 'detached' as const, detail, held: null, movedTo: name };
      const change = { actor: 'operator:hosts', origin: null, action: `moved to ${name}` };
      return { value: { ...left, ...(since !== undefined && { since }) }, change };
    });
    registry.log('warn', 'repository detached', { org, repository: url, detail });
  }

  function fail({ org, url }: Repository, error: unknown): void {
    const detail = isRegistryError(error) ? error.message : inspect(error);
    if (!stop.signal.aborted) registry.log('warn', 'name not looked up', { org, repository: url, detail });
  }

  function isDue(repository: Repository): boolean {
    if (repository.owner !== undefined || repository.gone) return false;
    const age = registry.monotonic() - (lookedAt.get(keyOf(repository)) ?? -Infinity);
    return age >= (repository.state === 'detached' ? hour : day);
  }

  return {
    /**
     * In the background: asks the host for the name of a repository, and follows it there: under another
     * name of the same owner, or of one that the configuration follows. Elsewhere it is detached, and
     * says so.
     */
    lookSoon(repository: Repository): void {
      const looking: Promise<void> = look(repository)
        .catch((error: unknown) => fail(repository, error))
        .finally(() => void running.delete(looking));
      running.add(looking);
    },
    /** Stops the looks and waits for them to end. */
    async close(): Promise<void> {
      stop.abort(unavailable('The registry is shutting down.'));
      await Promise.all(running);
    },
    /** Looks at the repositories whose last look is a day ago, or an hour for those that are missing. */
    async lookDue(repositories: readonly Repository[]): Promise<void> {
      const queue = new PQueue({ concurrency: looksAtOnce });
      const failures = new Map<Host, number>();
      const task = (repository: Repository) => async () => {
        const host = hostOf(registry, repository.url)?.host;
        if (host === undefined || stop.signal.aborted || (failures.get(host) ?? 0) >= maxFailures) return;
        try {
          await look(repository);
          failures.delete(host);
        } catch (error) {
          if (!isRegistryError(error)) throw error;
          failures.set(host, (failures.get(host) ?? 0) + 1);
          fail(repository, error);
        }
      };
      const onHosts = repositories.filter((each) => hostOf(registry, each.url) !== null);
      await queue.addAll(onHosts.filter(isDue).map(task));
    },
  };
}

function keyOf({ org, url, branch }: Repository): string {
  return `${org}/${repositoryId(url, branch)}`;
}
