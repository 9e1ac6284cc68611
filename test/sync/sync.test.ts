import { describe, expect, test, vi } from 'vitest';
import { sandboxLost } from '../../src/compile/compile.ts';
import type { UserConfig } from '../../src/config.ts';
import { repositoryRef, type Repository, type Run, type Trigger, connectionState } from '../../src/model/connection.ts';
import { changeResource, createResource } from '../../src/registry/change-resource.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow } from '../../src/sync/follow.ts';
import { syncRepository } from '../../src/sync/sync.ts';
import { closeAbandonedRuns, newestRuns, newRun, recordRun } from '../../src/sync/runs.ts';
import { findResource } from '../../src/registry/lives.ts';
import { listReadable } from '../../src/registry/readable.ts';
import { connectRecord, disconnectRecord, readConnection, relinkResource } from '../../src/sync/connect.ts';
import { createWorld, type World } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';
const operator = { kind: 'operator', id: 'test' } as const;

function api(title: string, version: string, more = ''): string {
  return `openapi: 3.1.0\ninfo: {title: ${title}, version: "${version}"}\n${more}`;
}

async function connected(
  user?: UserConfig,
): Promise<
  World & {
    sync: (trigger?: Trigger, of?: string) => Promise<Run>;
    repository: () => Promise<Repository>;
    names: () => Promise<string[]>;
  }
> {
  const world = createWorld(user);
  const { registry } = world;
  const how = { branch: null, credential: null, discover: '', visibility: 'public', validation: 'lenient' } as const;
  const following = (of: string) => follow(registry, 'acme', { url: of, ...how });
  const id = await following(url);
  const queue = createSyncQueue(registry, createPulls);
  return {
    ...world,
    sync: async (trigger = 'manual', of = url) =>
      (await queue.request('acme', of === url ? id : await following(of), trigger)).done,
    repository: async () => (await registry.refs.read<Repository>(repositoryRef('acme', id)))!.value,
    names: async () =>
      (await listReadable(registry, operator, { org: 'acme' })).map(
        ({ type, slug, latest }) => `${type}/${slug}@${latest}`,
      ),
  };
}

describe('following a repository', () => {
  test('publishes what it finds by content, and reports what does not compile', async () => {
    const { source, sync, names } = await connected();
    source.push(url, {
      'pay.yaml': api('Pay', '1.0.0'),
      'schemas/money.json': '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
      'style.yaml': 'rules: {}',
      'bad.yaml': `${api('Bad', '1.0.0')}broken: true`,
      'notes.yaml': 'a: 1',
      'README.md': '# openapi: 3.1.0',
      'node_modules/x/api.yaml': api('Not ours', '1.0.0'),
    });
    const run = await sync();
    expect(await names()).toEqual(['apis/pay@1.0.0', 'schemas/money@1.0.0', 'rulesets/style@1.0.0']);
    expect(run.documents.find(({ path }) => path === 'bad.yaml')).toMatchObject({
      outcome: 'rejected',
      detail: 'bad.yaml:1:1 It is broken.',
    });
    expect(run.state).toBe('succeeded');
  });

  test('a push that changes one document makes one version; the others are not compiled again', async () => {
    const { source, sync, names, compiler } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0'), 'b.yaml': api('B', '1.0.0') });
    await sync();
    compiler.compiled.length = 0;
    source.push(url, { 'a.yaml': api('A', '1.0.0'), 'b.yaml': api('B', '1.1.0') });
    const run = await sync();
    expect(compiler.compiled).toEqual(['b.yaml']);
    expect(run.documents).toMatchObject([{ path: 'b.yaml', outcome: 'published', label: '1.1.0' }]);
    expect(await names()).toEqual(['apis/a@1.0.0', 'apis/b@1.1.0']);
  });

  test('a change in an included file, also one that was absent, compiles the document again', async () => {
    const { source, sync, compiler, names } = await connected();
    const root = api('A', '1.0.0', 'include: [part.txt, late.txt]');
    source.push(url, { 'a.yaml': root, 'part.txt': 'one' });
    await sync();
    source.push(url, { 'a.yaml': root, 'part.txt': 'two' });
    await sync();
    source.push(url, { 'a.yaml': root, 'part.txt': 'two', 'late.txt': 'here' });
    await sync();
    source.push(url, { 'a.yaml': root, 'part.txt': 'two', 'late.txt': 'here', 'other.txt': 'x' });
    await sync();
    expect(compiler.compiled).toHaveLength(3);
    expect((await names())[0]).toMatch(/^apis\/a@1\.0\.0\+/);
  });

  test('rewritten history publishes on, says so, and removes nothing', async () => {
    const { source, sync, repository, registry } = await connected();
    const root = source.push(url, {});
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.push(url, { 'a.yaml': api('A', '2.0.0') }, { parent: root });
    await sync();
    const diverged = { detail: expect.stringContaining('History was rewritten') as string };
    expect(await repository()).toMatchObject({ state: 'following', diverged });
    const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' }))!;
    expect(resource.versions.map(({ label }) => label)).toEqual(['1.0.0', '2.0.0']);
    await sync();
    source.push(url, { 'a.yaml': api('A', '2.1.0') });
    await sync();
    expect(await repository()).toMatchObject({ state: 'following', diverged });
    await relinkResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { actor: 'operator:test', origin: null });
    await sync();
    expect(await repository()).toMatchObject({ state: 'following', diverged: null });
  });

  test('a commit that another process has gone past meanwhile is not synced', async () => {
    const { registry, source, sync, repository, names } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    const before = await repository();
    source.push(url, { 'a.yaml': api('A', '2.0.0') });
    let newest = '';
    const tip: Registry['source']['tip'] = async (...asked) => {
      const old = await source.tip(...asked);
      slow.source = source;
      newest = source.push(url, { 'a.yaml': api('A', '3.0.0') });
      await sync();
      return old;
    };
    const slow = { ...registry, source: { ...source, tip } };
    const [ref] = await Array.fromAsync(registry.refs.list('repositories/acme/'));
    const run = newRun(registry, before, ref!.slice('repositories/acme/'.length), 'manual');
    await syncRepository(slow, before, run, new AbortController().signal);
    expect(await names()).toEqual(['apis/a@3.0.0']);
    expect((await repository()).diverged ?? null).toBeNull();
    expect((await repository()).commit).toBe(newest);
  });

  test('a deleted branch detaches and removes nothing; its return is followed', async () => {
    const { source, sync, repository, names } = await connected();
    const first = source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.deleteBranch(url);
    await sync();
    expect(await repository()).toMatchObject({ state: 'detached' });
    expect(await names()).toEqual(['apis/a@1.0.0']);
    source.push(url, { 'a.yaml': api('A', '1.1.0') }, { parent: first });
    await sync();
    expect(await repository()).toMatchObject({ state: 'following', detail: null });
    expect(await names()).toEqual(['apis/a@1.1.0']);
  });

  test('what stands under the name of a repository that was gone, with another history, is not published until somebody connects again', async () => {
    const { source, sync, repository, names, registry } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.deleteBranch(url);
    await sync();
    source.push(url, { 'a.yaml': api('A', '6.6.6') });
    for (let n = 0; n < 2; n++) {
      await sync();
      expect(await names()).toEqual(['apis/a@1.0.0']);
      expect(await repository()).toMatchObject({
        state: 'detached',
        detail: expect.stringContaining('another history') as string,
      });
    }
    await relinkResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { actor: 'operator:test', origin: null });
    await sync();
    expect(await names()).toEqual(['apis/a@6.6.6']);
    expect(await repository()).toMatchObject({ state: 'following' });
  });

  test('a repository that was gone and is back with a rewritten history is held until somebody connects again', async () => {
    const { source, sync, repository, names, registry } = await connected();
    const root = source.push(url, {});
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.deleteBranch(url);
    await sync();
    source.push(url, { 'a.yaml': api('A', '6.6.6') }, { parent: root });
    await sync();
    expect(await names()).toEqual(['apis/a@1.0.0']);
    expect(await repository()).toMatchObject({
      state: 'detached',
      detail: expect.stringContaining('came back with another history') as string,
    });
    await relinkResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { actor: 'operator:test', origin: null });
    await sync();
    expect(await names()).toEqual(['apis/a@6.6.6']);
  });

  test('a repository that another one replaced between two looks is held until somebody connects again', async () => {
    const { source, sync, repository, names, registry, compiler } = await connected();
    const first = source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    const other = source.push(url, { 'a.yaml': api('A', '6.6.6') }, { force: true });
    for (const trigger of ['timer', 'hook', 'manual'] as const) {
      const run = await sync(trigger);
      expect(run).toMatchObject({ to: first, documents: [] });
      expect(await names()).toEqual(['apis/a@1.0.0']);
      const detail = expect.stringContaining('another history') as string;
      expect(await repository()).toMatchObject({ state: 'detached', detail, commit: first, held: other });
    }
    expect(compiler.compiled).toEqual(['a.yaml']);
    await relinkResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { actor: 'operator:test', origin: null });
    await sync();
    expect(await names()).toEqual(['apis/a@6.6.6']);
    expect(await repository()).toMatchObject({ state: 'following', trusted: other, held: null });
  });

  test('a replaced repository is followed again when the right one is back', async () => {
    const { source, sync, repository, names } = await connected();
    const first = source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.push(url, { 'a.yaml': api('A', '6.6.6') }, { force: true });
    await sync();
    source.setReachable(false);
    await sync('timer');
    source.setReachable(true);
    expect(await repository()).toMatchObject({ state: 'detached' });
    source.push(url, { 'a.yaml': api('A', '1.1.0') }, { parent: first });
    await sync('timer');
    expect(await names()).toEqual(['apis/a@1.1.0']);
    expect(await repository()).toMatchObject({ state: 'following', detail: null, held: null });
  });

  test('reading everything again, for a new folder or a new resource, does not let a replaced repository in', async () => {
    const user = { organizations: { acme: {} }, sync: { hosts: ['git.test'] } };
    const { source, sync, repository, names, registry } = await connected(user);
    const author = { actor: 'operator:test', origin: null };
    const first = source.push(url, { 'a.yaml': api('A', '1.0.0'), 'b.yaml': 'a: 1' });
    await sync();
    const coordinate = { org: 'acme', type: 'apis', slug: 'b' } as const;
    await createResource(registry, coordinate, { name: 'B' }, author);
    const rest = { branch: null, path: 'b.yaml', tags: null, onConflict: 'revise', credential: null } as const;
    await connectRecord(registry, coordinate, { repository: url, ...rest }, author);
    const { org, visibility, validation } = await repository();
    await follow(registry, org, { url, branch: null, credential: null, discover: 'apis', visibility, validation });
    expect(await repository()).toMatchObject({ commit: null, trusted: first });
    source.push(url, { 'a.yaml': api('A', '6.6.6'), 'apis/c.yaml': api('C', '6.6.6') }, { force: true });
    await sync();
    expect(await names()).toEqual(['apis/a@1.0.0', 'apis/b@null']);
    expect(await repository()).toMatchObject({ state: 'detached' });
  });

  test('what is not known to continue the history is held, and asked again later', async () => {
    const { source, sync, repository, names, pass, registry } = await connected();
    const first = source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.push(url, { 'a.yaml': api('A', '1.1.0') });
    source.setTooLarge(true);
    const run = await sync('timer');
    expect(run).toMatchObject({
      state: 'failed',
      detail: expect.stringContaining('Cannot find out whether') as string,
    });
    expect(await names()).toEqual(['apis/a@1.0.0']);
    expect(await repository()).toMatchObject({ state: 'failed', commit: first });
    source.setTooLarge(false);
    await sync('timer');
    expect(await names()).toEqual(['apis/a@1.0.0']);
    pass(61_000);
    await sync('timer');
    expect(await names()).toEqual(['apis/a@1.1.0']);
    expect(await repository()).toMatchObject({ state: 'following', detail: null, held: null, retry: null });
    source.setTooLarge(true);
    source.push(url, { 'a.yaml': api('A', '1.2.0') });
    await sync();
    await relinkResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { actor: 'operator:test', origin: null });
    await sync();
    expect(await names()).toEqual(['apis/a@1.2.0']);
  });

  test('a repository that was gone, and is not known to be the same, stays detached', async () => {
    const { source, sync, repository, names } = await connected();
    const first = source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.deleteBranch(url);
    await sync();
    source.push(url, { 'a.yaml': api('A', '1.1.0') }, { parent: first });
    source.setTooLarge(true);
    await sync();
    expect(await repository()).toMatchObject({
      state: 'detached',
      detail: expect.stringContaining('Cannot find out') as string,
    });
    expect(await names()).toEqual(['apis/a@1.0.0']);
    source.setTooLarge(false);
    await sync();
    expect(await names()).toEqual(['apis/a@1.1.0']);
  });

  test('a document whose file moves unchanged keeps its resource and connection, whatever its title says', async () => {
    const { source, sync, names, registry } = await connected();
    source.push(url, {
      'a.yaml': api('A', '1.0.0'),
      'stele.yaml': 'resources: [{path: a.yaml, slug: ay}]\ndiscover: true',
    });
    await sync();
    source.push(url, { 'deep/b.yaml': api('A', '1.0.0') });
    expect((await sync()).documents).toMatchObject([
      { path: 'deep/b.yaml', resource: '@acme/apis/ay', outcome: 'unchanged' },
    ]);
    source.push(url, { 'deep/b.yaml': api('A', '1.1.0') });
    await sync();
    expect(await names()).toEqual(['apis/ay@1.1.0']);
    const resource = await findResource(registry, { org: 'acme', type: 'apis', slug: 'ay' });
    expect(resource).toMatchObject({ connection: { path: 'deep/b.yaml' } });
  });

  test.each<[string, Record<string, string>, Record<string, string>, string]>([
    [
      'another slug in stele.yaml',
      { 'a.yaml': api('A', '1.0.0'), 'stele.yaml': 'resources: [{path: a.yaml, slug: old}]' },
      { 'a.yaml': api('A', '1.0.0'), 'stele.yaml': 'resources: [{path: a.yaml, slug: new}]' },
      'a.yaml belongs to @acme/apis/new now. Published versions stay.',
    ],
    [
      'a move, where the slug comes from the path',
      { 'v/old.yaml': api('A', '1.0.0'), 'stele.yaml': "resources: [{path: 'v/*.yaml', slug: '{1}'}]" },
      { 'v/new.yaml': api('A', '1.0.0'), 'stele.yaml': "resources: [{path: 'v/*.yaml', slug: '{1}'}]" },
      'v/new.yaml belongs to @acme/apis/new now. Published versions stay.',
    ],
    [
      'another type',
      { 'a.yaml': api('Old', '1.0.0') },
      { 'a.yaml': 'x-title: New\nrules: {}\n' },
      'a.yaml belongs to @acme/rulesets/a now. Published versions stay.',
    ],
  ])('what a push ends is detached and named, whatever ends it: %s', async (_, before, after, detail) => {
    const { source, sync, registry, events } = await connected();
    source.push(url, before);
    await sync();
    source.push(url, after);
    const { documents } = await sync();
    const ended = documents.filter(({ resource }) => resource === '@acme/apis/old');
    expect(ended).toMatchObject([{ outcome: 'detached', label: '1.0.0', detail }]);
    expect(documents).toHaveLength(2);
    const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug: 'old' }))!;
    const { document, repository } = await readConnection(registry, { ...resource, connection: resource.connection! });
    expect(connectionState(repository!.value, document)).toMatchObject({ state: 'detached', detail });
    const fields = events.map((each) => each.fields);
    expect(fields).toContainEqual(expect.objectContaining({ resource: '@acme/apis/old', outcome: 'detached' }));
    // Each is said once, and no more once it is published again.
    for (const more of [{ 'README.md': 'Hello.' }, { 'stele.yaml': 'resources: [' }, {}]) {
      source.push(url, { ...after, ...more });
      expect((await sync()).documents.filter(({ path }) => path !== 'stele.yaml')).toEqual([]);
    }
    source.push(url, before);
    await sync();
    const back = await readConnection(registry, { ...resource, connection: resource.connection! });
    expect(back.document).toMatchObject({ resource: '@acme/apis/old', outcome: 'unchanged' });
  });

  test('a name that another repository has was never this one’s to detach', async () => {
    const { source, sync, registry } = await connected();
    const other = 'https://git.test/acme/other.git';
    source.push(url, { 'a.yaml': api('A', '1.0.0'), 'stele.yaml': 'resources: [{path: a.yaml, slug: pay}]' });
    await sync();
    source.push(other, { 'e.yaml': api('E', '1.1.0'), 'stele.yaml': 'resources: [{path: e.yaml, slug: pay}]' });
    expect((await sync('manual', other)).documents).toMatchObject([{ path: 'e.yaml', outcome: 'conflict' }]);
    source.push(other, { 'e.yaml': api('E', '1.1.0'), 'stele.yaml': 'resources: [{path: e.yaml, slug: evil}]' });
    const { documents } = await sync('manual', other);
    expect(documents).toMatchObject([{ resource: '@acme/apis/evil', outcome: 'published' }]);
    expect((await findResource(registry, { org: 'acme', type: 'apis', slug: 'pay' }))!.latest).toBe('1.0.0');
  });

  test('a file that moves and changes is one document that moved', async () => {
    const { source, sync } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.push(url, { 'deep/b.yaml': api('A', '1.1.0') });
    expect((await sync()).documents).toMatchObject([
      { path: 'deep/b.yaml', resource: '@acme/apis/a', outcome: 'published', label: '1.1.0' },
    ]);
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    [
      'a file that moved and changed',
      { 'a.yaml': api('A', '1.0.0') },
      { 'deep/b.yaml': api('A', '2.0.0', 'broken: true') },
    ],
    [
      'two files whose slugs were swapped',
      {
        'a.yaml': api('A', '1.0.0'),
        'b.yaml': api('B', '1.0.0'),
        'stele.yaml': 'resources: [{path: a.yaml, slug: a}, {path: b.yaml, slug: b}]',
      },
      {
        'a.yaml': api('A', '2.0.0'),
        'b.yaml': api('B', '2.0.0', 'broken: true'),
        'stele.yaml': 'resources: [{path: a.yaml, slug: b}, {path: b.yaml, slug: a}]',
      },
    ],
    [
      'another file that has the name now',
      { 'a.yaml': api('A', '1.0.0'), 'stele.yaml': 'resources: [{path: a.yaml, slug: a}]' },
      { 'c.yaml': api('C', '2.0.0', 'broken: true'), 'stele.yaml': 'resources: [{path: c.yaml, slug: a}]' },
    ],
  ])('what was rejected is the state of its connection, wherever its file is: %s', async (_, before, after) => {
    const { source, sync, registry, repository } = await connected();
    const standing = async () => {
      const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' }))!;
      const read = await readConnection(registry, { ...resource, connection: resource.connection! });
      return connectionState(read.repository!.value, read.document).state;
    };
    source.push(url, before);
    await sync();
    expect(await standing()).toBe('synced');
    source.push(url, after);
    expect((await sync()).documents).toContainEqual(
      expect.objectContaining({ resource: '@acme/apis/a', outcome: 'rejected' }),
    );
    expect(await standing()).toBe('failed');
    // The commit is known, and not read again each time.
    const { commit } = await repository();
    const opened = vi.spyOn(registry.source, 'snapshot');
    await sync('timer');
    expect(opened).not.toHaveBeenCalled();
    expect((await repository()).commit).toBe(commit);
    source.push(url, before);
    await sync();
    expect(await standing()).toBe('synced');
  });

  test('a deleted file detaches its document once; the file coming back publishes again', async () => {
    const { source, sync, names } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0'), 'b.yaml': api('B', '1.0.0') });
    await sync();
    source.push(url, { 'b.yaml': api('B', '1.0.0') });
    expect((await sync()).documents).toMatchObject([{ path: 'a.yaml', outcome: 'detached' }]);
    source.push(url, { 'b.yaml': api('B', '1.0.1') });
    expect((await sync()).documents).toMatchObject([{ path: 'b.yaml', outcome: 'published' }]);
    source.push(url, { 'a.yaml': api('A', '1.2.0'), 'b.yaml': api('B', '1.0.1') });
    await sync();
    expect(await names()).toEqual(['apis/a@1.2.0', 'apis/b@1.0.1']);
  });

  test('a moved file takes its resource along', async () => {
    const { source, sync, names } = await connected();
    source.push(url, { 'old/a.yaml': api('A', '1.0.0') });
    await sync();
    source.push(url, { 'new/a.yaml': api('A', '1.1.0') });
    await sync();
    expect(await names()).toEqual(['apis/a@1.1.0']);
  });

  test('equal titles get slugs of their own, which stay when the titles change', async () => {
    const { source, sync, names } = await connected();
    source.push(url, {
      'x.yaml': api('Same', '1.0.0'),
      'v2/x.yaml': api('Same', '2.0.0'),
      'Ü berg.yaml': api('日本', '1.0.0'),
    });
    await sync();
    const before = await names();
    expect(before).toEqual(['apis/same@1.0.0', 'apis/same-v2@2.0.0', 'apis/u-berg@1.0.0']);
    source.push(url, {
      'x.yaml': api('Other', '1.0.1'),
      'v2/x.yaml': api('Same', '2.0.0'),
      'Ü berg.yaml': api('日本', '1.0.0'),
    });
    await sync();
    expect(await names()).toEqual(['apis/same@1.0.1', 'apis/same-v2@2.0.0', 'apis/u-berg@1.0.0']);
  });

  test('versions of one API in files of their own get slugs with their versions, and the plain one to none', async () => {
    const { source, sync, names } = await connected();
    const files = { 'apis/pay-v1.yaml': api('Pay', '1.4.0'), 'apis/pay-v2.yaml': api('Pay', '2.0.0') };
    source.push(url, {
      ...files,
      'v1/openapi.yaml': api('Orders', '1.0.0'),
      'v2/openapi.yaml': api('Orders', '2.0.0'),
    });
    await sync();
    expect((await names()).sort()).toEqual([
      'apis/orders-v1@1.0.0',
      'apis/orders-v2@2.0.0',
      'apis/pay-v1@1.4.0',
      'apis/pay-v2@2.0.0',
    ]);
    source.push(url, { ...files, 'apis/pay-v3.yaml': api('Pay', '3.0.0'), 'apis/pay.yaml': api('Pay', '4.0.0') });
    await sync();
    expect(await names()).toEqual(expect.arrayContaining(['apis/pay-v3@3.0.0', 'apis/pay@4.0.0']));
  });

  test('an uploaded resource of the same name is not taken over', async () => {
    const { source, sync, names, registry } = await connected();
    await createResource(
      registry,
      { org: 'acme', type: 'apis', slug: 'a' },
      { name: 'Mine' },
      { actor: 'operator:test', origin: null },
    );
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    expect(await names()).toEqual(['apis/a@null', 'apis/a-2@1.0.0']);
  });

  test('stele.yaml takes over no resource that was uploaded, or is connected to another repository', async () => {
    const { source, sync, registry, repository } = await connected();
    const author = { actor: 'operator:test', origin: null };
    const uploaded = { org: 'acme', type: 'apis', slug: 'uploaded' } as const;
    const others = { org: 'acme', type: 'apis', slug: 'others' } as const;
    for (const coordinate of [uploaded, others]) await createResource(registry, coordinate, { name: 'Ours' }, author);
    const connection = { branch: null, tags: null, onConflict: 'revise', credential: null, path: 'o.yaml' } as const;
    await connectRecord(registry, others, { ...connection, repository: 'https://github.com/acme/other.git' }, author);
    source.push(url, {
      'stele.yaml':
        'resources: [{path: u.yaml, slug: uploaded}, {path: o.yaml, slug: others}, {path: t.yaml, slug: uploaded2, tags: "v*"}]',
      'u.yaml': api('U', '1.0.0'),
      'o.yaml': api('O', '1.0.0'),
      't.yaml': api('T', '1.0.0'),
    });
    await createResource(registry, { ...uploaded, slug: 'uploaded2' }, { name: 'Ours' }, author);
    const run = await sync();
    expect(run.documents).toMatchObject([
      { path: 'o.yaml', outcome: 'conflict', detail: expect.stringContaining('is connected to another repository') },
      { path: 't.yaml', outcome: 'conflict' },
      { path: 'u.yaml', outcome: 'conflict', detail: expect.stringContaining('is not connected to a repository') },
    ]);
    expect(await findResource(registry, uploaded)).toMatchObject({ connection: null, versions: [] });
    expect(await findResource(registry, others)).toMatchObject({
      connection: { repository: 'https://github.com/acme/other.git' },
      versions: [],
    });
    expect(await findResource(registry, { ...uploaded, slug: 'uploaded2' })).toMatchObject({ connection: null });
    expect((await sync()).documents).toEqual([]);
    // Whoever may connect it says otherwise.
    const { url: repositoryUrl } = await repository();
    registry.config.sync.hosts.push('git.test');
    await connectRecord(registry, uploaded, { ...connection, path: 'u.yaml', repository: repositoryUrl }, author);
    expect((await sync()).documents).toMatchObject([
      { path: 'o.yaml', outcome: 'conflict' },
      { path: 't.yaml', outcome: 'conflict' },
      { path: 'u.yaml', outcome: 'published' },
    ]);
  });

  test('a resource that was disconnected, or connected elsewhere, stays so', async () => {
    const { source, sync, registry } = await connected();
    const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;
    const author = { actor: 'operator:test', origin: null };
    source.push(url, { 'pay.yaml': api('Pay', '1.0.0') });
    await sync();
    await disconnectRecord(registry, pay, author);
    source.push(url, { 'pay.yaml': api('Pay', '1.1.0') });
    expect((await sync()).documents).toMatchObject([{ path: 'pay.yaml', outcome: 'conflict' }]);
    expect(await findResource(registry, pay)).toMatchObject({ latest: '1.0.0', connection: null });
  });

  test('one slug for two files, and a file outside the followed folder, are reported and not published', async () => {
    const { source, registry } = createWorld();
    const given = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
    const id = await follow(registry, 'acme', { ...given, discover: 'docs' });
    source.push(url, {
      'docs/stele.yaml':
        'resources: [{path: a.yaml, slug: one}, {path: b.yaml, slug: one}, {path: ../secret.yaml, slug: secret}]',
      'docs/a.yaml': api('A', '1.0.0'),
      'docs/b.yaml': api('B', '1.0.0'),
      'secret.yaml': api('Secret', '1.0.0'),
    });
    const run = await (await createSyncQueue(registry, createPulls).request('acme', id, 'manual')).done;
    expect(run.documents.map(({ path, outcome, resource }) => [path, outcome, resource])).toEqual([
      ['docs/stele.yaml', 'rejected', null],
      ['docs/a.yaml', 'published', '@acme/apis/one'],
    ]);
    expect(await listReadable(registry, operator, { org: 'acme' })).toHaveLength(1);
  });

  test('stele.yaml decides; a broken one publishes nothing and says why', async () => {
    const { source, sync, names } = await connected();
    const files = { 'a.yaml': api('A', '1.0.0'), 'b.yaml': api('B', '1.0.0') };
    source.push(url, { ...files, 'stele.yaml': 'broken: true' });
    expect((await sync()).documents).toMatchObject([{ path: 'stele.yaml', resource: null, outcome: 'rejected' }]);
    source.push(url, {
      ...files,
      'stele.yaml': 'resources: [{path: b.yaml, slug: bee, visibility: private}, {path: gone.yaml, slug: gone}]',
    });
    const run = await sync();
    expect(await names()).toEqual(['apis/bee@1.0.0']);
    expect(run.documents.find(({ path }) => path === 'stele.yaml')).toMatchObject({
      outcome: 'rejected',
      detail: 'stele.yaml:1:61 "gone.yaml": There is no gone.yaml.',
    });
  });

  test('where tags are published, each tag is a version, the branch none, and a moved tag changes nothing', async () => {
    const { source, sync, names, repository, registry } = await connected();
    const files = (version: string) => ({
      'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "v*"}]',
      'a.yaml': api('A', version),
    });
    const first = source.push(url, files('1.0.0-dev'));
    await sync();
    expect(await names()).toEqual(['apis/a@null']);
    source.tag(url, 'v1.0.0', first);
    source.tag(url, 'other', first);
    expect((await sync()).documents).toMatchObject([{ path: 'a.yaml', outcome: 'published', label: '1.0.0' }]);
    expect((await sync()).documents).toEqual([]);
    const second = source.push(url, files('2.0.0'));
    source.tag(url, 'v1.0.0', second);
    source.tag(url, 'v2.0.0', second);
    await sync();
    expect(await names()).toEqual(['apis/a@2.0.0']);
    expect(await repository()).toMatchObject({
      state: 'following',
      diverged: { detail: expect.stringContaining('Tag v1.0.0 was moved') as string },
    });
    const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' }))!;
    expect(resource.versions.map(({ label, original }) => [label, original])).toEqual([
      ['1.0.0', '1.0.0-dev'],
      ['2.0.0', undefined],
    ]);
  });

  test('a tag whose label the branch took becomes a revision, and the run says why', async () => {
    const { source, sync, registry } = await connected();
    const release = source.push(url, { 'a.yaml': api('A', '1.5.0') });
    const tip = { 'a.yaml': api('A', '1.5.0', 'x-a: 1') };
    source.push(url, tip);
    await sync();
    source.tag(url, 'v1.5.0', release);
    source.push(url, { ...tip, 'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "v*"}]' });
    const label = `1.5.0+${release.slice(0, 7)}`;
    expect((await sync()).documents).toMatchObject([
      {
        outcome: 'published',
        label,
        detail: `Version 1.5.0 was published first, with other content, so tag v1.5.0 became ${label}. Latest stays 1.5.0, because the commit of tag v1.5.0 is older.`,
      },
    ]);
    expect((await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' }))!.latest).toBe('1.5.0');
    expect((await sync()).documents).toEqual([]);
  });

  test('a tag that follows the latest version becomes latest, though the clock of its commit was behind', async () => {
    const { source, sync, registry } = await connected();
    const settings = { 'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "v*"}]' };
    const release = (version: string, committedAt: string) =>
      source.tag(url, `v${version}`, source.push(url, { ...settings, 'a.yaml': api('A', version) }, { committedAt }));
    release('1.0.0', '2025-01-02T12:00:00Z');
    await sync();
    release('1.1.0', '2025-01-02T11:00:00Z');
    expect((await sync()).documents).toMatchObject([{ outcome: 'published', label: '1.1.0', detail: null }]);
    expect((await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' }))!.latest).toBe('1.1.0');
  });

  test('where conflicts are rejected, a tag whose label the branch took is a conflict', async () => {
    const { source, sync } = await connected();
    const settings = 'resources: [{path: a.yaml, slug: a, onConflict: reject';
    source.tag(url, 'v1.5.0', source.push(url, { 'a.yaml': api('A', '1.5.0') }));
    const tip = { 'a.yaml': api('A', '1.5.0', 'x-a: 1') };
    source.push(url, { ...tip, 'stele.yaml': `${settings}}]` });
    await sync();
    source.push(url, { ...tip, 'stele.yaml': `${settings}, tags: "v*"}]` });
    expect((await sync()).documents).toMatchObject([
      { outcome: 'conflict', detail: 'Version 1.5.0 is published with other content and never changes.' },
    ]);
  });

  test('when the branch takes the label of a release tag, the log says so and how to publish tags', async () => {
    const { source, sync, events, compiler } = await connected();
    const release = source.push(url, { 'a.yaml': api('A', '1.5.0'), 'b.yaml': api('B', '7.0.0') });
    source.tag(url, 'v1.4.0', release);
    source.tag(url, 'v1.5.0', release);
    source.push(url, { 'a.yaml': api('A', '1.5.0', 'x-a: 1'), 'b.yaml': api('B', '7.0.0') });
    const { documents } = await sync();
    const detail = `Tag v1.5.0 names version 1.5.0 too, at ${release.slice(0, 12)}. 2 tags match "v*". The branch takes the label 1.5.0 first; what the tag contains then becomes a revision of it, if it differs. To publish tags instead of the branch, set \`versions: 'tags'\` for the repository in registry.config.ts (\`stele serve --versions tags\`), or \`tags: "v*"\` in stele.yaml or in the connection, before the first sync.`;
    const told = events.filter(({ event, fields }) => event === 'release tag' || fields['label'] === '1.5.0');
    expect(told).toMatchObject([
      { level: 'warn', event: 'release tag', fields: { resource: '@acme/apis/a', detail } },
      { event: 'document', fields: { outcome: 'published' } },
    ]);
    expect(documents).toMatchObject([
      { path: 'a.yaml', outcome: 'published', detail },
      { path: 'b.yaml', outcome: 'published', detail: null },
    ]);
    expect(compiler.compiled).toHaveLength(2);
  });

  test('the branch takes the label of a tag without a word where the tag is its tip', async () => {
    const { source, sync } = await connected();
    source.tag(url, 'v1.5.0', source.push(url, { 'a.yaml': api('A', '1.5.0') }));
    expect((await sync()).documents).toMatchObject([{ label: '1.5.0', detail: null }]);
  });

  test('a tag that was refused is tried again when its ruleset is another one, and only then', async () => {
    const { source, sync, registry, names, compiler } = await connected();
    const commit = source.push(url, {
      'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "v*"}, {path: r.yaml, slug: r}]',
      'a.yaml': api('A', 'dev'),
      'r.yaml': 'rules: {x: error}',
    });
    await sync();
    const gate = (ruleset: string | null) =>
      changeResource(registry, { org: 'acme', type: 'apis', slug: 'a' }, { ruleset }, { actor: 'x:y', origin: null });
    await gate('@acme/rulesets/r');
    source.tag(url, 'v1.0.0', commit);
    await sync();
    expect(await names()).toContain('apis/a@null');
    compiler.compiled.length = 0;
    await sync();
    expect(compiler.compiled).toEqual([]);
    await gate(null);
    await sync();
    expect(await names()).toContain('apis/a@1.0.0');
  });

  test('a tag that went over its limits is looked at again when somebody asks, and not by the timer', async () => {
    const { source, sync, names, compiler } = await connected();
    const settings = { 'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "v*"}]' };
    source.tag(url, 'v1.0.0', source.push(url, { ...settings, 'a.yaml': `${api('A', 'dev')}died: true` }));
    source.tag(url, 'v1.1.0', source.push(url, { ...settings, 'a.yaml': `${api('A', 'dev')}broken: true` }));
    await sync();
    compiler.compiled.length = 0;
    await sync('timer');
    expect(compiler.compiled).toEqual([]);
    await sync('manual');
    expect(compiler.compiled).toEqual(['a.yaml']);
    expect(await names()).toEqual(['apis/a@null']);
  });

  test('of very many tags only some are looked at, and the run says so', async () => {
    const { source, sync, repository, registry } = await connected();
    const commit = source.push(url, {
      'stele.yaml': 'resources: [{path: a.yaml, slug: a, tags: "-*"}]',
      'a.yaml': api('A', '1.0.0'),
    });
    // None of these can be a label, so that nothing is compiled.
    for (let n = 0; n < 2001; n++) source.tag(url, `-${'.'.repeat(n)}`, commit);
    expect((await sync()).documents).toHaveLength(2000);
    expect(await repository()).toMatchObject({ detail: expect.stringContaining('2001 tags match "-*"') as string });
    expect(await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' })).toMatchObject({ versions: [] });
  });

  test('a repository that nothing is connected to any more is not asked', async () => {
    const { source, sync, registry } = await connected();
    await follow(registry, 'acme', {
      url,
      branch: null,
      credential: null,
      discover: null,
      visibility: 'private',
      validation: 'strict',
    });
    source.setReachable(false);
    expect(await sync()).toMatchObject({ state: 'succeeded', documents: [] });
  });

  test('a file that leaves stele.yaml, is ignored or gets another slug is published there no more; one connected by hand is', async () => {
    const { source, sync, names, registry, repository } = await connected();
    const files = (version: string) => ({
      'a.yaml': api('A', version),
      'b.yaml': api('B', version),
      'c.yaml': api('C', version),
    });
    const settings = (text: string) => ({ 'stele.yaml': text });
    source.push(url, {
      ...files('1.0.0'),
      ...settings('resources: [{path: a.yaml, slug: a}, {path: b.yaml, slug: b}, {path: c.yaml, slug: c}]'),
    });
    await sync();
    registry.config.sync.hosts.push('git.test');
    const byHand = {
      repository: url,
      branch: null,
      tags: null,
      onConflict: 'revise',
      credential: null,
      path: 'c.yaml',
    } as const;
    await connectRecord(registry, { org: 'acme', type: 'apis', slug: 'c' }, byHand, {
      actor: 'operator:test',
      origin: null,
    });
    source.push(url, { ...files('2.0.0'), ...settings('resources: [{path: b.yaml, slug: bee}]') });
    await sync();
    expect(await names()).toEqual(['apis/a@1.0.0', 'apis/b@1.0.0', 'apis/bee@2.0.0', 'apis/c@2.0.0']);
    expect((await repository()).documents['a.yaml']).toMatchObject({ outcome: 'detached' });
    source.push(url, { ...files('3.0.0'), ...settings('discover: true\nignore: [b.yaml]') });
    await sync();
    expect(await names()).toEqual(['apis/a@3.0.0', 'apis/b@1.0.0', 'apis/bee@2.0.0', 'apis/c@3.0.0']);
    source.push(url, { ...files('4.0.0'), 'a.yaml': 'a: [', ...settings('discover: true') });
    const { documents } = await sync();
    expect(documents.find(({ path }) => path === 'a.yaml')).toMatchObject({
      outcome: 'rejected',
      resource: '@acme/apis/a',
    });
  });

  test('a file that two resources publish, one connected by hand: both are detached and named when it goes', async () => {
    const { source, sync, registry, events } = await connected({ sync: { hosts: ['git.test'] } });
    const settings = { 'stele.yaml': 'resources: [{path: a.yaml, slug: a}]' };
    source.push(url, { 'a.yaml': api('A', '1.0.0'), ...settings });
    const [author, hand] = [
      { actor: 'operator:test', origin: null },
      { org: 'acme', type: 'apis', slug: 'hand' },
    ] as const;
    await createResource(registry, hand, { name: 'Hand' }, author);
    const given = {
      repository: url,
      branch: null,
      path: 'a.yaml',
      tags: null,
      onConflict: 'revise',
      credential: null,
    } as const;
    await connectRecord(registry, hand, given, author);
    await sync();
    const opened = vi.spyOn(registry.source, 'snapshot');
    await sync('timer');
    expect(opened).not.toHaveBeenCalled();
    source.push(url, { 'b.yaml': api('B', '1.0.0'), 'stele.yaml': 'discover: true' });
    const { documents } = await sync();
    const ended = ['@acme/apis/a', '@acme/apis/hand'];
    const detached = documents.filter(({ outcome }) => outcome === 'detached');
    expect(detached.map(({ resource, path }) => [resource, path]).sort()).toEqual([
      [ended[0], 'a.yaml'],
      [ended[1], `a.yaml#${ended[1]}`],
    ]);
    const logged = events.filter(({ fields }) => fields['outcome'] === 'detached');
    expect(logged.map(({ fields }) => fields['resource']).sort()).toEqual(ended);
    for (const slug of ['a', 'hand']) {
      const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug }))!;
      const { document, repository } = await readConnection(registry, {
        ...resource,
        connection: resource.connection!,
      });
      expect(connectionState(repository!.value, document).state).toBe('detached');
    }
    source.push(url, { 'b.yaml': api('B', '1.1.0'), 'stele.yaml': 'discover: true' });
    expect((await sync()).documents).toMatchObject([{ resource: '@acme/apis/b' }]);
    source.push(url, { 'a.yaml': api('A', '1.1.0'), ...settings });
    const names = (await sync()).documents.filter(({ label }) => label === '1.1.0').map(({ resource }) => resource);
    expect(names).toEqual(expect.arrayContaining(ended));
  });

  test('of two resources of a file, each says how its own sync went', async () => {
    const { source, sync, registry } = await connected({ sync: { hosts: ['git.test'] } });
    const settings = { 'stele.yaml': 'resources: [{path: a.yaml, slug: a}]' };
    source.push(url, { 'a.yaml': api('A', '1.0.0'), ...settings });
    const author = { actor: 'operator:test', origin: null };
    const hand = { org: 'acme', type: 'apis', slug: 'hand' } as const;
    await createResource(registry, hand, { name: 'Hand' }, author);
    const given = { repository: url, branch: null, path: 'a.yaml', tags: null, credential: null } as const;
    await connectRecord(registry, hand, { ...given, onConflict: 'reject' }, author);
    const stateOf = async (slug: string) => {
      const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug }))!;
      const read = await readConnection(registry, { ...resource, connection: resource.connection! });
      return connectionState(read.repository!.value, read.document).state;
    };
    await sync();
    expect([await stateOf('a'), await stateOf('hand')]).toEqual(['synced', 'synced']);
    source.push(url, { 'a.yaml': api('A', '1.0.0', 'x-more: 1'), ...settings });
    expect((await sync()).documents.map(({ resource, outcome }) => `${resource} ${outcome}`).sort()).toEqual([
      '@acme/apis/a published',
      '@acme/apis/hand conflict',
    ]);
    expect([await stateOf('a'), await stateOf('hand')]).toEqual(['synced', 'failed']);
    source.push(url, { 'a.yaml': api('A', '1.0.0', 'x-more: 1'), 'b.txt': '', ...settings });
    expect((await sync()).documents).toEqual([]);
    expect([await stateOf('a'), await stateOf('hand')]).toEqual(['synced', 'failed']);
    source.push(url, { 'a.yaml': api('A', '1.1.0'), ...settings });
    await sync();
    expect([await stateOf('a'), await stateOf('hand')]).toEqual(['synced', 'synced']);
    source.push(url, { 'a.yaml': api('A', '1.1.0'), 'b.txt': '', ...settings });
    expect((await sync()).documents).toEqual([]);
  });

  test('what a sandbox died of is looked at again with the next commit', async () => {
    const { source, sync, compiler } = await connected();
    const died = `${api('A', '1.0.0')}broken: true\ndied: true`;
    source.push(url, { 'a.yaml': died, 'b.yaml': `${api('B', '1.0.0')}broken: true` });
    await sync();
    source.push(url, { 'a.yaml': died, 'b.yaml': `${api('B', '1.0.0')}broken: true`, 'note.md': 'x' });
    await sync();
    expect(compiler.compiled.sort()).toEqual(['a.yaml', 'a.yaml', 'b.yaml']);
  });

  test('what is published stays as it is when its ruleset becomes stricter; what changes then is refused', async () => {
    const { source, sync, names, registry, repository } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    source.push(url, { 'a.yaml': api('A', '1.0.0'), 'style.yaml': 'rules: {}' });
    await sync();
    await changeResource(
      registry,
      { org: 'acme', type: 'apis', slug: 'a' },
      { ruleset: '@acme/rulesets/style' },
      { actor: 'operator:test', origin: null },
    );
    const run = await sync();
    expect(run.documents).toMatchObject([{ path: 'a.yaml', outcome: 'unchanged', label: '1.0.0' }]);
    expect((await repository()).documents['a.yaml']).toMatchObject({ outcome: 'unchanged', label: '1.0.0' });
    source.push(url, { 'a.yaml': api('A', '1.0.0', 'x: 1'), 'style.yaml': 'rules: {}' });
    expect((await sync()).documents).toMatchObject([{ path: 'a.yaml', outcome: 'rejected' }]);
    expect((await names())[0]).toBe('apis/a@1.0.0');
  });

  test('what went over its limits is looked at again when somebody asks, and not by the timer', async () => {
    const { source, sync, compiler } = await connected();
    source.push(url, { 'a.yaml': `${api('A', '1.0.0')}died: true`, 'b.yaml': `${api('B', '1.0.0')}broken: true` });
    await sync();
    compiler.compiled.length = 0;
    await sync('timer');
    expect(compiler.compiled).toEqual([]);
    await sync('manual');
    expect(compiler.compiled).toEqual(['a.yaml']);
  });

  describe('where sandboxes die over a document', () => {
    /** The compiler's sandboxes die over what states this title, until they are mended. */
    async function dying(title: string) {
      const world = await connected();
      const { compiler } = world;
      const compile = compiler.compile.bind(compiler);
      let isBroken = true;
      let tries = 0;
      compiler.compile = async (input, load, turn) => {
        const [file] = await load([input.entry]);
        const isIt = file?.found && Buffer.from(file.bytes).includes(`title: ${title},`);
        if (isIt) tries++;
        if (isIt && isBroken) throw sandboxLost('It ended with SIGKILL.');
        return compile(input, load, turn);
      };
      return { ...world, mend: () => void (isBroken = false), tries: () => tries };
    }

    test('the run fails, the others are published, and the next run reads it', async () => {
      const { source, sync, repository, names, compiler, mend } = await dying('A');
      const commit = source.push(url, { 'a.yaml': api('A', '1.0.0'), 'b.yaml': api('B', '1.0.0') });
      const run = await sync();
      expect(run).toMatchObject({ state: 'failed', documents: [{ path: 'b.yaml', outcome: 'published' }] });
      expect(run.detail).toMatch(/^a\.yaml: The process that compiles documents stopped/);
      expect(await names()).toEqual(['apis/b@1.0.0']);
      expect(await repository()).toMatchObject({ state: 'failed', detail: run.detail, commit: null });
      expect((await repository()).documents).not.toHaveProperty('a.yaml');
      compiler.compiled.length = 0;
      mend();
      expect(await sync()).toMatchObject({ state: 'succeeded', detail: null });
      expect(compiler.compiled).toEqual(['a.yaml']);
      expect(await repository()).toMatchObject({ state: 'following', detail: null, commit, retry: null });
      expect(await names()).toEqual(['apis/a@1.0.0', 'apis/b@1.0.0']);
    });

    test('the timer tries again later and later; a new commit and whoever asks are not kept waiting', async () => {
      const { source, sync, pass, tries, mend, names } = await dying('A');
      source.push(url, { 'a.yaml': api('A', '1.0.0') });
      const look = async (trigger: Trigger, milliseconds = 0) => {
        const before = tries();
        pass(milliseconds);
        await sync(trigger);
        return tries() - before;
      };
      expect(await look('timer')).toBe(1);
      expect(await look('timer', 59_000)).toBe(0);
      expect(await look('timer', 1000)).toBe(1);
      expect(await look('timer', 119_000)).toBe(0);
      expect(await look('timer', 1000)).toBe(1);
      expect(await look('manual')).toBe(1);
      expect(await look('hook')).toBe(1);
      expect(await look('timer', 60_000)).toBe(0);
      source.push(url, { 'a.yaml': api('A', '1.1.0') });
      expect(await look('timer')).toBe(1);
      mend();
      expect(await look('timer', 60_000)).toBe(1);
      expect(await names()).toEqual(['apis/a@1.1.0']);
    });

    test('a tag is published once its document can be read; the other tags are not kept waiting', async () => {
      const { source, sync, names, registry, mend } = await dying('Bad');
      const settings = "resources: [{path: a.yaml, slug: a, tags: 'v*'}]";
      const bad = source.push(url, { 'a.yaml': api('Bad', '1.0.0'), 'stele.yaml': settings });
      const good = source.push(url, { 'a.yaml': api('Good', '1.1.0'), 'stele.yaml': settings });
      source.tag(url, 'v1.0.0', bad);
      source.tag(url, 'v1.1.0', good);
      const run = await sync();
      expect(run).toMatchObject({ state: 'failed', detail: expect.stringMatching(/^Tag v1\.0\.0: /) as string });
      expect(await names()).toEqual(['apis/a@1.1.0']);
      mend();
      expect(await sync()).toMatchObject({ state: 'succeeded' });
      const resource = (await findResource(registry, { org: 'acme', type: 'apis', slug: 'a' }))!;
      expect(resource.versions.map(({ label }) => label).sort()).toEqual(['1.0.0', '1.1.0']);
    });

    test('no document counts as gone because the sandbox that looks for documents died', async () => {
      const { source, sync, repository, compiler } = await connected();
      source.push(url, { 'a.yaml': api('A', '1.0.0') });
      await sync();
      const { detect } = compiler;
      compiler.detect = async () => {
        throw sandboxLost('It ended with SIGKILL.');
      };
      source.push(url, { 'a.yaml': api('A', '1.0.0'), 'note.md': 'x' });
      expect(await sync()).toMatchObject({ state: 'failed' });
      expect((await repository()).documents['a.yaml']).toMatchObject({ outcome: 'published' });
      compiler.detect = detect;
      expect(await sync()).toMatchObject({ state: 'succeeded' });
      expect((await repository()).documents['a.yaml']).toMatchObject({ outcome: 'published' });
    });
  });

  test('a manual sync that finds nothing new writes nothing that lasts', async () => {
    const { source, sync, registry } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    await sync();
    const generation = async () =>
      (await Array.fromAsync(registry.refs.list('repositories/'), (name) => registry.refs.read(name))).map(
        (each) => each!.generation,
      );
    const before = await generation();
    const run = await sync();
    expect(run).toMatchObject({ state: 'succeeded', documents: [], detail: null });
    expect(await generation()).toEqual(before);
  });

  test('an unreachable repository is logged once and tried again', async () => {
    const { source, sync, repository, names } = await connected();
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    source.setReachable(false);
    expect(await sync()).toMatchObject({ state: 'failed', detail: `${url} does not answer.` });
    expect(await repository()).toMatchObject({ state: 'failed' });
    source.setReachable(true);
    expect(await sync()).toMatchObject({ state: 'succeeded' });
    expect(await repository()).toMatchObject({ state: 'following', detail: null });
    expect(await names()).toEqual(['apis/a@1.0.0']);
  });

  test('any one write that goes wrong is made good by the next sync', async () => {
    const files = { 'a.yaml': api('A', '1.0.0'), 'b.yaml': api('B', '1.0.0') };
    for (let step = 0; step < 24; step++) {
      const { source, sync, names, bucket } = await connected();
      source.push(url, files);
      let seen = 0;
      bucket.fault('putIfAbsent', 'fail', { count: 3, when: () => ++seen > step && seen <= step + 3 });
      for (let tries = 0; tries < 3; tries++) await sync().catch(() => 'the run itself could not be written down');
      expect(await names()).toEqual(['apis/a@1.0.0', 'apis/b@1.0.0']);
    }
  });
});

describe('the queue', () => {
  test('while one sync runs, all further askers share the one that waits', async () => {
    const { registry, source } = await connected();
    const queue = createSyncQueue(registry, createPulls);
    const [{ org, url: where, branch }] = [await (await connected()).repository()];
    const { repositoryId } = await import('../../src/model/connection.ts');
    const id = repositoryId(where, branch);
    source.push(url, { 'a.yaml': api('A', '1.0.0') });
    const first = await queue.request(org, id, 'manual');
    const second = await queue.request(org, id, 'manual');
    const third = await queue.request(org, id, 'manual');
    expect(second.run.id).not.toBe(first.run.id);
    expect(third.run.id).toBe(second.run.id);
    await Promise.all([first.done, second.done]);
    expect(await Array.fromAsync(newestRuns(registry, 'acme', null))).toHaveLength(2);
  });

  test('runs of a process that is gone are closed', async () => {
    const { registry, repository } = await connected();
    const { hostname } = await import('node:os');
    // The second had the number of this process, as in a container that was started again.
    for (const process of [`${hostname()}/999999999`, `${hostname()}/${globalThis.process.pid}.1`]) {
      const run = { ...newRun(registry, await repository(), 'x'.repeat(16), 'manual'), process };
      await recordRun(registry, { ...run, state: 'running' });
      await closeAbandonedRuns(registry, 'acme');
      expect((await Array.fromAsync(newestRuns(registry, 'acme', null))).find(({ id }) => id === run.id)).toMatchObject(
        { state: 'failed' },
      );
    }
  });
});
