import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Hint } from '../../src/hosts/host.ts';
import { pullRef, type PullCheck } from '../../src/model/check.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { hookSecrets } from '../../src/sync/receive-hook.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { follow, listRepositories } from '../../src/sync/follow.ts';
import { findResource } from '../../src/registry/lives.ts';
import { api, id, open, seven, url, waitFor } from './pulls-scene.ts';

afterEach(() => void vi.useRealTimers());

describe('pull requests', () => {
  test('a mistake in stele.yaml is reported at its line, and what follows from an entry names its place', async () => {
    const { source, sync, hook, checked, host } = await open();
    source.push(url, { 'stele.yaml': 'resources:\n  - {path: pay.yaml, slug: pay}\n', 'pay.yaml': api('1.0.0') });
    await sync();
    const settings = `resources:
  - path: pay.yaml
    slug: pay
    version: { file: VERSION }
  - path: gone.yaml
`;
    const head = source.push(url, { 'stele.yaml': settings, 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
    await checked(head);
    await waitFor(() => expect(host.told.filter(({ commit }) => commit === head)).toHaveLength(3));
    const done = host.told.filter(({ state, commit }) => commit === head && state !== 'running');
    expect(done.find(({ name }) => name === 'stele')).toMatchObject({
      state: 'failure',
      annotations: [{ path: 'stele.yaml', line: 5, column: 5, message: '"gone.yaml": There is no gone.yaml.' }],
    });
    expect(done.find(({ name }) => name === 'stele @acme/apis/pay')).toMatchObject({
      state: 'failure',
      title: expect.stringMatching(/^stele\.yaml:2:5 Cannot read the version from VERSION\./) as string,
    });
  });

  test('a pull request is compiled, compared and reported, and nothing is published', async () => {
    const { source, sync, hook, checked, host, registry } = await open();
    const get = 'paths: {/a: {get: {x: 1}}, /b: {get: {}}}';
    source.push(url, { 'pay.yaml': api('1.0.0', get), 'same.yaml': api('3.0.0').replace('Pay', 'Same') });
    await sync();
    await waitFor(() => expect(host.told).toHaveLength(2));
    host.told.length = 0;
    const head = source.push(
      url,
      {
        'pay.yaml': api('1.1.0', 'paths: {/a: {get: {x: 2}}, /c: {post: {}}}'),
        'same.yaml': api('3.0.0').replace('Pay', 'Same'),
        'bad.yaml': `${api('1.0.0').replace('Pay', 'Bad')}broken: true`,
      },
      { branch: 'refs/pull/7/head' },
    );
    expect(await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true })).toBe(1);
    await checked(head);
    await waitFor(() => expect(host.told).toHaveLength(4));
    const [running, ...told] = host.told;
    expect(running).toMatchObject({ name: 'stele', state: 'running', commit: head });
    expect(told.map(({ name, state, title, commit }) => [name, state, title, commit])).toEqual([
      ['stele @acme/apis/bad', 'failure', '1 problem', head],
      ['stele @acme/apis/pay', 'success', 'Would be published as 1.1.0, 1 breaking change since 1.0.0', head],
      ['stele', 'failure', '1 of 2 would be rejected, 1 breaking change', head],
    ]);
    expect(told[0]!.annotations).toMatchObject([{ path: 'bad.yaml', line: 1, severity: 'error' }]);
    const { summary, url: page } = told[1]!;
    expect(page).toMatch(/^https:\/\/r\.test\/previews\/[0-9a-z]{9}-[0-9a-f]{32}$/);
    for (const part of [
      '**Breaking changes: 1 breaking, 1 cannot be judged, 1 safe**, compared with `1.0.0`, the highest release below it.',
      '**Breaking: 1**',
      'GET /b was removed.',
      'GET /a has another',
      'POST /c was added.',
    ])
      expect(summary).toContain(part);
    const pay = await findResource(registry, { org: 'acme', type: 'apis', slug: 'pay' });
    expect(pay?.versions.map(({ label }) => label)).toEqual(['1.0.0']);
    expect(await findResource(registry, { org: 'acme', type: 'apis', slug: 'bad' })).toBeNull();
  });

  test('one for an older line is compared with that line, and not with the latest version', async () => {
    const { source, sync, hook, checked, host } = await open();
    for (const [version, paths] of [
      ['1.0.0', 'paths: {/a: {get: {}}}'],
      ['2.0.0', 'paths: {}'],
    ] as const) {
      source.push(url, { 'pay.yaml': api(version, paths) });
      await sync();
    }
    const patched = { 'pay.yaml': api('1.0.1', 'paths: {/a: {get: {}}, /b: {get: {}}}') };
    const head = source.push(url, patched, { branch: 'refs/pull/7/head' });
    await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
    await checked(head);
    await waitFor(() => expect(host.told.map(({ name }) => name)).toContain('stele @acme/apis/pay'));
    const told = host.told.findLast(({ name, commit }) => name === 'stele @acme/apis/pay' && commit === head);
    expect(told?.summary).toContain('compared with `1.0.0`, the highest release below it.');
  });

  test('the same delivery again does nothing; a new push is checked again; a closed one is left alone', async () => {
    const { source, sync, hook, checked, host, compiler, state } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const pull: Hint = { kind: 'pull', repository: 'ACME/apis', pull: seven, isOpen: true };
    const first = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(pull);
    await checked(first);
    const { length } = compiler.compiled;
    await Promise.all([hook(pull), hook(pull), hook(pull)]);
    const second = source.push(url, { 'pay.yaml': api('1.2.0') }, { branch: 'refs/pull/7/head' });
    await hook(pull);
    await checked(second);
    expect(compiler.compiled).toHaveLength(length + 1);
    await hook({ ...pull, isOpen: false });
    expect(await state()).toMatchObject({ state: 'closed' });
    expect(host.told.at(-1)).toMatchObject({ commit: second });
  });

  test('a newer head replaces the one that is being checked, and is reported to the host', async () => {
    const { source, sync, hook, checked, host, registry } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const pull: Hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true };
    const first = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    const held = Promise.withResolvers<void>();
    const compile = registry.compiler.compile.bind(registry.compiler);
    let isHeld = false;
    registry.compiler.compile = async (input, load, turn) => {
      if (!isHeld) {
        isHeld = true;
        turn?.signal?.addEventListener('abort', () => held.reject(turn.signal!.reason as Error));
        await held.promise;
      }
      return compile(input, load, turn);
    };
    await hook(pull);
    await waitFor(() => expect(isHeld).toBe(true));
    const second = source.push(url, { 'pay.yaml': api('1.2.0') }, { branch: 'refs/pull/7/head' });
    await hook(pull);
    await checked(second);
    await waitFor(() =>
      expect(host.told).toContainEqual(expect.objectContaining({ commit: first, state: 'cancelled' })),
    );
    expect(host.told.filter(({ commit, state }) => commit === first && state === 'success')).toEqual([]);
  });

  test('a request without a hook is found when the host is asked, and what a crash left undone is taken up', async () => {
    const { source, sync, host, queue, checked, another } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    host.open = [seven, { number: 8, base: 'main', ref: null }];
    const repository = { url, branch: null, credential: 'git', org: 'acme' };
    await queue.reconcileHosts([repository as never]);
    await checked(head);
    host.open = [];
    const next = source.push(url, { 'pay.yaml': api('1.2.0') }, { branch: 'refs/pull/7/head' });
    const other = another();
    await other.refs.update<PullCheck>(pullRef('acme', id, seven), (current) => ({
      value: { ...current!.value, state: 'wanted' },
      change: { actor: 'operator:test', origin: null, action: 'test' },
    }));
    await createSyncQueue(other, createPulls).reconcileHosts([]);
    await waitFor(async () =>
      expect((await other.refs.read<PullCheck>(pullRef('acme', id, seven)))!.value).toMatchObject({ head: next }),
    );
  });

  test('a request that was closed without a hook is closed once the host lists it no more, twice in turn', async () => {
    const { source, sync, host, queue, checked, state } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    const look = () => queue.reconcileHosts([{ url, branch: null, credential: 'git', org: 'acme' } as never]);
    host.open = [seven];
    await look();
    await checked(head);
    host.open = [];
    // Pages shift while they are read.
    await look();
    expect(await state()).toMatchObject({ state: 'checked' });
    host.open = [seven];
    await look();
    host.open = [];
    host.isComplete = false;
    for (let n = 0; n < 3; n++) await look();
    host.isComplete = true;
    await look();
    expect(await state()).toMatchObject({ state: 'checked' });
    await look();
    expect(await state()).toMatchObject({ state: 'closed' });
    const { length } = host.told;
    source.push(url, { 'pay.yaml': api('1.2.0') });
    await sync();
    await queue.close();
    expect(host.told.slice(length).filter(({ commit }) => commit === head)).toEqual([]);
  });

  test('a push to a pull request that was checked is written down before the hook is answered', async () => {
    const { source, sync, hook, checked, queue, another, state } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const pull: Hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true };
    const first = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    await hook(pull);
    await checked(first);
    const second = source.push(url, { 'pay.yaml': api('1.2.0') }, { branch: 'refs/pull/7/head' });
    source.setReachable(false);
    await hook(pull);
    expect(await state()).toMatchObject({ state: 'wanted', head: first });
    await queue.close();
    source.setReachable(true);
    const other = another();
    await createSyncQueue(other, createPulls).reconcileHosts([]);
    await waitFor(async () =>
      expect((await other.refs.read<PullCheck>(pullRef('acme', id, seven)))!.value).toMatchObject({
        state: 'checked',
        head: second,
      }),
    );
  });

  test('a pull request into another branch, and a fork that cannot be fetched, are passed over', async () => {
    const { registry, source, queue, host } = await open();
    const given = { url, credential: 'git', visibility: 'public', validation: 'lenient', discover: '' } as const;
    await follow(registry, 'acme', { ...given, branch: 'release' });
    source.push(url, { 'README.md': 'Nothing yet' });
    source.push(url, { 'pay.yaml': api('1.0.0') }, { branch: 'refs/pull/7/head' });
    await queue.check('acme', repositoryId(url, 'release'), seven, true);
    await queue.check('acme', id, { ...seven, ref: null }, true);
    await queue.close();
    expect(host.told).toEqual([]);
    expect(await registry.refs.read(pullRef('acme', id, seven))).toBeNull();
  });
});

describe('with no branch in the configuration', () => {
  test('a pull request into another branch than HEAD is not checked, and the next look writes nothing', async () => {
    const { source, sync, queue, host, registry, state } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await waitFor(() => expect(host.told).toHaveLength(1));
    source.push(url, { 'pay.yaml': api('1.0.1') }, { branch: 'refs/pull/7/head' });
    const stacked = { ...seven, base: 'release/1.x' };
    await queue.check('acme', id, stacked, true);
    await waitFor(async () => expect(await state()).toMatchObject({ state: 'checked', head: null }));
    expect((await state())!.detail).toContain('into release/1.x. Stele publishes from main');
    expect(host.told).toHaveLength(1);
    const generation = async () => (await registry.refs.read(pullRef('acme', id, seven)))!.generation;
    const before = await generation();
    host.open = [stacked];
    await queue.reconcileHosts(await listRepositories(registry));
    await sync();
    await queue.close();
    expect(await generation()).toBe(before);
    expect(host.told.filter(({ state: each }) => each === 'running')).toEqual([]);
  });

  test('one that is moved to another branch says that it is not checked; moved back, it is checked', async () => {
    const { source, sync, queue, host, checked, state } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    const head = source.push(url, { 'pay.yaml': api('1.0.1') }, { branch: 'refs/pull/7/head' });
    await queue.check('acme', id, seven, true);
    await checked(head);
    await queue.check('acme', id, { ...seven, base: 'next' }, true);
    const last = (name: string) => host.told.findLast((check) => check.commit === head && check.name === name);
    for (const name of ['stele', 'stele @acme/apis/pay'])
      await waitFor(() => expect(last(name)).toMatchObject({ state: 'neutral', title: 'Not checked' }));
    expect(await state()).toMatchObject({ checks: [] });
    await queue.check('acme', id, seven, true);
    await checked(head);
    await waitFor(() => expect(last('stele')).toMatchObject({ state: 'success' }));
  });
});

describe('telling hosts', () => {
  test('a host that is back is told when the next try is due, and not at the next interval', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { source, sync, host, queue, pass, events } = await open();
    const failures = () => events.filter(({ event }) => event === 'checks not reported').length;
    host.failures = 2;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    for (const [count, seconds] of [
      [1, 10],
      [2, 20],
    ] as const) {
      await expect.poll(failures).toBe(count);
      await setImmediate();
      expect(host.told).toEqual([]);
      pass(seconds * 1000);
      vi.advanceTimersByTime(seconds * 1000);
    }
    await expect.poll(() => host.told).toMatchObject([{ name: 'stele @acme/apis/pay', state: 'success' }]);
    await queue.close();
  });

  test('a queue that was closed tells a host nothing that was due later', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { source, sync, host, queue, pass, events } = await open();
    host.failures = 1;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await expect.poll(() => events.map(({ event }) => event)).toContain('checks not reported');
    await setImmediate();
    await queue.close();
    pass(3_600_000);
    vi.advanceTimersByTime(3_600_000);
    for (let turns = 0; turns < 20; turns++) await setImmediate();
    expect(host.told).toEqual([]);
  });

  test('a pull request whose repository did not answer is looked at again soon', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { source, hook, host, queue, pass, events } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: 'refs/pull/7/head' });
    source.setReachable(false);
    await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
    await expect.poll(() => events.map(({ event }) => event)).toContain('check of a pull request failed');
    await setImmediate();
    source.setReachable(true);
    pass(10_000);
    vi.advanceTimersByTime(10_000);
    await expect.poll(() => host.told.at(-1)).toMatchObject({ state: 'success' });
    await queue.close();
  });

  test('a report to a host that does not answer is sent later, once, by whichever process comes first', async () => {
    const { source, sync, host, another, pass, events } = await open();
    host.failures = 1;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await waitFor(() => expect(events.some(({ event }) => event === 'checks not reported')).toBe(true));
    expect(host.told).toEqual([]);
    pass(10 * 60_000);
    const queues = [createSyncQueue(another(), createPulls), createSyncQueue(another(), createPulls)];
    const repository = { url, branch: null, credential: 'git', org: 'acme' } as never;
    await Promise.all(queues.map((queue) => queue.reconcileHosts([repository])));
    await waitFor(() => expect(host.told).toHaveLength(1));
    expect(host.told).toMatchObject([{ name: 'stele @acme/apis/pay', state: 'success', title: 'Published as 1.0.0' }]);
    pass(10 * 60_000);
    await queues[0]!.reconcileHosts([repository]);
    await Promise.all(queues.map((queue) => queue.close()));
    expect(host.told).toHaveLength(1);
  });

  test('a report to a host that did not answer is sent also after the clock was set back', async () => {
    const { source, sync, host, queue, pass, events } = await open();
    host.failures = 1;
    source.push(url, { 'pay.yaml': api('1.0.0') });
    await sync();
    await waitFor(() => expect(events.some(({ event }) => event === 'checks not reported')).toBe(true));
    pass(-7 * 24 * 60 * 60_000);
    await queue.reconcileHosts([{ url, branch: null, credential: 'git', org: 'acme' } as never]);
    await waitFor(() => expect(host.told).toHaveLength(1));
  });
});

describe('hooks', () => {
  test('a push hook makes the wish durable and syncs; one for a repository that nobody follows does nothing', async () => {
    const { source, hook, registry } = await open();
    source.push(url, { 'pay.yaml': api('1.0.0') });
    expect(await hook({ kind: 'push', repository: 'acme/others' })).toBe(0);
    expect(await hook({ kind: 'nothing', event: 'ping' })).toBe(0);
    expect(await hook({ kind: 'push', repository: 'Acme/APIs' })).toBe(1);
    expect(await Array.fromAsync(registry.refs.list('runs/acme/'))).toHaveLength(1);
    await waitFor(async () =>
      expect(await findResource(registry, { org: 'acme', type: 'apis', slug: 'pay' })).toMatchObject({
        latest: '1.0.0',
      }),
    );
  });

  test("without a secret nothing is genuine; a connection's own are its own alone", async () => {
    const { registry } = await open();
    expect(await hookSecrets(registry, 'github', null)).toEqual([]);
    expect(await hookSecrets(registry, 'github', { org: 'acme', id })).toEqual([]);
    expect(await hookSecrets(registry, 'github', { org: 'nobody', id })).toEqual([]);
  });
});
