import { expect, test, vi } from 'vitest';
import { syncAll } from '../../src/cli/sync-all.ts';
import { repositoryId, repositoryRef } from '../../src/model/connection.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { followRejected, openReconciler } from '../../src/sync/reconcile.ts';
import { follow, followGiven } from '../../src/sync/follow.ts';
import { describeRepositories } from '../../src/sync/owners/describe-followed.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createWorld } from '../registry/world.ts';

const author = { actor: 'operator:test', origin: null };
const operator = { kind: 'operator', id: 'test' } as const;

function api(version: string): string {
  return `openapi: 3.1.0\ninfo: {title: Quick, version: "${version}"}\n`;
}

function apiWithReference(to: string): string {
  const content = { 'application/json': { schema: { $ref: to } } };
  const paths = { '/p': { get: { responses: { 200: { description: 'OK', content } } } } };
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'Pay', version: '1.0.0' }, paths });
}

test('a repository that has become slow keeps no other from being looked at by the timer', async () => {
  const slow = 'https://git.test/slow';
  const quick = 'https://git.test/quick';
  const { registry, source } = createWorld({
    organizations: { one: { repositories: [{ url: slow }] }, two: { repositories: [{ url: quick }] } },
    sync: { interval: 0.02 },
  });
  source.push(slow, {});
  source.push(quick, { 'a.yaml': api('1.0.0') });
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const { tip } = source;
  source.tip = (remote, signal) =>
    remote.url === slow
      ? new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('Stopped.'))))
      : tip(remote, signal);
  source.push(quick, { 'a.yaml': api('2.0.0') });
  await expect.poll(async () => (await listReadable(registry, operator, { org: 'two' }))[0]?.latest).toBe('2.0.0');
  source.push(quick, { 'a.yaml': api('3.0.0') });
  await expect.poll(async () => (await listReadable(registry, operator, { org: 'two' }))[0]?.latest).toBe('3.0.0');
  await Promise.all([queue.close(), reconciler.close()]);
});

test('a record that a rename leaves behind while the timer goes round is looked at no more', async () => {
  const urls = ['https://git.test/one', 'https://git.test/two'];
  const { registry, source } = createWorld({
    organizations: { one: { repositories: urls.map((url) => ({ url })) } },
    sync: { interval: 0.6 },
  });
  for (const url of urls) source.push(url, {});
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const { tip } = source;
  const looks = new Map(urls.map((url) => [url, 0]));
  let left: string | null = null;
  source.tip = async (remote, signal) => {
    const other = urls.find((url) => url !== remote.url)!;
    if (left === null) {
      left = other;
      const renamed = (current: { value: object } | null) => ({
        value: { ...current!.value, renamed: remote.url },
        change: { ...author, action: 'rename' },
      });
      await registry.refs.update(repositoryRef('one', repositoryId(other, null)), renamed);
      looks.set(other, 0);
    } else looks.set(remote.url, looks.get(remote.url)! + 1);
    return tip(remote, signal);
  };
  await expect.poll(() => Math.max(...looks.values())).toBeGreaterThanOrEqual(2);
  expect(looks.get(left!)).toBe(0);
  await Promise.all([queue.close(), reconciler.close()]);
});

test('the timer that cannot read what is followed tries again after a second, and not at once', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { registry } = createWorld({ sync: { interval: 10 } });
    let reads = 0;
    const { list } = registry.refs;
    const queue = createSyncQueue(registry, createPulls);
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    registry.refs.list = (prefix, ...more) => {
      if (prefix !== 'repositories/') return list(prefix, ...more);
      reads++;
      throw new RegistryError('unavailable', 'The store does not answer.');
    };
    await vi.advanceTimersByTimeAsync(10_900);
    expect(reads).toBe(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(reads).toBe(2);
    await Promise.all([queue.close(), reconciler.close()]);
  } finally {
    vi.useRealTimers();
  }
});

test('a repository taken out of the configuration stops and says why; back in it, it goes on', async () => {
  const remote = 'https://git.test/apis';
  const other = 'https://git.test/other';
  const by = { credential: null, visibility: 'public', validation: 'lenient' } as const;
  const { registry, source, events } = createWorld({
    organizations: { one: { repositories: [{ url: remote }, { url: other }] } },
    sync: { interval: 0, hosts: ['git.test'] },
  });
  const { repositories } = registry.config.organizations['one']!;
  source.push(remote, { 'a.yaml': api('1.0.0') });
  source.push(other, {});
  const queue = createSyncQueue(registry, createPulls);
  const look = async () => {
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    await reconciler.close();
  };
  const latest = async () => (await listReadable(registry, operator, { org: 'one' }))[0]?.latest;
  const stands = async (url: string) =>
    (await describeRepositories(registry, 'one')).find(({ repository }) => repository === url);
  await look();
  expect(await latest()).toBe('1.0.0');

  registry.config.organizations['one']!.repositories = repositories.filter(({ url }) => url !== remote);
  source.push(remote, { 'a.yaml': api('2.0.0') });
  await look();
  const detail = 'The repository is no longer in the configuration. Published versions stay.';
  expect(await stands(remote)).toMatchObject({ state: 'detached', detail });
  expect((await stands(other))!.state).toBe('synced');
  expect(await latest()).toBe('1.0.0');
  events.length = 0;
  for (const trigger of ['timer', 'hook', 'manual'] as const)
    await (
      await queue.request('one', repositoryId(remote, null), trigger)
    ).done;
  expect(await latest()).toBe('1.0.0');
  expect(events.filter(({ fields }) => fields['repository'] !== remote && fields['trigger'] !== undefined)).toEqual([]);

  registry.config.organizations['one']!.repositories = repositories;
  await look();
  expect(await latest()).toBe('2.0.0');
  expect((await stands(remote))!.state).toBe('synced');

  // What somebody follows over HTTP afterwards is theirs.
  registry.config.organizations['one']!.repositories = [];
  await look();
  await followGiven(registry, 'one', { repository: remote, branch: null, path: null, ...by }, author);
  await look();
  expect((await stands(remote))!.state).toBe('synced');
  await queue.close();
});

// Commands do not see the arguments of the server, so they cannot know whether one was taken out.
test('a sync by command leaves what the configuration no longer lists, and not what `stele serve` was given', async () => {
  const [listed, given] = ['https://git.test/apis', 'https://git.test/given'];
  const { registry, source } = createWorld({
    organizations: { one: { repositories: [{ url: listed }] } },
    sync: { interval: 0, hosts: ['git.test'] },
  });
  const organization = registry.config.organizations['one']!;
  const { repositories } = organization;
  source.push(listed, { 'a.yaml': api('1.0.0') });
  source.push(given, {});
  organization.repositories = [...repositories, { url: given, isArgument: true }];
  const queue = createSyncQueue(registry, createPulls);
  const start = async () => {
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    await reconciler.close();
  };
  const stands = async () =>
    Object.fromEntries(
      (await describeRepositories(registry, 'one')).map(({ repository, state }) => [repository, state]),
    );
  await start();
  const name = (await listReadable(registry, operator, { org: 'one' }))[0]!;
  expect(name.latest).toBe('1.0.0');

  organization.repositories = [];
  source.push(listed, { 'a.yaml': api('2.0.0') });
  const coordinate = `@one/apis/${name.slug}`;
  await syncAll(registry, coordinate, () => undefined);
  expect(await stands()).toEqual({ [listed]: 'detached', [given]: 'synced' });
  expect((await listReadable(registry, operator, { org: 'one' }))[0]!.latest).toBe('1.0.0');
  await syncAll(registry, undefined, () => undefined);
  expect(await stands()).toEqual({ [listed]: 'detached', [given]: 'synced' });

  await start();
  expect(await stands()).toEqual({ [listed]: 'detached', [given]: 'detached' });
  await queue.close();
});

test('a local repository that may not be read any more is told by name, and by the state of its connection', async () => {
  const local = 'file:///srv/apis';
  const { registry, source, events } = createWorld({ sync: { interval: 0 } });
  const given = { url: local, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
  const id = await follow(registry, 'one', { ...given, discover: '', gone: null });
  const forbidden = () => {
    throw new RegistryError('forbidden', 'Local repositories are not allowed.');
  };
  source.watchable = forbidden;
  source.tip = async () => forbidden();
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  await reconciler.close();
  await queue.close();
  expect((await registry.refs.read(repositoryRef('one', id)))!.value).toMatchObject({ state: 'failed' });
  for (const { fields } of events.filter(({ level }) => level === 'warn')) expect(fields['repository']).toBe(local);
});

test('a ruleset that appears or changes checks again at once what was rejected for it', async () => {
  const apis = 'https://git.test/apis';
  const rules = 'https://git.test/rules';
  const { registry, source } = createWorld({
    organizations: {
      one: { repositories: [{ url: apis }, { url: rules }], defaults: { ruleset: '@one/rulesets/style' } },
    },
    sync: { interval: 0 },
  });
  source.push(apis, { 'a.yaml': `${api('1.0.0')}ok: true\n` });
  source.push(rules, {});
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const published = async () =>
    (await listReadable(registry, operator, { org: 'one' })).map(({ type, latest }) => `${type} ${latest}`);
  expect(await published()).toEqual([]);
  source.push(rules, { 'style.yaml': 'rules: {}\nx-title: style\n' });
  await (
    await queue.request('one', repositoryId(rules, null), 'hook')
  ).done;
  await expect.poll(published).toEqual(expect.arrayContaining(['apis 1.0.0']));
  await Promise.all([queue.close(), reconciler.close()]);
});

test('a start says which default ruleset is still not there when everything was synced', async () => {
  const rules = 'https://git.test/rules';
  const organizations = {
    one: { repositories: [{ url: rules }], defaults: { ruleset: '@one/rulesets/style' } },
    two: { defaults: { ruleset: '@two/rulesets/gone' } },
  };
  const { registry, source, events } = createWorld({ organizations, sync: { interval: 0 } });
  source.push(rules, { 'style.yaml': 'rules: {}\nx-title: style\n' });
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  await reconciler.close();
  await queue.close();
  expect(events.filter(({ event }) => event === 'default ruleset does not exist').map(({ fields }) => fields)).toEqual([
    { org: 'two', detail: 'The ruleset @two/rulesets/gone does not exist. Publish it, or attach another one.' },
  ]);
});

test('a document that was rejected for a reference is read again once the reference resolves', async () => {
  const [apis, schemas] = ['https://git.test/apis', 'https://git.test/schemas'];
  const world = createWorld({
    url: 'https://registry.test',
    organizations: { one: { repositories: [{ url: apis }, { url: schemas }] } },
    sync: { interval: 0 },
  });
  const registry = { ...world.registry, compiler: shareCompiler() };
  world.source.push(apis, { 'a.yaml': apiWithReference('https://registry.test/@one/schemas/money@^1') });
  world.source.push(schemas, {});
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const published = async () =>
    (await listReadable(registry, operator, { org: 'one' })).map(({ type, latest }) => `${type} ${latest}`);
  expect(await published()).toEqual([]);
  world.source.push(schemas, { 'money.json': '{"$schema":"https://json-schema.org/draft/2020-12/schema"}' });
  await (
    await queue.request('one', repositoryId(schemas, null), 'hook')
  ).done;
  await expect.poll(published).toEqual(expect.arrayContaining(['apis 1.0.0']));
  await Promise.all([queue.close(), reconciler.close()]);
});

test('a ruleset that another process changes checks again what was rejected for it', async () => {
  const apis = 'https://git.test/apis';
  const rules = 'https://git.test/rules';
  const { registry, source, another, pass } = createWorld({
    organizations: {
      one: { repositories: [{ url: apis }, { url: rules }], defaults: { ruleset: '@one/rulesets/style' } },
    },
    sync: { interval: 0 },
  });
  source.push(apis, { 'a.yaml': `${api('1.0.0')}ok: true\n` });
  source.push(rules, {});
  const queue = createSyncQueue(registry, createPulls);
  const reconciler = await openReconciler(registry, queue);
  await reconciler.first;
  const rulesets = followRejected(registry, queue, 5);
  source.push(rules, { 'style.yaml': 'rules: {}\nx-title: style\n' });
  const other = createSyncQueue(another(), createPulls);
  await (
    await other.request('one', repositoryId(rules, null), 'hook')
  ).done;
  const published = async () => {
    pass(1_000);
    return (await listReadable(registry, operator, { org: 'one' })).map(({ type, latest }) => `${type} ${latest}`);
  };
  await expect.poll(published).toEqual(expect.arrayContaining(['apis 1.0.0']));
  await Promise.all([rulesets.close(), other.close(), queue.close(), reconciler.close()]);
});
