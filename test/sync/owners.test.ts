import { expect, test } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import { createHosts } from '../../src/hosts/hosts.ts';
import { repositoryId, repositoryRef, type Repository } from '../../src/model/connection.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { describeOwners, describeRepositories } from '../../src/sync/owners/describe-followed.ts';
import { connectRecord } from '../../src/sync/connect.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { receiveHook } from '../../src/sync/receive-hook.ts';
import { openReconciler } from '../../src/sync/reconcile.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';
import { createWorld } from '../registry/world.ts';

process.env['STELE_TEST_OWNER_TOKEN'] = 'a-token';
const author = { actor: 'operator:test', origin: null };

interface Item {
  full_name: string;
  archived?: boolean;
  fork?: boolean;
}

const urlOf = (name: string) => `https://git.test/${name}.git`;
const api = (title: string, version = '1.0.0') => `openapi: 3.1.0\ninfo: {title: ${title}, version: "${version}"}\n`;

/** A registry whose organization follows the repositories of `acme` on a Gitea that stands in. */
async function open(filter: object = {}, more: UserConfig['organizations'] = {}) {
  const gitea = await openGiteaApi();
  const repositories = gitea.owned.repositories as Item[];
  const user: UserConfig = {
    hosts: { gitea: { url: 'https://git.test', apiUrl: `${gitea.url}/api/v1` } },
    credentials: { acme: { env: 'STELE_TEST_OWNER_TOKEN', host: 'git.test' } },
    organizations: { acme: { repositories: [{ gitea: 'acme/*', credential: 'acme', ...filter }] }, ...more },
    sync: { interval: 0, hosts: ['git.test'] },
  };
  const world = createWorld(user);
  const registry = { ...world.registry, hosts: createHosts(world.registry.config, { second: 200 }) };
  const queue = createSyncQueue(registry, createPulls);

  /** Looks at the owner, and waits until its new repositories are synced. */
  async function look(): Promise<void> {
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    await reconciler.close();
  }

  return {
    ...world,
    registry,
    queue,
    gitea,
    repositories,
    look,
    add(name: string, about: Omit<Item, 'full_name'> = {}) {
      repositories.push({ full_name: name, ...about });
      world.source.push(urlOf(name), { 'a.yaml': api(name.replace('/', ' ')) });
    },
    /** How each followed repository stands, by name. */
    async stands() {
      const all = await describeRepositories(registry, 'acme');
      return Object.fromEntries(all.map(({ repository, state }) => [repository, state]));
    },
    async detailOf(name: string) {
      return (await describeRepositories(registry, 'acme')).find((each) => each.repository === urlOf(name))?.detail;
    },
    async [Symbol.asyncDispose]() {
      await queue.close();
      await gitea[Symbol.asyncDispose]();
    },
  };
}

test("an owner's repositories are found, followed and published, by its credential", async () => {
  await using world = await open();
  world.add('acme/one');
  world.add('acme/two');
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/one')]: 'synced', [urlOf('acme/two')]: 'synced' });
  expect(world.gitea.requests.map(({ headers }) => headers.authorization)).toContain('token a-token');
  const [owner] = await describeOwners(world.registry, 'acme');
  expect(owner).toMatchObject({ host: 'gitea', pattern: 'acme/*', state: 'following', detail: null, followed: 2 });
  const described = await describeRepositories(world.registry, 'acme');
  expect(described.map((each) => [each.owner, each.documents.published])).toEqual([
    [owner!.id, 1],
    [owner!.id, 1],
  ]);
});

test('archived repositories, forks and what only and except leave out are not followed, and it says why', async () => {
  await using world = await open({ only: ['api-*', 'Pay'], except: ['*-old'] });
  world.add('acme/api-one');
  world.add('acme/pay');
  world.add('acme/web');
  world.add('acme/api-old');
  world.add('acme/api-two', { archived: true });
  world.add('acme/api-three', { fork: true });
  world.add('other/api-one');
  await world.look();
  expect(Object.keys(await world.stands())).toEqual([urlOf('acme/api-one'), urlOf('acme/pay')]);
  const [owner] = await describeOwners(world.registry, 'acme');
  expect(owner!.skipped).toEqual([
    { name: 'acme/api-old', reason: 'excluded' },
    { name: 'acme/api-three', reason: 'fork' },
    { name: 'acme/api-two', reason: 'archived' },
    { name: 'acme/web', reason: 'excluded' },
  ]);
});

test('archived repositories and forks are followed where the configuration says so', async () => {
  await using world = await open({ archived: true, forks: true });
  world.add('acme/one', { archived: true });
  world.add('acme/two', { fork: true });
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/one')]: 'synced', [urlOf('acme/two')]: 'synced' });
});

test('a repository that goes away is detached with the reason, keeps its versions, and is not synced; back, it is', async () => {
  await using world = await open();
  for (const name of ['acme/archived', 'acme/deleted', 'acme/stays']) world.add(name);
  await world.look();
  const [archived, deleted] = world.repositories.splice(0, 2);
  world.repositories.push({ ...archived!, archived: true });
  await world.look();
  expect(await world.stands()).toEqual({
    [urlOf('acme/archived')]: 'detached',
    [urlOf('acme/deleted')]: 'detached',
    [urlOf('acme/stays')]: 'synced',
  });
  expect(await world.detailOf('acme/archived')).toBe(
    'The repository was archived on its host. Published versions stay.',
  );
  expect(await world.detailOf('acme/deleted')).toMatch(/^Its owner on the git host no longer has the repository/);
  expect(world.events.filter(({ event }) => event === 'repository detached')).toHaveLength(2);
  world.source.push(urlOf('acme/deleted'), { 'a.yaml': api('acme deleted', '2.0.0') });
  const id = repositoryId(urlOf('acme/deleted'), null);
  const run = await (await world.queue.request('acme', id, 'manual')).done;
  expect([run.documents, run.detail]).toEqual([[], await world.detailOf('acme/deleted')]);
  world.repositories.push(deleted!);
  await world.look();
  expect(await world.stands()).toMatchObject({ [urlOf('acme/deleted')]: 'synced' });
  const { value } = (await world.registry.refs.read<Repository>(repositoryRef('acme', id)))!;
  expect(Object.values(value.documents)[0]).toMatchObject({ label: '2.0.0' });
});

test('a repository that is back with another history is not published', async () => {
  await using world = await open();
  world.add('acme/one');
  await world.look();
  const [gone] = world.repositories.splice(0, 1);
  await world.look();
  world.repositories.push(gone!);
  world.source.push(urlOf('acme/one'), { 'a.yaml': api('acme one', '6.6.6') }, { force: true });
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/one')]: 'detached' });
  expect(await world.detailOf('acme/one')).toContain('another history');
});

test('a host that fails, or has more than it lists, detaches nothing, and the record says so', async () => {
  await using world = await open();
  world.add('acme/one');
  world.add('acme/two');
  await world.look();
  const isList = ({ path }: { path: string }) => path === '/api/v1/orgs/acme/repos';
  world.gitea.fail({ status: 401, body: {} }, 1, isList);
  world.repositories.splice(0, 1);
  await world.look();
  const described = async () => (await describeOwners(world.registry, 'acme'))[0];
  expect(await described()).toMatchObject({ state: 'failed', detail: expect.stringContaining('(401)'), followed: 2 });
  expect(Object.values(await world.stands())).toEqual(['synced', 'synced']);
  const many = Array.from({ length: 2100 }, (_, index) => ({ full_name: `acme/x${index}`, archived: true }));
  world.repositories.push(...many);
  await world.look();
  expect(await described()).toMatchObject({
    state: 'following',
    isComplete: false,
    detail: 'acme/* has more repositories than Stele lists. It looked at 2000, and detaches none.',
  });
  expect(Object.values(await world.stands())).toEqual(['synced', 'synced']);
});

test('a repository of the configuration, or connected by hand, is not taken over, and one connected by hand stays', async () => {
  await using world = await open();
  world.add('acme/hand');
  await world.look();
  const given = { repository: urlOf('acme/hand'), branch: null, path: 'b.yaml', tags: null, credential: null };
  world.source.push(urlOf('acme/hand'), { 'a.yaml': api('acme hand'), 'b.yaml': api('By hand') });
  const coordinate = { org: 'acme', type: 'apis', slug: 'by-hand' } as const;
  await createResource(world.registry, coordinate, { name: 'By hand', visibility: 'private' }, author);
  await connectRecord(world.registry, coordinate, { ...given, onConflict: 'revise' }, author);
  world.repositories.length = 0;
  await world.look();
  expect(await world.stands()).toEqual({ [urlOf('acme/hand')]: 'synced' });
  await using other = await open(
    {},
    {
      acme: {
        repositories: [
          { url: urlOf('acme/own'), credential: 'acme' },
          { gitea: 'acme/*', credential: 'acme' },
        ],
      },
    },
  );
  other.add('acme/own');
  await other.look();
  const [owner] = await describeOwners(other.registry, 'acme');
  expect(owner!.skipped).toEqual([{ name: 'acme/own', reason: 'configured' }]);
  expect(await other.stands()).toEqual({ [urlOf('acme/own')]: 'synced' });
});

test('a hook of a repository that is not known makes Stele look; of one that was left out, it does not', async () => {
  await using world = await open();
  world.add('acme/one');
  world.add('acme/old', { archived: true });
  await world.look();
  const host = world.registry.hosts.find(({ name }) => name === 'gitea')!;
  const asked = () => world.gitea.requests.filter(({ path }) => path.endsWith('/repos')).length;
  const before = asked();
  world.pass(120_000);
  await receiveHook(world.registry, world.queue, host, { kind: 'push', repository: 'acme/old' }, null);
  await receiveHook(world.registry, world.queue, host, { kind: 'push', repository: 'other/one' }, null);
  expect(asked()).toBe(before);
  world.add('acme/new');
  const only = { org: 'acme', id: '0'.repeat(16) };
  await receiveHook(world.registry, world.queue, host, { kind: 'push', repository: 'acme/new' }, only);
  expect(asked()).toBe(before);
  await receiveHook(world.registry, world.queue, host, { kind: 'push', repository: 'acme/new' }, null);
  await expect.poll(async () => (await world.stands())[urlOf('acme/new')]).toBe('synced');
  world.repositories[0]!.archived = true;
  world.pass(120_000);
  await receiveHook(world.registry, world.queue, host, { kind: 'repository', repository: 'acme/one' }, null);
  await expect.poll(async () => (await world.stands())[urlOf('acme/one')]).toBe('detached');
});

test('by the timer an owner is looked at once a day, and an hour after a failure', async () => {
  await using world = await open();
  await world.look();
  const asked = () => world.gitea.requests.length;
  const later = async (hours: number) => {
    const before = asked();
    world.pass(hours * 3_600_000);
    await world.queue.owners.lookDue();
    return asked() - before;
  };
  expect(await later(23)).toBe(0);
  expect(await later(2)).toBeGreaterThan(0);
  world.gitea.fail({ status: 401, body: {} }, 1);
  expect(await later(25)).toBe(1);
  expect(await later(0.5)).toBe(0);
  expect(await later(1)).toBeGreaterThan(0);
});

test('an owner that the configuration no longer has is left', async () => {
  await using world = await open();
  world.add('acme/one');
  await world.look();
  world.registry.config.organizations['acme']!.owners = [];
  await world.look();
  expect(await world.detailOf('acme/one')).toMatch(/^The configuration no longer has the owner/);
});

test.each([
  [{ github: 'acme' }, 'acme/*'],
  [{ github: 'acme/**' }, 'acme/*'],
  [{ github: 'acme/x/*' }, 'acme/*'],
  [{ github: '../*' }, 'acme/*'],
  [{ azure: 'a/b/c/*' }, 'acme/project/*'],
  [{ github: 'acme/*', gitlab: 'acme/*' }, 'needs one of'],
  [{}, 'needs one of'],
  [{ url: 'https://github.com/acme/x', only: ['x'] }, 'has url and only'],
  [{ github: 'acme/*', host: 'ghe' }, 'names the host "ghe"'],
  [{ github: 'acme/*', host: 'gitlab' }, 'names the host "gitlab"'],
  [{ 'bitbucket-server': 'ACME/*' }, 'needs hosts.bitbucket-server.url'],
  [{ github: 'acme/*', credential: 'none' }, 'not defined in credentials'],
  [{ github: 'acme/*', credential: 'theirs' }, 'may not use'],
])('%j is not a repository of the configuration', (repository, message) => {
  const credentials = { theirs: { env: 'X', organizations: ['other'] } };
  const check = () =>
    checkConfig(
      { credentials, organizations: { acme: { repositories: [repository] } } },
      { base: '/', data: '/nowhere' },
    );
  expect(check).toThrow(message);
});

test('groups in groups, projects, and a second host of a kind', () => {
  const repositories = [{ gitlab: 'acme/apis/**' }, { azure: 'acme/project/*' }, { github: 'acme/*', host: 'ghe' }];
  const hosts = { ghe: { kind: 'github', url: 'https://ghe.test' } };
  const config = checkConfig({ hosts, organizations: { acme: { repositories } } }, { base: '/', data: '/nowhere' });
  expect(config.organizations['acme']!.owners).toEqual([
    { host: 'gitlab', pattern: 'acme/apis/**', owner: 'acme/apis', isDeep: true },
    { host: 'azure', pattern: 'acme/project/*', owner: 'acme/project', isDeep: false },
    { host: 'ghe', pattern: 'acme/*', owner: 'acme', isDeep: false },
  ]);
});

test('the credential of an owner is for its host and for no other', async () => {
  await using world = await open();
  world.add('acme/one');
  const given = { branch: null, path: 'a.yaml', tags: null, credential: 'acme', onConflict: 'revise' } as const;
  const coordinate = { org: 'acme', type: 'apis', slug: 'mine' } as const;
  await createResource(world.registry, coordinate, { name: 'Mine', visibility: 'private' }, author);
  await connectRecord(world.registry, coordinate, { ...given, repository: urlOf('acme/one') }, author);
  world.registry.config.sync.hosts.push('evil.test');
  const elsewhere = connectRecord(world.registry, coordinate, { ...given, repository: 'https://evil.test/x' }, author);
  await expect(elsewhere).rejects.toMatchObject({ code: 'malformed' });
});
