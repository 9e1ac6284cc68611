import { expect, test } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import { createHosts } from '../../src/hosts/hosts.ts';
import type { Hint } from '../../src/hosts/host.ts';
import { repositoryId, repositoryRef, type Repository } from '../../src/model/connection.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { connectRecord } from '../../src/sync/connect.ts';
import { describeRepositories } from '../../src/sync/owners/describe-followed.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { receiveHook } from '../../src/sync/receive-hook.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { eventsOfRepository } from '../../src/events/events.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';
import { createWorld } from '../registry/world.ts';

process.env['STELE_TEST_RENAME_TOKEN'] = 'a-token';
const author = { actor: 'operator:test', origin: null };
const urlOf = (name: string) => `https://git.test/${name}.git`;
const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;
const api = (version = '1.0.0', title = 'Pay') => ({
  'a.yaml': `openapi: 3.1.0\ninfo: {title: ${title}, version: "${version}"}\n`,
});

type Given = NonNullable<UserConfig['organizations']>[string]['repositories'];

/** A registry whose organization follows repositories on a Gitea that stands in. */
async function open(repositories: Given = [{ gitea: 'acme/*', credential: 'acme' }]) {
  const gitea = await openGiteaApi();
  const owned = gitea.owned.repositories as { id: number; full_name: string }[];
  const user: UserConfig = {
    hosts: { gitea: { url: 'https://git.test', apiUrl: `${gitea.url}/api/v1` } },
    credentials: { acme: { env: 'STELE_TEST_RENAME_TOKEN', host: 'git.test', organizations: ['acme'] } },
    organizations: { acme: { repositories: repositories! } },
    sync: { interval: 0, hosts: ['git.test'] },
  };
  const world = createWorld(user);
  let updates = Infinity;
  const { refs } = world.registry;
  const update: typeof refs.update = async (name, decide, options) => {
    if (/^(?:resources|repositories)\//.test(name) && updates-- === 0) throw new Error('The process ended.');
    return refs.update(name, decide, options);
  };
  const hosts = createHosts(world.registry.config, { second: 50 });
  const registry = { ...world.registry, refs: { ...refs, update }, hosts };
  const queue = createSyncQueue(registry, createPulls);
  const host = registry.hosts.find(({ name }) => name === 'gitea')!;

  return {
    ...world,
    registry,
    queue,
    gitea,
    host,
    add(name: string, id: number, files: Record<string, string> = api()) {
      owned.push({ id, full_name: name });
      world.source.push(urlOf(name), files);
    },
    /** As a host does it: the API redirects from the old name, and git does not answer there. */
    rename(from: string, to: string) {
      owned.find(({ full_name }) => full_name === from)!.full_name = to;
      for (const [old, now] of Object.entries(gitea.former)) if (now === from) gitea.former[old] = to;
      gitea.former[from] = to;
      delete gitea.former[to];
      world.source.move(urlOf(from), urlOf(to));
    },
    /** A start, and another look after a day. */
    async look() {
      const asked: Promise<void>[] = [];
      const reconcileHosts: typeof queue.reconcileHosts = async (some) => {
        asked.push(queue.reconcileHosts(some));
        await asked.at(-1);
      };
      const reconciler = await openReconciler(registry, { ...queue, reconcileHosts });
      await reconciler.first;
      // Nothing else waits for the hosts.
      await Promise.all(asked);
      await queue.reconcileHosts((await all()).filter(({ gone }) => !gone));
      await reconciler.close();
      world.pass(25 * 3_600_000);
    },
    /** After so many changes of records, the next one fails. */
    failAfter: (changes: number) => void (updates = changes),
    hook: (hint: Hint) => receiveHook(registry, queue, host, hint, null),
    async sync(name: string) {
      return (await queue.request('acme', repositoryId(urlOf(name), null), 'manual')).done;
    },
    async resource() {
      return (await registry.refs.read<Resource>(resourceRef(pay)))!.value;
    },
    async labels() {
      return (await registry.refs.read<Resource>(resourceRef(pay)))!.value.versions.map(({ label }) => label);
    },
    resources: () => Array.fromAsync(registry.refs.list('resources/')),
    async stands() {
      const described = await describeRepositories(registry, 'acme');
      return Object.fromEntries(described.map(({ repository, state }) => [repository, state]));
    },
    async detailOf(name: string) {
      return (await describeRepositories(registry, 'acme')).find((each) => each.repository === urlOf(name))?.detail;
    },
    record: async (name: string) =>
      (await registry.refs.read<Repository>(repositoryRef('acme', repositoryId(urlOf(name), null))))?.value,
    async [Symbol.asyncDispose]() {
      await queue.close();
      await gitea[Symbol.asyncDispose]();
    },
  };
  async function all(): Promise<Repository[]> {
    const names = await Array.fromAsync(registry.refs.list('repositories/'));
    return Promise.all(names.map(async (name) => (await registry.refs.read<Repository>(name))!.value));
  }
}

type World = Awaited<ReturnType<typeof open>>;

/** What must hold after `acme/old` became `acme/new`: the API lives on, once, from its new URL. */
async function expectMoved(world: World, to = 'acme/new'): Promise<void> {
  expect(await world.resources()).toEqual(['resources/acme/apis/pay']);
  expect((await world.resource()).connection?.repository).toBe(urlOf(to));
  expect(await world.stands()).toMatchObject({ [urlOf(to)]: 'synced' });
  expect(Object.keys(await world.stands())).not.toContain(urlOf('acme/old'));
  world.source.push(urlOf(to), api('1.1.0'));
  const run = await world.sync(to);
  expect(run.documents.map(({ outcome, label }) => [outcome, label])).toEqual([['published', '1.1.0']]);
  expect(await world.labels()).toEqual(['1.0.0', '1.1.0']);
}

const owners: Given = [{ gitea: 'acme/*', credential: 'acme' }];
const single: Given = [{ url: urlOf('acme/old'), credential: 'acme' }];
const renamed: Hint = { kind: 'repository', repository: 'acme/old', now: 'acme/new', id: '1' };

test.each([
  ['an owner', owners],
  ['a single repository', single],
])('a renamed repository of %s is followed under its new name, found by the list', async (_, repositories) => {
  await using world = await open(repositories);
  world.add('acme/old', 1);
  await world.look();
  expect((await world.record('acme/old'))?.hostId).toBe('gitea:1');
  world.rename('acme/old', 'acme/new');
  await world.look();
  await expectMoved(world);
  const trail = (await world.registry.refs.trail('acme')).map(({ action }) => action);
  expect(trail).toContain(`follow the renamed repository to ${urlOf('acme/new')}`);
  expect(trail).toContain(`renamed to ${urlOf('acme/new')}`);
  await world.look();
  expect(Object.keys(await world.stands())).toEqual([urlOf('acme/new')]);
});

test.each([
  ['an owner', owners],
  ['a single repository', single],
])(
  'a renamed repository of %s is followed under its new name by the hook, before any list',
  async (_, repositories) => {
    await using world = await open(repositories);
    world.add('acme/old', 1);
    await world.look();
    world.rename('acme/old', 'acme/new');
    world.pass(120_000);
    await world.hook(renamed);
    await expect.poll(() => world.stands()).toEqual({ [urlOf('acme/new')]: 'synced' });
    await expectMoved(world);
    // What comes later says nothing new.
    await world.hook(renamed);
    await world.look();
    expect(Object.keys(await world.stands())).toEqual([urlOf('acme/new')]);
  },
);

test("without a known id, the hook's former name is enough, and the first push under the new one is synced", async () => {
  await using world = await open(single);
  world.add('acme/old', 1);
  await world.sync('acme/old').catch(() => undefined);
  const reconciler = await openReconciler(world.registry, world.queue);
  await reconciler.first;
  await reconciler.close();
  const { hostId: _, ...without } = (await world.record('acme/old'))!;
  const name = repositoryRef('acme', repositoryId(urlOf('acme/old'), null));
  await world.registry.refs.update<Repository>(name, () => ({ value: without, change: { ...author, action: 'old' } }));
  world.pass(1000);
  world.rename('acme/old', 'acme/new');
  await world.hook(renamed);
  await expect.poll(() => world.stands()).toEqual({ [urlOf('acme/new')]: 'synced' });
  world.source.push(urlOf('acme/new'), api('1.1.0'));
  world.pass(1000);
  expect(await world.hook({ kind: 'push', repository: 'acme/new', id: '1' })).toBe(1);
  await expect.poll(() => world.labels()).toEqual(['1.0.0', '1.1.0']);
});

test('a push under the new name leads to the repository, although no rename was heard of', async () => {
  await using world = await open(single);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'acme/new');
  expect(await world.hook({ kind: 'push', repository: 'acme/new', id: '1' })).toBe(1);
  await expect.poll(() => world.stands()).toEqual({ [urlOf('acme/new')]: 'synced' });
  await expectMoved(world);
});

test('a configuration that names the new URL goes on with what the old one published', async () => {
  await using world = await open(single);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'acme/new');
  world.registry.config.organizations['acme']!.repositories[0]!.url = urlOf('acme/new');
  const reconciler = await openReconciler(world.registry, world.queue);
  await reconciler.first;
  await reconciler.close();
  await expectMoved(world);
  expect(await world.record('acme/old')).toMatchObject({ renamed: urlOf('acme/new') });
});

test('another repository under the old name is another one: it takes nothing over', async () => {
  await using world = await open(owners);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'acme/new');
  world.add('acme/old', 2, api('7.0.0', 'Other'));
  await world.look();
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/new')]: 'synced', [urlOf('acme/old')]: 'synced' });
  expect((await world.resource()).connection?.repository).toBe(urlOf('acme/new'));
  expect(await world.labels()).toEqual(['1.0.0']);
  expect(await world.resources()).toEqual(['resources/acme/apis/other', 'resources/acme/apis/pay']);
});

test('a repository with the known id but another history takes nothing over, and it says so', async () => {
  await using world = await open(owners);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'acme/new');
  world.source.push(urlOf('acme/new'), api('6.6.6'), { force: true });
  await world.look();
  expect((await world.resource()).connection?.repository).toBe(urlOf('acme/old'));
  expect(await world.labels()).toEqual(['1.0.0']);
  expect((await world.stands())[urlOf('acme/old')]).toBe('detached');
  expect(JSON.stringify(world.events)).toMatch(/is not known to be in/);
});

test('moved to another owner, a single repository is detached and says where it is; back, it is followed', async () => {
  await using world = await open(single);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'partner/new');
  await world.hook({ kind: 'repository', repository: 'acme/old', now: 'partner/new', id: '1' });
  await expect.poll(() => world.stands()).toEqual({ [urlOf('acme/old')]: 'detached' });
  expect(await world.detailOf('acme/old')).toMatch(/^The repository was moved to partner\/new on gitea/);
  world.source.push(urlOf('acme/old'), api('6.6.6'));
  await world.look();
  expect(await world.labels()).toEqual(['1.0.0']);
  world.source.deleteBranch(urlOf('acme/old'));
  world.rename('partner/new', 'acme/old');
  await world.look();
  await world.sync('acme/old');
  expect(await world.stands()).toEqual({ [urlOf('acme/old')]: 'synced' });
});

test('moved to another owner, a repository of an owner is detached and says where it is; followed, it goes on', async () => {
  await using world = await open(owners);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'partner/new');
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/old')]: 'detached' });
  expect(await world.detailOf('acme/old')).toMatch(/^The repository is partner\/new on its host now/);
  const listed = { url: urlOf('partner/new'), credential: 'acme' };
  world.registry.config.organizations['acme']!.repositories.push(listed);
  await world.look();
  await expectMoved(world, 'partner/new');
});

test('what somebody connected by hand moves, and a rename causes no events', async () => {
  await using world = await open([]);
  world.add('acme/old', 1);
  const given = { branch: null, path: 'a.yaml', tags: null, credential: 'acme', onConflict: 'revise' } as const;
  await createResource(world.registry, pay, { name: 'Pay', visibility: 'private' }, author);
  await connectRecord(world.registry, pay, { ...given, repository: urlOf('acme/old') }, author);
  await world.look();
  world.rename('acme/old', 'acme/new');
  await world.look();
  const name = repositoryRef('acme', repositoryId(urlOf('acme/new'), null));
  const generations = (await Array.fromAsync(world.registry.refs.history<Repository>(name))).reverse();
  const events = generations.flatMap((after, index) =>
    eventsOfRepository({ url: 'https://r.test', before: generations[index - 1] ?? null, after }),
  );
  expect(events).toEqual([]);
  await expectMoved(world);
});

test('renamed twice, and back to the first name', async () => {
  await using world = await open(owners);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'acme/mid');
  await world.look();
  world.rename('acme/mid', 'acme/New');
  await world.look();
  world.rename('acme/New', 'acme/new');
  await world.look();
  expect((await world.resource()).connection?.repository).toBe(urlOf('acme/new'));
  world.rename('acme/new', 'acme/old');
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/old')]: 'synced' });
  expect((await world.resource()).connection?.repository).toBe(urlOf('acme/old'));
});

test.each([0, 1, 2, 3, 4])('stopped after %i changes, it goes on where it was', async (changes) => {
  await using world = await open(owners);
  world.add('acme/old', 1);
  await world.look();
  world.rename('acme/old', 'acme/new');
  world.failAfter(changes);
  await world.look().catch(() => undefined);
  world.failAfter(Infinity);
  await world.look();
  await expectMoved(world);
  expect(await world.record('acme/old')).toMatchObject({ renamed: urlOf('acme/new') });
});

test('what was saved for the host before the rename is reported under the new name', async () => {
  await using world = await open(single);
  world.add('acme/old', 1);
  await world.look();
  world.source.push(urlOf('acme/old'), api('1.1.0'));
  world.gitea.fail({ status: 404 }, 50, ({ method, path }) => method === 'POST' && path.includes('acme/old'));
  await world.sync('acme/old');
  world.rename('acme/old', 'acme/new');
  const posted = () => world.gitea.requests.filter(({ method }) => method === 'POST').map(({ path }) => path);
  const commit = (await world.record('acme/old'))!.commit!;
  await expect.poll(() => posted().some((path) => path.endsWith(commit))).toBe(true);
  await world.hook(renamed);
  await expect.poll(() => world.stands()).toEqual({ [urlOf('acme/new')]: 'synced' });
  world.pass(3_600_000);
  await world.queue.reconcileHosts([(await world.record('acme/new'))!]);
  await expect.poll(posted).toContain(`/api/v1/repos/acme/new/statuses/${commit}`);
});

test('records of before ids were known are mended by the next list', async () => {
  await using world = await open(owners);
  world.add('acme/old', 1);
  await world.look();
  const name = repositoryRef('acme', repositoryId(urlOf('acme/old'), null));
  const { hostId: _, ...without } = (await world.record('acme/old'))!;
  await world.registry.refs.update<Repository>(name, () => ({ value: without, change: { ...author, action: 'old' } }));
  world.rename('acme/old', 'acme/new');
  await world.look();
  await world.look();
  await world.look();
  await expectMoved(world);
  expect(await world.record('acme/old')).toMatchObject({ renamed: urlOf('acme/new') });
});

test.each([
  ['an owner', owners],
  ['a single repository', single],
])(
  'a public repository of %s that is made private on its host is told of, as long as something is public here',
  async (_, repositories) => {
    await using world = await open(repositories);
    world.add('acme/old', 1);
    const { registry } = world;
    const [listed] = world.gitea.owned.repositories as { private: boolean }[];
    const happened: string[] = [];
    const note = async () => {
      const ref = repositoryRef('acme', repositoryId(urlOf('acme/old'), null));
      const generations = await Array.fromAsync(registry.refs.history<Repository>(ref));
      happened.splice(0);
      for (const [at, after] of generations.reverse().entries())
        happened.push(
          ...eventsOfRepository({ url: '', before: generations[at - 1] ?? null, after }).map(({ event }) => event.type),
        );
    };
    const made = { ...author, action: 'change' };
    const become = (visibility: 'public' | 'private') =>
      registry.refs.update<Resource>(resourceRef(pay), (current) => ({
        value: { ...current!.value, visibility },
        change: made,
      }));
    listed!.private = false;
    await world.look();
    await become('public');
    expect(await world.detailOf('acme/old')).toBeNull();
    listed!.private = true;
    await world.look();
    await note();
    expect(happened.filter((type) => type === 'dev.stele.source.private')).toHaveLength(1);
    expect(await world.detailOf('acme/old')).toMatch(/made private on its host/);
    await world.look();
    await note();
    expect(happened.filter((type) => type === 'dev.stele.source.private')).toHaveLength(1);
    await become('private');
    expect(await world.detailOf('acme/old')).toBeNull();
  },
);

test('one that was private from the start is nothing to tell of', async () => {
  await using world = await open(single);
  world.add('acme/old', 1);
  const [listed] = world.gitea.owned.repositories as { private: boolean }[];
  listed!.private = true;
  await world.look();
  await world.look();
  expect((await world.record('acme/old'))!.onHost).toBe('private');
  expect(await world.detailOf('acme/old')).toBeNull();
});
