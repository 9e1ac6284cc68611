import { expect, vi, onTestFinished } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import type { Hint, Host, Pull } from '../../src/hosts/host.ts';
import { type Check, pullRef, type PullCheck } from '../../src/model/check.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { receiveHook } from '../../src/sync/receive-hook.ts';
import { createPulls, type PullsOptions } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createWorld } from '../registry/world.ts';

export const url = 'https://git.test/acme/apis.git';
export const id = repositoryId(url, null);
export const seven = { number: 7, base: 'main', ref: 'refs/pull/7/head' } satisfies Pull;

/** Waits until the expectation holds, as long as a busy machine may take. */
export function waitFor(expectation: () => unknown): Promise<unknown> {
  return vi.waitFor(expectation, { timeout: 120_000 });
}

/** A host in memory: what it was told, and what it answers. */
export interface FakeHost extends Host {
  told: Check[];
  open: Pull[];
  /** Whether `open` is all of them. */
  isComplete: boolean;
  /** How often `reportCheck` still fails. */
  failures: number;
}

export function createFakeHost(): FakeHost {
  const host: FakeHost = {
    kind: 'github',
    name: 'github',
    told: [],
    open: [],
    isComplete: true,
    failures: 0,
    isGenuine: async () => true,
    readHint: () => ({ kind: 'nothing', event: 'ping' }),
    nameOf: (repository) => /^https:\/\/git\.test\/(.+?)(?:\.git)?$/.exec(repository)?.[1] ?? null,
    findRepository: () => Promise.resolve(null),
    listRepositories: () => Promise.resolve({ repositories: [], isComplete: true }),
    listPulls: async () => ({ pulls: host.open, isComplete: host.isComplete }),
    async reportCheck(_repository, check) {
      if (host.failures-- > 0) throw new RegistryError('unreachable', 'The host does not answer.');
      host.told.push(check);
    },
    gitCredential: async () => ({ kind: 'token', username: 'x', token: 'y' }),
    close: () => undefined,
  };
  return host;
}

/** An API that the fake compiler takes. */
export function api(version: string, more = ''): string {
  return `openapi: 3.1.0\ninfo: {title: Pay, version: ${version}}\n${more}`;
}

/** How `acme` follows the repository. */
export const followed = {
  url,
  branch: null,
  credential: 'git',
  discover: '',
  visibility: 'public',
  validation: 'lenient',
} as const;

/** Organization `acme` follows one repository on a host in memory. */
export async function open(options: PullsOptions = {}, user: UserConfig = {}, compiler?: Registry['compiler']) {
  const host = createFakeHost();
  const config = {
    organizations: { acme: {} },
    credentials: { git: { env: 'NOT_READ', organizations: ['acme'] } },
    url: 'https://r.test',
    ...user,
  };
  const created = createWorld(config, null, [host]);
  const world = { ...created, registry: { ...created.registry, ...(compiler && { compiler }) } };
  await follow(world.registry, 'acme', followed);
  const queue = createSyncQueue(world.registry, (registry, report) => createPulls(registry, report, options));
  // What is still at work would set its timers among those of the next test.
  onTestFinished(() => queue.close());
  const state = async () => (await world.registry.refs.read<PullCheck>(pullRef('acme', id, seven)))?.value ?? null;
  return {
    ...world,
    host,
    queue,
    state,
    sync: async () => (await queue.request('acme', id, 'manual')).done,
    hook: (hint: Hint) => receiveHook(world.registry, queue, host, hint, null),
    checked: (head: string) => waitFor(async () => expect(await state()).toMatchObject({ state: 'checked', head })),
  };
}
