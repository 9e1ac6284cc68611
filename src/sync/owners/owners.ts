import { setTimeout as wait } from 'node:timers/promises';
import type { OwnerConfig } from '../../config/organization-config.ts';
import type { Host } from '../../hosts/host.ts';
import type { Trigger } from '../../model/connection.ts';
import { ownerId, ownerPrefix, ownerRef, type Owner } from '../../model/owner.ts';
import type { Registry } from '../../registry/registry.ts';
import { findRepositories, leave } from './find-repositories.ts';
import { listRepositories } from '../follow.ts';

/** Milliseconds between two looks at an owner, and after one that failed. */
const day = 24 * 60 * 60_000;
const hour = 60 * 60_000;
/** The least milliseconds between two looks because of hooks. */
const pause = 60_000;

/** See `createOwners`. */
export type Owners = ReturnType<typeof createOwners>;

/**
 * Follows the repositories of owners: at the start, daily, and when a hook tells of something new. `request`: the sync of a
 * repository.
 */
export function createOwners(
  registry: Registry,
  request: (org: string, id: string, trigger: Trigger) => Promise<unknown>,
) {
  const stop = new AbortController();
  const running = new Map<string, Promise<string[]>>();
  const planned = new Map<string, Promise<void>>();
  const lookedAt = new Map<string, number>();

  /** One look at a time for each owner. A second caller shares it. */
  function look(org: string, owner: OwnerConfig): Promise<string[]> {
    const key = keyOf(org, owner);
    const runningLook = running.get(key);
    if (runningLook !== undefined) return runningLook;
    lookedAt.set(key, registry.monotonic());
    const looking = findRepositories(registry, org, owner).finally(() => running.delete(key));
    running.set(key, looking);
    return looking;
  }

  async function lookAndSync(org: string, owner: OwnerConfig, trigger: Trigger): Promise<void> {
    for (const id of await look(org, owner)) await request(org, id, trigger);
  }

  function fail(error: unknown): void {
    if (!stop.signal.aborted) registry.log('error', 'owners', { error: String(error) });
  }

  async function lookLater(org: string, owner: OwnerConfig, key: string): Promise<void> {
    const since = registry.monotonic() - (lookedAt.get(key) ?? -Infinity);
    await wait(Math.max(0, pause - since), undefined, { signal: stop.signal, ref: false });
    planned.delete(key);
    // A look that runs may have begun before the hook.
    await running.get(key);
    await lookAndSync(org, owner, 'hook');
  }

  return {
    /** Looks at all owners, and requests a sync of each new repository. Resolves to what `ask` does. */
    async lookAll<T>(ask: (org: string, id: string) => Promise<T>): Promise<T[]> {
      await leaveUnconfigured(registry);
      const looks = ownersIn(registry).map(async ({ org, owner }) => {
        const news = await look(org, owner);
        return Promise.all(news.map((id) => ask(org, id)));
      });
      return (await Promise.all(looks)).flat();
    },
    /** Looks at the owners whose last look is a day ago, or failed an hour ago. */
    async lookDue(): Promise<void> {
      const now = registry.now().getTime();
      for (const { org, owner } of ownersIn(registry)) {
        const recorded = (await registry.refs.read<Owner>(refOf(org, owner)))?.value;
        const age = recorded === undefined ? Infinity : now - Date.parse(recorded.lookedAt);
        if (age >= (recorded?.state === 'failed' ? hour : day)) await lookAndSync(org, owner, 'timer').catch(fail);
      }
    },
    /**
     * Looks soon at the owners that a repository with this name belongs to, at most once a minute.
     * Does nothing for repositories that the last look left out, unless the hook `isAbout` the
     * repository itself.
     */
    async hint(host: Host, name: string, isAbout: boolean): Promise<void> {
      for (const { org, owner } of ownersIn(registry)) {
        const key = keyOf(org, owner);
        if (owner.host !== host.name || !covers(owner, name) || planned.has(key)) continue;
        const recorded = (await registry.refs.read<Owner>(refOf(org, owner)))?.value;
        const isLeftOut = recorded !== undefined && Object.hasOwn(recorded.skipped, name);
        if ((isLeftOut && !isAbout) || planned.has(key)) continue;
        planned.set(key, lookLater(org, owner, key).catch(fail));
      }
    },
    /** Whether a repository with this name is of an owner that the organization follows. */
    covers: (host: Host, organization: string, name: string): boolean =>
      ownersIn(registry).some(
        ({ org, owner }) => org === organization && owner.host === host.name && covers(owner, name),
      ),
    async close(): Promise<void> {
      stop.abort();
      await Promise.allSettled([...running.values(), ...planned.values()]);
    },
  };
}

/** The owners of all organizations. */
export function ownersIn({ config }: Pick<Registry, 'config'>): { org: string; owner: OwnerConfig }[] {
  return Object.entries(config.organizations).flatMap(([org, { owners }]) => owners.map((owner) => ({ org, owner })));
}

function keyOf(org: string, { host, pattern }: OwnerConfig): string {
  return `${org}/${ownerId(host, pattern)}`;
}

function refOf(org: string, { host, pattern }: OwnerConfig): string {
  return ownerRef(org, ownerId(host, pattern));
}

/** Whether a repository with this name may belong to the owner. */
function covers({ owner }: OwnerConfig, name: string): boolean {
  return name.startsWith(ownerPrefix(owner));
}

/** Detaches the repositories of owners that the configuration no longer has. */
async function leaveUnconfigured(registry: Registry): Promise<void> {
  const configured = new Set(ownersIn(registry).map(({ org, owner }) => keyOf(org, owner)));
  for (const repository of await listRepositories(registry)) {
    const { org, owner, gone } = repository;
    if (owner === undefined || configured.has(`${org}/${owner}`) || gone) continue;
    await leave(
      registry,
      repository,
      'The configuration no longer has the owner of the repository. Published versions stay.',
    );
  }
}
