import { availableParallelism } from 'node:os';
import { describe, expect, test } from 'vitest';
import { repositoryId } from '../../src/model/connection.ts';
import { findVersion, type Resource } from '../../src/model/resource.ts';
import { comparedWith } from '../../src/model/compared-with.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { importHistory, type ImportOptions } from '../../src/sync/import/import-repository.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { follow, unfollow } from '../../src/sync/follow.ts';
import { findResource, updateRecord } from '../../src/registry/lives.ts';
import { createWorld } from '../registry/world.ts';

const url = 'https://git.test/acme/apis.git';
const followed = {
  url,
  branch: null,
  credential: null,
  visibility: 'public',
  validation: 'lenient',
  discover: '',
} as const;
const author = { actor: 'operator:test', origin: null };
const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;

function api(version: string | null, more = ''): string {
  const info = version === null ? '{title: Pay}' : `{title: Pay, version: ${version}}`;
  return `openapi: 3.1.0\ninfo: ${info}\n${more}`;
}

async function open() {
  const world = createWorld();
  await follow(world.registry, 'acme', followed);
  const queue = createSyncQueue(world.registry, createPulls);
  return {
    ...world,
    sync: async () => (await queue.request('acme', repositoryId(url, null), 'manual')).done,
    importIt: (options: Partial<ImportOptions>, signal = new AbortController().signal) =>
      importHistory(world.registry, pay, { tags: null, eachChange: false, since: null, ...options }, signal),
    versions: async () =>
      (await findResource(world.registry, pay))!.versions.map(({ label, createdAt }) => [label, createdAt]),
    latest: async () => (await findResource(world.registry, pay))!.latest,
  };
}

describe('importing the past', () => {
  test('every change becomes a version with its own date, in the order of the dates, and latest stays', async () => {
    const { source, sync, importIt, versions, latest } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    source.push(url, { 'pay.yaml': api('1.0.0'), 'README.md': 'x' });
    const second = source.push(url, { 'pay.yaml': api('1.0.0', 'x-a: 1'), 'README.md': 'x' });
    source.push(url, { 'pay.yaml': api('1.1.0'), 'README.md': 'x' });
    const tip = source.push(url, { 'pay.yaml': api('1.1.0', 'x-a: 2') });
    await sync();
    expect(await versions()).toEqual([['1.1.0', '2025-01-01T00:05:00.000Z']]);
    const run = await importIt({ eachChange: true });
    expect(run.documents.map(({ outcome, label }) => [outcome, label])).toEqual([
      ['published', '1.0.0'],
      ['published', `1.0.0+${second.slice(0, 7)}`],
      ['published', expect.stringMatching(/^1\.1\.0\+/)],
      ['unchanged', '1.1.0'],
    ]);
    expect(run.documents.at(-1)).toMatchObject({ commit: tip });
    expect((await versions()).map(([, at]) => at)).toEqual([
      '2025-01-01T00:01:00.000Z',
      '2025-01-01T00:03:00.000Z',
      '2025-01-01T00:04:00.000Z',
      '2025-01-01T00:05:00.000Z',
    ]);
    expect(await latest()).toBe('1.1.0');
  });

  test('nothing is imported from a repository that another one replaced, tags included', async () => {
    const { source, sync, importIt, versions } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    source.tag(url, 'v6.6.6', source.push(url, { 'pay.yaml': api('6.6.6') }, { force: true }));
    const refusal = { code: 'conflict', message: expect.stringContaining('another history') as string };
    for (const isNoticed of [false, true]) {
      if (isNoticed) await sync();
      await expect(importIt({ tags: 'v*' })).rejects.toMatchObject(refusal);
    }
    expect((await versions()).map(([label]) => label)).toEqual(['1.0.0']);
  });

  test('what states no version gets a label below all others', async () => {
    const { source, sync, importIt, versions, latest } = await open();
    const first = source.push(url, { 'pay.yaml': api(null) });
    source.push(url, { 'pay.yaml': api(null, 'x-a: 1') });
    await sync();
    await importIt({ eachChange: true });
    expect((await versions()).map(([label]) => label)).toEqual([`0.0.0-20250101000100-${first.slice(0, 12)}`, '1.0.0']);
    expect(await latest()).toBe('1.0.0');
  });

  test('a document is followed under its earlier names, and by what it refers to', async () => {
    const { source, sync, importIt, versions } = await open();
    const text = api('1.0.0', 'include: [part.yaml]');
    source.push(url, { 'old.yaml': text, 'part.yaml': 'a: 1' });
    source.push(url, { 'old.yaml': text, 'part.yaml': 'a: 2' });
    source.push(url, { 'pay.yaml': text, 'part.yaml': 'a: 2' });
    source.push(url, { 'pay.yaml': text, 'part.yaml': 'a: 3' });
    await sync();
    await importIt({ eachChange: true });
    expect((await versions()).map(([, at]) => at)).toEqual([
      '2025-01-01T00:01:00.000Z',
      '2025-01-01T00:02:00.000Z',
      '2025-01-01T00:04:00.000Z',
    ]);
  });

  test('a document is followed to the file that it replaced, also when it changed on the way, and to no other', async () => {
    const { source, sync, importIt, versions } = await open();
    const paths = (...names: string[]) => `paths:\n${names.map((name) => `  /${name}: {get: {}}\n`).join('')}`;
    const other = `title: Other\nlines:\n${Array.from({ length: 9 }, (_, n) => `  - ${n}\n`).join('')}`;
    const file = (version: string, ...names: string[]) =>
      `openapi: 3.1.0\ninfo:\n  title: Pay\n  version: ${version}\n${paths(...names)}`;
    source.push(url, { 'old/api.yaml': file('1.0.0', 'a', 'b', 'c'), 'other.yaml': other });
    source.push(url, { 'pay.yaml': file('1.1.0', 'a', 'b', 'c', 'd') });
    await sync();
    await importIt({ eachChange: true });
    expect((await versions()).map(([label]) => label)).toEqual(['1.0.0', '1.1.0']);
  });

  test('a document that moved and was rejected is imported from where it is, not from what took its place', async () => {
    const { source, sync, importIt, registry, versions } = await open();
    const users = 'openapi: 3.1.0\ninfo: {title: Users, version: 5.0.0}\n';
    source.tag(url, 'v0.1.0', source.push(url, { 'a.yaml': api('1.0.0') }));
    await sync();
    await changeStatus(registry, pay, '1.0.0', { state: 'withdrawn', reason: 'leak' }, author);
    source.push(url, { 'b.yaml': api('1.0.0') });
    expect((await sync()).documents).toMatchObject([
      { path: 'b.yaml', resource: '@acme/apis/pay', outcome: 'conflict' },
    ]);
    source.tag(url, 'v0.2.0', source.push(url, { 'a.yaml': users, 'b.yaml': api('1.0.0') }));
    await sync();
    expect((await findResource(registry, pay))!.connection!.path).toBe('b.yaml');
    const run = await importIt({ tags: 'v*' });
    expect(run.documents.map(({ path, label }) => [path, label])).toEqual([
      ['b.yaml', '0.1.0'],
      ['b.yaml', '0.2.0'],
    ]);
    const contents = new Map(
      (await findResource(registry, pay))!.versions.map(({ label, content }) => [label, content]),
    );
    expect(contents.get('0.2.0')).toBe(contents.get('0.1.0'));
    expect(await versions()).toHaveLength(3);
  });

  test.each(['tags', 'changes'] as const)(
    'a file at a path that another document left has none of its %s',
    async (of) => {
      const { source, sync, importIt, registry, versions } = await open();
      const users = (version: string) => `openapi: 3.1.0\ninfo: {title: Users, version: ${version}}\n`;
      source.tag(url, 'v0.1.0', source.push(url, { 'a.yaml': users('0.1.0') }));
      source.push(url, { 'b.yaml': users('0.1.0') });
      source.tag(url, 'v0.2.0', source.push(url, { 'a.yaml': api('0.2.0'), 'b.yaml': users('0.1.0') }));
      source.push(url, { 'a.yaml': api('1.0.0'), 'b.yaml': users('0.1.0') });
      await sync();
      expect((await findResource(registry, pay))!.connection!.path).toBe('a.yaml');
      const run = await importIt(of === 'tags' ? { tags: 'v*' } : { eachChange: true });
      expect((await versions()).map(([label]) => label)).toEqual(['0.2.0', '1.0.0']);
      if (of === 'tags') expect(run.documents[0]!.detail).toBe('Tag v0.1.0 does not contain a.yaml.');
    },
  );

  test('a file that was removed and is back has the tags from before', async () => {
    const { source, sync, importIt, versions } = await open();
    source.tag(url, 'v0.1.0', source.push(url, { 'pay.yaml': api('0.1.0'), 'README.md': 'x' }));
    source.push(url, { 'README.md': 'x' });
    source.push(url, { 'pay.yaml': api('1.0.0'), 'README.md': 'x' });
    await sync();
    await importIt({ tags: 'v*' });
    expect((await versions()).map(([label]) => label)).toEqual(['0.1.0', '1.0.0']);
  });

  test('a repository that is followed again is imported from where it was', async () => {
    const { source, sync, importIt, registry, versions } = await open();
    source.tag(url, 'v0.1.0', source.push(url, { 'pay.yaml': api('0.1.0') }));
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await unfollow(registry, 'acme', repositoryId(url, null), author);
    await follow(registry, 'acme', { ...followed, gone: null });
    await importIt({ tags: 'v*' });
    expect((await versions()).map(([label]) => label)).toEqual(['0.1.0', '1.0.0']);
  });

  test('what a tag cannot give is told as it happens, not only counted', async () => {
    const { source, sync, importIt } = await open();
    const none = source.push(url, { 'README.md': 'x' });
    source.push(url, { 'pay.yaml': api('dev') });
    source.tag(url, 'v3.0.0', none);
    await sync();
    const told: (string | null)[] = [];
    await importIt({ tags: 'v*', onProgress: ({ document }) => void (document && told.push(document.detail)) });
    expect(told).toEqual(['Tag v3.0.0 does not contain pay.yaml.']);
  });

  test('broken off, it goes on where it was; repeated, it does nothing', async () => {
    const { source, sync, importIt, versions, compiler } = await open();
    for (let n = 1; n <= 50; n++) source.push(url, { 'pay.yaml': api(`1.0.${n}`) });
    await sync();
    const stop = new AbortController();
    const broken = importIt(
      { eachChange: true, onProgress: ({ done }) => done === 30 && stop.abort(new Error('stop')) },
      stop.signal,
    );
    await expect(broken).rejects.toThrow('stop');
    expect(await versions()).toHaveLength(31);
    compiler.compiled.length = 0;
    await importIt({ eachChange: true });
    expect(await versions()).toHaveLength(50);
    expect(compiler.compiled).toHaveLength(30);
    compiler.compiled.length = 0;
    expect((await importIt({ eachChange: true })).documents).toEqual([]);
    expect(compiler.compiled).toEqual([]);
  });

  test('a resource that was made empty is imported into once it is connected, also when that is broken off', async () => {
    const { source, sync, importIt, versions, registry } = await open();
    await expect(importIt({ eachChange: true })).rejects.toThrow('@acme/apis/pay does not exist.');
    await createResource(registry, pay, { name: 'pay' }, author);
    await expect(importIt({ eachChange: true })).rejects.toThrow(
      '@acme/apis/pay is not connected to a repository. Connect it, and run stele sync.',
    );
    const connection = { repository: url, branch: null, path: 'pay.yaml', tags: null, onConflict: 'revise', credential: null } as const; // prettier-ignore
    await updateRecord(registry, pay, author, null, (current) => ({ next: { ...current, connection }, action: 'connect' })); // prettier-ignore
    for (const version of ['1.0.0', '1.1.0']) source.push(url, { 'pay.yaml': api(version) });
    source.push(url, { 'pay.yaml': api('2.0.0', 'broken: true') });
    await sync();
    expect(await versions()).toEqual([]);
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('stop'));
    await expect(importIt({ eachChange: true, onProgress }, stop.signal)).rejects.toThrow('stop');
    const told = (await importIt({ eachChange: true })).documents.map(({ outcome, label }) => [outcome, label]);
    expect(told).toEqual([['unchanged', '1.0.0'], ['published', '1.1.0'], ['rejected', null]]); // prettier-ignore
  });

  test('tags become versions under their names, oldest first; what cannot be one is reported', async () => {
    const { source, sync, importIt, versions, latest } = await open();
    const first = source.push(url, { 'pay.yaml': api('dev') });
    const second = source.push(url, { 'pay.yaml': api('dev', 'x-a: 1') });
    const none = source.push(url, { 'README.md': 'x' }, { branch: 'other' });
    source.push(url, { 'pay.yaml': api('dev', 'x-a: 2') });
    source.tag(url, 'v2.0.0', second);
    source.tag(url, 'v10.0.0', first);
    source.tag(url, 'v3.0.0', none);
    await sync();
    const run = await importIt({ tags: 'v*', latest: 'rule' });
    expect(run.documents.map(({ outcome, label, detail }) => [outcome, label ?? detail])).toEqual([
      ['conflict', 'Tag v3.0.0 does not contain pay.yaml.'],
      ['published', '10.0.0'],
      ['published', '2.0.0'],
    ]);
    expect((await versions()).map(([label]) => label)).toEqual(['10.0.0', '2.0.0', 'dev']);
    expect(await latest()).toBe('10.0.0');
  });

  test('a rejected commit is reported and skipped', async () => {
    const { source, sync, importIt, versions } = await open();
    source.push(url, { 'pay.yaml': `${api('0.9.0')}broken: true` });
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const run = await importIt({ eachChange: true });
    expect(run.documents).toMatchObject([{ outcome: 'rejected' }, { outcome: 'unchanged' }]);
    expect(await versions()).toHaveLength(1);
  });

  test('a past commit without a date that can be read does not become latest', async () => {
    const { source, sync, importIt, versions, latest } = await open();
    const first = source.push(url, { 'pay.yaml': api(null) }, { committedAt: null });
    source.push(url, { 'pay.yaml': api(null, 'x-a: 1') });
    await sync();
    await importIt({ eachChange: true });
    expect((await versions()).map(([label]) => label)).toEqual([`0.0.0-00000000000000-${first.slice(0, 12)}`, '1.0.0']);
    expect(await latest()).toBe('1.0.0');
  });

  test('of equal versions, one without a date that can be read comes before all others', async () => {
    const { source, sync, importIt, versions, latest } = await open();
    const first = source.push(url, { 'pay.yaml': api('1.0.0') }, { committedAt: null });
    source.push(url, { 'pay.yaml': api('1.0.0', 'x-a: 1') });
    await sync();
    await importIt({ eachChange: true });
    expect((await versions()).map(([label]) => label)).toEqual([`1.0.0+${first.slice(0, 7)}`, '1.0.0']);
    expect(await latest()).toBe('1.0.0');
  });

  test('commits of one second, as after a rebase, stand in the order of their versions', async () => {
    const { source, sync, importIt, registry } = await open();
    const committedAt = '2025-01-01T00:00:00Z';
    for (const version of ['1.0.0', '1.1.0', '2.0.0', '2.1.0'])
      source.push(url, { 'pay.yaml': api(version, `x-a: ${version}`) }, { committedAt });
    await sync();
    await importIt({ eachChange: true });
    const resource = (await findResource(registry, pay))!;
    expect(resource.versions.map(({ label }) => label)).toEqual(['1.0.0', '1.1.0', '2.0.0', '2.1.0']);
    expect(comparedWith(resource, findVersion(resource, '2.1.0')!)?.label).toBe('2.0.0');
  });

  test('an import of all follows one of the last days: what that left out is brought in', async () => {
    const { source, sync, importIt, versions } = await open();
    for (let n = 1; n <= 4; n++) source.push(url, { 'pay.yaml': api(`1.0.${n}`) });
    await sync();
    await importIt({ eachChange: true, since: '2025-01-01T00:03:00Z' });
    expect(await versions()).toHaveLength(2);
    await importIt({ eachChange: true });
    expect(await versions()).toHaveLength(4);
  });

  test('what was refused is tried again by another import, once its ruleset lets it pass', async () => {
    const { source, sync, importIt, versions, registry } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    source.push(url, { 'pay.yaml': api('1.1.0', 'ok: true') });
    await sync();
    const rules = { 'r.yaml': 'rules: {}', 'pay.yaml': api('1.1.0', 'ok: true') };
    source.push(url, rules);
    await sync();
    const [name] = (await Array.fromAsync(registry.refs.list('resources/acme/rulesets/'))).map((ref) =>
      ref.replace('resources/', '@'),
    );
    const gate = (ruleset: string | null) =>
      updateRecord(
        registry,
        pay,
        { actor: 'operator:test', origin: null },
        () => undefined,
        (current) => ({ next: { ...current, ruleset }, action: 'change' }),
      );
    await gate(name!);
    expect((await importIt({ eachChange: true })).documents[0]).toMatchObject({ outcome: 'rejected' });
    await gate(null);
    await importIt({ eachChange: true });
    expect((await versions()).map(([label]) => label)).toEqual(['1.0.0', '1.1.0']);
  });

  test.each(['fail', 'fail-after'] as const)(
    'any one write that goes wrong (%s) is made good by the next import',
    async (kind) => {
      for (let step = 0; step < 60; step += 3) {
        const { source, sync, importIt, versions, latest, bucket } = await open();
        for (let n = 1; n <= 5; n++) source.push(url, { 'pay.yaml': api('1.0.0', `x-a: ${n}`) });
        await sync();
        let seen = 0;
        bucket.fault('putIfAbsent', kind, { count: 3, when: () => ++seen > step && seen <= step + 3 });
        for (let tries = 0; tries < 4; tries++) await importIt({ eachChange: true }).catch(() => 'broken off');
        const dates = (await versions()).map(([, at]) => at!);
        expect(dates).toEqual(dates.toSorted());
        expect(dates).toHaveLength(5);
        expect(await latest()).toBe('1.0.0');
      }
    },
  );

  test('two processes that import and sync the same at once end as one would', async () => {
    const { source, sync, versions, latest, another, registry } = await open();
    for (let n = 1; n <= 12; n++) source.push(url, { 'pay.yaml': api('1.0.0', `x-a: ${n}`) });
    await sync();
    const other = another();
    const queue = createSyncQueue(other, createPulls);
    source.push(url, { 'pay.yaml': api('1.1.0') });
    const options = { tags: null, eachChange: true, since: null };
    const never = new AbortController().signal;
    await Promise.all([
      importHistory(registry, pay, options, never),
      importHistory(other, pay, options, never),
      queue.request('acme', repositoryId(url, null), 'manual').then(({ done }) => done),
      sync(),
    ]);
    await queue.close();
    const dates = (await versions()).map(([, at]) => at!);
    expect(dates).toHaveLength(13);
    expect(dates).toEqual(dates.toSorted());
    expect(await latest()).toBe('1.1.0');
  });
});

/** `v1.0.1` to `v1.0.<count>`, each with a document of its own, and the branch at 2.0.0. */
async function openTagged(count: number, include: string | null = null) {
  const world = await open();
  const more = include === null ? '' : `include: [${include}]`;
  for (let n = 1; n <= count; n++) {
    const parts = include === null ? {} : { [include]: `a: ${n}` };
    world.source.tag(url, `v1.0.${n}`, world.source.push(url, { 'pay.yaml': api(`1.0.${n}`, more), ...parts }));
  }
  const parts = include === null ? {} : { [include]: 'a: 0' };
  world.source.push(url, { 'pay.yaml': api('2.0.0', more), ...parts });
  await world.sync();
  world.compiler.compiled.length = 0;
  return world;
}

describe('importing tags', () => {
  test('a second import compiles nothing, and says how many tags were imported before', async () => {
    const { importIt, compiler, versions } = await openTagged(30);
    await importIt({ tags: 'v*' });
    expect(await versions()).toHaveLength(31);
    compiler.compiled.length = 0;
    const told: unknown[] = [];
    const run = await importIt({ tags: 'v*', onProgress: (progress) => told.push(progress) });
    expect(compiler.compiled).toEqual([]);
    expect(run.documents).toEqual([]);
    expect(told).toEqual([{ done: 30, total: 30, document: null }]);
  });

  test('broken off, the next import goes on with the tags that are left', async () => {
    const { importIt, compiler, versions } = await openTagged(30);
    const stop = new AbortController();
    const onProgress: ImportOptions['onProgress'] = ({ done, document }) =>
      document !== null && done === 25 && stop.abort(new Error('stop'));
    await expect(importIt({ tags: 'v*', onProgress }, stop.signal)).rejects.toThrow('stop');
    expect(await versions()).toHaveLength(26);
    compiler.compiled.length = 0;
    await importIt({ tags: 'v*' });
    expect(await versions()).toHaveLength(31);
    expect(compiler.compiled).toHaveLength(5);
  });

  test('two processes that import the same tags at once compile each of them once', async () => {
    const { registry, another, compiler, versions } = await openTagged(10);
    const options = { tags: 'v*', eachChange: false, since: null };
    const never = new AbortController().signal;
    const imports = [registry, another()].map((each) => importHistory(each, pay, options, never));
    const documents = (await Promise.all(imports)).map((run) => run.documents.length);
    expect(documents.toSorted()).toEqual([0, 10]);
    expect(await versions()).toHaveLength(11);
    expect(compiler.compiled).toHaveLength(10);
  });

  test('a tag that was refused is read again only when its ruleset is another', async () => {
    const { source, sync, importIt, compiler, registry } = await open();
    source.tag(url, 'v0.9.0', source.push(url, { 'pay.yaml': `${api('0.9.0')}broken: true` }));
    source.push(url, { 'pay.yaml': api('1.0.0'), 'r.yaml': 'rules: {}' });
    await sync();
    expect((await importIt({ tags: 'v*' })).documents).toMatchObject([{ outcome: 'rejected' }]);
    compiler.compiled.length = 0;
    expect((await importIt({ tags: 'v*' })).documents).toEqual([]);
    expect(compiler.compiled).toEqual([]);
    const [ruleset] = (await Array.fromAsync(registry.refs.list('resources/acme/rulesets/'))).map((ref) =>
      ref.replace('resources/', '@'),
    );
    const change = (current: Resource) => ({ next: { ...current, ruleset: ruleset! }, action: 'change' });
    await updateRecord(registry, pay, author, () => undefined, change);
    expect((await importIt({ tags: 'v*' })).documents).toMatchObject([{ outcome: 'rejected' }]);
    expect(compiler.compiled).not.toEqual([]);
  });

  test('tags with the same files are compiled once', async () => {
    const { source, sync, importIt, compiler, versions } = await open();
    for (let n = 1; n <= 6; n++) {
      const files = { 'pay.yaml': api('1.0.0', 'include: [part.yaml]'), 'part.yaml': `a: ${Math.ceil(n / 3)}` };
      source.tag(url, `v1.0.${n}`, source.push(url, { ...files, 'README.md': `${n}` }));
    }
    source.push(url, { 'pay.yaml': api('2.0.0') });
    await sync();
    compiler.compiled.length = 0;
    await importIt({ tags: 'v*' });
    expect(await versions()).toHaveLength(7);
    expect(compiler.compiled).toHaveLength(2);
  });

  test('as many documents are compiled at once as there are processors; versions are published in order', async () => {
    const { importIt, registry, compiler } = await openTagged(12);
    let [running, most] = [0, 0];
    registry.compiler = {
      ...compiler,
      async compile(...given) {
        most = Math.max(most, ++running);
        await new Promise(setImmediate);
        return compiler.compile(...given).finally(() => running--);
      },
    };
    const run = await importIt({ tags: 'v*' });
    expect(most).toBe(Math.min(12, availableParallelism()));
    expect(run.documents.map(({ label }) => label)).toEqual(Array.from({ length: 12 }, (_, n) => `1.0.${n + 1}`));
  });

  test('the files of all tags are fetched in one request, also those that the document refers to', async () => {
    const { importIt, source } = await openTagged(12, 'part.yaml');
    const fetched: (readonly string[])[] = [];
    source.bringBlobs = async (_remote, _commit, blobs) => void fetched.push(blobs);
    await importIt({ tags: 'v*' });
    expect(fetched).toHaveLength(1);
    expect(fetched[0]).toHaveLength(24);
  });

  test('the repository is synced while an import is under way', async () => {
    const { source, sync, importIt, registry, compiler, latest } = await openTagged(3);
    const started = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    registry.compiler = {
      ...compiler,
      async compile(...given) {
        started.resolve();
        await held.promise;
        return compiler.compile(...given);
      },
    };
    const importing = importIt({ tags: 'v*' });
    await started.promise;
    registry.compiler = compiler;
    source.push(url, { 'pay.yaml': api('3.0.0') });
    expect((await sync()).state).toBe('succeeded');
    expect(await latest()).toBe('3.0.0');
    held.resolve();
    expect((await importing).documents).toHaveLength(3);
    expect(await latest()).toBe('3.0.0');
  });

  test('a tag whose label the branch took becomes a revision, and the import says why', async () => {
    const { source, sync, importIt, versions } = await open();
    const release = source.push(url, { 'pay.yaml': api('1.5.0') });
    source.tag(url, 'v1.5.0', release);
    source.push(url, { 'pay.yaml': api('1.5.0', 'x-a: 1') });
    await sync();
    const label = `1.5.0+${release.slice(0, 7)}`;
    expect((await importIt({ tags: 'v*' })).documents).toMatchObject([
      {
        outcome: 'published',
        label,
        detail: `Version 1.5.0 was published first, with other content, so tag v1.5.0 became ${label}.`,
      },
    ]);
    expect((await versions()).map(([each]) => each)).toEqual([label, '1.5.0']);
  });

  test('a tag that moved since it was imported changes nothing, and the import says so', async () => {
    const { source, importIt, versions } = await openTagged(2);
    await importIt({ tags: 'v*' });
    const other = source.push(url, { 'pay.yaml': api('1.0.1', 'x-a: 1') }, { branch: 'other' });
    source.tag(url, 'v1.0.1', other);
    const { documents } = await importIt({ tags: 'v*' });
    expect(documents).toMatchObject([
      { outcome: 'conflict', detail: expect.stringContaining('Tag v1.0.1 was moved') as string },
    ]);
    expect(await versions()).toHaveLength(3);
  });
});

describe('latest after an import', () => {
  /** The branch is at `dev`; the release v1.0.0 is older. */
  async function openDev() {
    const world = await open();
    world.source.tag(url, 'v1.0.0', world.source.push(url, { 'pay.yaml': api('dev') }));
    world.source.push(url, { 'pay.yaml': api('dev', 'x-a: 1') });
    await world.sync();
    return world;
  }

  test('an import that would move latest to something older asks first, and imports nothing', async () => {
    const { importIt, versions, latest } = await openDev();
    await expect(importIt({ tags: 'v*' })).rejects.toThrow(
      'The import would move latest back from dev (2025-01-01) to 1.0.0 (2025-01-01). Nothing was imported.',
    );
    expect(await versions()).toHaveLength(1);
    expect(await latest()).toBe('dev');
  });

  test('--latest keep leaves latest where it is, for later publishes too', async () => {
    const { source, sync, importIt, versions, latest } = await openDev();
    expect((await importIt({ tags: 'v*', latest: 'keep' })).documents).toMatchObject([
      { label: '1.0.0', detail: 'Latest stays dev, because the commit of tag v1.0.0 is older.' },
    ]);
    expect(await versions()).toHaveLength(2);
    expect(await latest()).toBe('dev');
    source.push(url, { 'pay.yaml': api('dev2', 'x-a: 2') });
    await sync();
    expect(await latest()).toBe('dev2');
  });

  test('--latest rule moves it', async () => {
    const { importIt, latest } = await openDev();
    await importIt({ tags: 'v*', latest: 'rule' });
    expect(await latest()).toBe('1.0.0');
  });

  test('an import that moves latest to something newer does not ask', async () => {
    const { source, importIt, latest } = await openDev();
    source.tag(url, 'v2.0.0', source.push(url, { 'pay.yaml': api('dev', 'x-a: 2') }, { branch: 'release' }));
    await importIt({ tags: 'v*' });
    expect(await latest()).toBe('2.0.0');
  });
});
