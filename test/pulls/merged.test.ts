import { expect, test, vi } from 'vitest';
import { type Check, pullRef } from '../../src/model/check.ts';
import { repositoryRef, type Repository } from '../../src/model/connection.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { api, id, open, seven, url, waitFor } from './pulls-scene.ts';

type Scene = Awaited<ReturnType<typeof open>>;
const branch = 'refs/pull/7/head';

/** Checks the pull request, and gives what its host was told of it at last, by the check's name. */
async function check({ hook, checked, host, queue }: Scene, head: string): Promise<Record<string, Check>> {
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  return told({ host, queue } as Scene, head);
}

async function told({ host }: Scene, head: string): Promise<Record<string, Check>> {
  const ended = () => host.told.filter(({ commit, state }) => commit === head && state !== 'running');
  await waitFor(() => expect(ended().some(({ name }) => name === 'stele')).toBe(true));
  return Object.fromEntries(ended().map((each) => [each.name, each]));
}

test('a file that main has fixed since is not reported on an unrelated pull request', async () => {
  const scene = await open();
  const { source, sync } = scene;
  source.push(url, { 'pay.yaml': `${api('1.0.0')}broken: true`, 'README.md': '1' });
  await sync();
  const head = source.push(url, { 'pay.yaml': `${api('1.0.0')}broken: true`, 'README.md': '2' }, { branch });
  source.push(url, { 'pay.yaml': api('1.0.0'), 'README.md': '1' });
  await sync();
  const checks = await check(scene, head);
  expect(Object.keys(checks)).toEqual(['stele']);
  expect(checks['stele']).toMatchObject({ state: 'success', title: 'Nothing to publish' });
});

test('a file that the request never changed is not said to be published, whatever the registry has of it', async () => {
  const scene = await open();
  const { source, hook, checked, host } = scene;
  const files = { 'pay.yaml': api('1.0.0'), 'bad.yaml': `${api('1.0.0').replace('Pay', 'Bad')}broken: true` };
  // No sync has read the branch yet.
  source.push(url, files);
  const head = source.push(url, { ...files, 'notes.txt': 'n' }, { branch });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  const checks = await told(scene, head);
  expect(Object.values(checks).map(({ name, title }) => [name, title])).toEqual([['stele', 'Nothing to publish']]);
  expect(host.told.some(({ state }) => state === 'failure')).toBe(false);
});

test('the slug that is foretold is the one that the merge gives', async () => {
  const scene = await open();
  const { source, sync, registry } = scene;
  source.push(url, { 'README.md': '1' });
  await sync();
  const head = source.push(url, { 'README.md': '1', 'a.yaml': api('1.0.0') }, { branch });
  // Main has a document of the same title by now, which the registry has not seen.
  source.push(url, { 'README.md': '1', 'z.yaml': api('2.0.0') });
  const foretold = Object.keys(await check(scene, head)).filter((name) => name !== 'stele');
  await sync();
  source.push(url, { 'README.md': '1', 'z.yaml': api('2.0.0'), 'a.yaml': api('1.0.0') });
  await sync();
  const { documents } = (await registry.refs.read<Repository>(repositoryRef('acme', id)))!.value;
  expect(documents['z.yaml']!.resource).toBe('@acme/apis/pay');
  expect(foretold).toEqual([`stele ${documents['a.yaml']!.resource}`]);
});

test('a document is touched through the files that it refers to', async () => {
  const scene = await open();
  const { source, sync } = scene;
  const pay = api('1.0.0', 'include: [shared.txt]');
  const files = { 'pay.yaml': pay, 'shared.txt': 'a', 'other.yaml': api('1.0.0').replace('Pay', 'Other') };
  source.push(url, files);
  await sync();
  const head = source.push(url, { ...files, 'shared.txt': 'b' }, { branch });
  expect(Object.keys(await check(scene, head))).toEqual(['stele @acme/apis/pay', 'stele']);
});

test('a document is touched through references that no sync has seen', async () => {
  const scene = await open();
  const { source, hook, checked } = scene;
  const files = { 'pay.yaml': api('1.0.0', 'include: [shared.txt]'), 'shared.txt': 'a' };
  source.push(url, files);
  const head = source.push(url, { ...files, 'shared.txt': 'b' }, { branch });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true });
  await checked(head);
  expect(Object.keys(await told(scene, head))).toEqual(['stele @acme/apis/pay', 'stele']);
});

test('a document is touched through its ruleset in the same request, which checks it as it would be', async () => {
  const scene = await open();
  const { source, sync, registry } = scene;
  const files = {
    'pay.yaml': api('1.0.0'),
    'style.yaml': 'rules: {a: error}\n',
    'stele.yaml': 'discover: true\nresources:\n  - {path: style.yaml, slug: style}\n',
  };
  source.push(url, files);
  await sync();
  const author = { actor: 'operator:test', origin: null };
  const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;
  await changeResource(registry, coordinate, { ruleset: '@acme/rulesets/style' }, author);
  const changed = { ...files, 'style.yaml': 'rules: {b: error}\n' };
  const head = source.push(url, changed, { branch });
  const checks = await check(scene, head);
  expect(Object.keys(checks)).toEqual(['stele @acme/rulesets/style', 'stele @acme/apis/pay', 'stele']);
  const again = source.push(url, { ...changed, 'pay.yaml': api('1.1.0') }, { branch });
  expect((await check(scene, again))['stele @acme/apis/pay']).toMatchObject({ state: 'failure' });
});

test('a document is touched through its settings in stele.yaml', async () => {
  const scene = await open();
  const { source, sync } = scene;
  const settings = (slug: string) => `discover: true\nresources:\n  - {path: pay.yaml, slug: ${slug}}\n`;
  const files = { 'pay.yaml': api('1.0.0'), 'other.yaml': api('1.0.0').replace('Pay', 'Other') };
  source.push(url, { ...files, 'stele.yaml': settings('pay') });
  await sync();
  const head = source.push(url, { ...files, 'stele.yaml': settings('payments') }, { branch });
  const checks = await check(scene, head);
  expect(Object.keys(checks)).toEqual(['stele @acme/apis/pay', 'stele @acme/apis/payments', 'stele']);
  // The resource that it would end is named.
  const title = 'pay.yaml belongs to @acme/apis/payments now. Published versions stay.';
  expect(checks['stele @acme/apis/pay']).toMatchObject({ state: 'neutral', title });
});

test('a mistake in stele.yaml that main has too is not reported on a request that does not touch it', async () => {
  const scene = await open();
  const { source, sync } = scene;
  const files = {
    'pay.yaml': api('1.0.0'),
    'stele.yaml': 'discover: true\nresources:\n  - {path: gone.yaml, slug: gone}\n',
  };
  source.push(url, files);
  await sync();
  const head = source.push(url, { ...files, 'pay.yaml': api('1.1.0') }, { branch });
  const checks = await check(scene, head);
  expect(checks['stele']).toMatchObject({ state: 'success', annotations: [] });
  expect(checks['stele @acme/apis/pay']).toMatchObject({ title: 'Would be published as 1.1.0' });
  const removed = source.push(url, { ...files, 'stele.yaml': 'resources: [' }, { branch });
  expect((await check(scene, removed))['stele']).toMatchObject({ state: 'failure' });
});

test('a conflict is for the host to tell, and does not fail the check', async () => {
  const scene = await open();
  const { source, sync } = scene;
  source.push(url, { 'pay.yaml': api('1.0.0') });
  await sync();
  const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch });
  source.push(url, { 'pay.yaml': api('1.2.0') });
  await sync();
  const checks = await check(scene, head);
  expect(Object.keys(checks)).toEqual(['stele']);
  expect(checks['stele']).toMatchObject({ state: 'neutral', title: 'Has conflicts' });
  expect(checks['stele']!.summary).toContain('`pay.yaml`');
});

test('a request is checked again when the target moves, and reported again only when that changes something', async () => {
  const scene = await open();
  const { source, sync, host, state } = scene;
  source.push(url, { 'pay.yaml': api('1.0.0') });
  await sync();
  const head = source.push(
    url,
    { 'pay.yaml': api('1.0.0'), 'new.yaml': api('1.0.0').replace('Pay', 'Orders') },
    { branch },
  );
  await check(scene, head);
  const toldOf = () => host.told.filter(({ commit }) => commit === head).length;
  const before = toldOf();
  const elsewhere = source.push(url, { 'pay.yaml': api('1.1.0') });
  await sync();
  await waitFor(async () => expect(await state()).toMatchObject({ base: elsewhere }));
  expect(toldOf()).toBe(before);
  // Main gets the same document: the request no longer changes it.
  const same = source.push(url, { 'pay.yaml': api('1.1.0'), 'new.yaml': api('1.0.0').replace('Pay', 'Orders') });
  await sync();
  await waitFor(async () => expect(await state()).toMatchObject({ base: same }));
  await waitFor(() => expect(toldOf()).toBe(before + 2));
  const checks = await told(scene, head);
  expect(checks['stele @acme/apis/orders']).toMatchObject({ state: 'neutral', title: 'Not changed any more' });
  expect(checks['stele']).toMatchObject({ state: 'success', title: 'Nothing to publish' });
  expect(await scene.registry.refs.read(pullRef('acme', id, seven))).toMatchObject({ value: { checks: ['stele'] } });
});

test('the group of a merge queue is checked at its own commit', async () => {
  const scene = await open();
  const { source, sync, hook, host, registry } = scene;
  source.push(url, { 'pay.yaml': api('1.0.0') });
  await sync();
  const ref = 'refs/heads/gh-readonly-queue/main/pr-7-abc';
  const group = { number: null, base: 'main', ref };
  const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch: ref });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: group, isOpen: true });
  const checks = await told(scene, head);
  expect(checks['stele @acme/apis/pay']).toMatchObject({ state: 'success', title: 'Would be published as 1.1.0' });
  expect(checks['stele']).toMatchObject({ state: 'success', commit: head });
  await hook({ kind: 'pull', repository: 'acme/apis', pull: group, isOpen: false });
  expect(await registry.refs.read(pullRef('acme', id, group))).toMatchObject({
    value: { state: 'closed', number: null },
  });
  expect(host.told.every(({ commit }) => commit !== null)).toBe(true);
});

test('a check that is asked for again runs and is reported again, for a pull request and for the branch', async () => {
  const scene = await open();
  const { source, sync, hook, host, compiler } = scene;
  const main = source.push(url, { 'pay.yaml': api('1.0.0') });
  await sync();
  const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch });
  await check(scene, head);
  const compiled = compiler.compiled.length;
  host.told.length = 0;
  await hook({ kind: 'again', repository: 'acme/apis', commit: head });
  await waitFor(() => expect(host.told).toHaveLength(3));
  expect(host.told.map(({ name, state, isAgain }) => [name, state, isAgain])).toEqual([
    ['stele', 'running', true],
    ['stele @acme/apis/pay', 'success', true],
    ['stele', 'success', true],
  ]);
  expect(compiler.compiled).toHaveLength(compiled + 1);
  host.told.length = 0;
  await hook({ kind: 'again', repository: 'acme/apis', commit: main });
  await waitFor(() => expect(host.told).toHaveLength(1));
  expect(host.told[0]).toMatchObject({ commit: main, title: 'Published as 1.0.0', state: 'success', isAgain: true });
});

test('a check refuses what compatibility refuses at publishing, and says what breaks', async () => {
  const scene = await open();
  const { source, sync, registry } = scene;
  const paths = (...names: string[]) => `paths: {${names.map((name) => `/${name}: {get: {}}`).join(', ')}}`;
  source.push(url, { 'pay.yaml': api('1.0.0', paths('a', 'b')) });
  await sync();
  const author = { actor: 'operator:test', origin: null };
  await changeResource(registry, { org: 'acme', type: 'apis', slug: 'pay' }, { compatibility: 'semver' }, author);
  const checkOf = async (version: string) => {
    const head = source.push(url, { 'pay.yaml': api(version, paths('a')) }, { branch });
    return (await check(scene, head))['stele @acme/apis/pay'];
  };
  const refused = await checkOf('1.1.0');
  expect(refused).toMatchObject({ state: 'failure', title: '1 breaking change since 1.0.0' });
  for (const part of ['Publish it as 2.0.0 instead of 1.1.0', '**Breaking: 1**', 'GET /b was removed.'])
    expect(refused!.summary).toContain(part);
  const compare = vi.spyOn(registry.compiler, 'compare');
  const allowed = await checkOf('2.0.0');
  expect(allowed).toMatchObject({
    state: 'success',
    title: 'Would be published as 2.0.0, 1 breaking change since 1.0.0',
  });
  expect(allowed!.summary).toContain('**Breaking: 1**');
  // The comparison is the one that publishing stores, and another one finds the lines of breaking changes.
  expect(compare).toHaveBeenCalledTimes(2);
  // The branch itself is judged alike.
  source.push(url, { 'pay.yaml': api('1.1.0', paths('a')) });
  expect((await sync()).documents).toMatchObject([{ outcome: 'rejected' }]);
});

test('what is rejected or conflicts on an older line is compared as its message says, and not with the latest version', async () => {
  const scene = await open();
  const { source, sync, registry } = scene;
  const paths = (...names: string[]) => `paths: {${names.map((name) => `/${name}: {get: {}}`).join(', ')}}`;
  for (const [version, ...names] of [['1.0.0', 'a', 'b'], ['1.1.0', 'a', 'b', 'c'], ['2.0.0', 'z']] as const) {
    source.push(url, { 'pay.yaml': api(version, paths(...names)) });
    await sync();
  }
  const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;
  const checkOf = async (version: string) => {
    const head = source.push(url, { 'pay.yaml': api(version, paths('a', 'c')) }, { branch });
    return (await check(scene, head))['stele @acme/apis/pay'];
  };
  const author = { actor: 'operator:test', origin: null };
  const settings = [{ compatibility: 'semver' }, { compatibility: 'strict' }, { compatibility: 'none', approval: 'required' }] as const;
  const found = [];
  for (const each of settings) {
    await changeResource(registry, pay, each, author);
    const own = await checkOf('1.1.1');
    found.push([own?.state, own?.title, / compared with `([^`]+)`, ([^.]+)\./.exec(own?.summary ?? '')?.slice(1)]);
  }
  expect(found).toEqual([
    ['failure', '1 breaking change since 1.1.0', ['1.1.0', 'the highest release below it']],
    ['failure', '1 breaking change since 2.0.0', ['2.0.0', 'the latest version']],
    ['waiting', 'Waits for approval, 1 breaking change since 1.1.0', ['1.1.0', 'the highest release below it']],
  ]);
  await changeResource(registry, pay, { approval: 'none', compatibility: 'none' }, author);
  source.push(url, { 'pay.yaml': api('2.0.0', paths('z')), 'stele.yaml': 'resources: [{path: pay.yaml, slug: pay, onConflict: reject}]' });
  await sync();
  const head = source.push(url, { 'pay.yaml': api('1.1.0', paths('a', 'c')), 'stele.yaml': 'resources: [{path: pay.yaml, slug: pay, onConflict: reject}]' }, { branch });
  const conflict = (await check(scene, head))['stele @acme/apis/pay'];
  expect(conflict?.summary).toContain('compared with `1.1.0`, which has this version.');
}); // prettier-ignore

test('a request that has conflicts by now is not said to change a document no longer', async () => {
  const scene = await open();
  const { source, sync, host } = scene;
  source.push(url, { 'pay.yaml': api('1.0.0') });
  await sync();
  const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch });
  expect(Object.keys(await check(scene, head))).toContain('stele @acme/apis/pay');
  host.told.length = 0;
  source.push(url, { 'pay.yaml': api('1.2.0') });
  await sync();
  await waitFor(() => expect(host.told.some(({ commit, title }) => commit === head && title === 'Has conflicts')).toBe(true));
  await waitFor(() => expect(host.told.filter(({ commit }) => commit === head)).toHaveLength(2));
  const checks = await told(scene, head);
  expect(checks['stele @acme/apis/pay']).toMatchObject({ state: 'neutral', title: 'Has conflicts' });
  expect(checks['stele @acme/apis/pay']!.summary).toContain('`pay.yaml`');
}); // prettier-ignore
