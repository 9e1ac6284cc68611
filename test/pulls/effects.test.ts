import { expect, test } from 'vitest';
import type { Check, PullComment } from '../../src/model/check.ts';
import { changeResource } from '../../src/registry/change-resource.ts';
import { anonymous } from '../../src/model/access.ts';
import { openPreview } from '../../src/registry/preview.ts';
import { publish } from '../../src/registry/publish.ts';
import { createUpload } from '../../src/source/upload.ts';
import { api, open, seven, url, waitFor } from './pulls-scene.ts';

const branch = 'refs/pull/7/head';
const hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true } as const;
const paths = (...names: string[]) => `paths: {${names.map((name) => `/${name}: {get: {}}`).join(', ')}}\n`;

async function openWithComments() {
  const scene = await open({}, { pulls: { comments: true } });
  const { source, sync, host, hook, checked } = scene;
  const written: PullComment[] = [];
  host.comment = async (_repository, comment) => void written.push(comment);
  return {
    ...scene,
    push: async (text: string) => {
      source.push(url, { 'pay.yaml': text });
      await sync();
    },
    /** Proposes these files: the checks by name, and the comment. */
    propose: async (files: Record<string, string>) => {
      const head = source.push(url, files, { branch });
      await hook(hint);
      await checked(head);
      const told = () => host.told.filter(({ commit, state }) => commit === head && state !== 'running');
      await waitFor(() => expect(told().map(({ name }) => name)).toContain('stele'));
      const comment = () => written.findLast(({ commit }) => commit === head);
      await waitFor(() => expect(comment()).toBeDefined());
      const checks: Record<string, Check> = Object.fromEntries(told().map((check) => [check.name, check]));
      return {
        own: checks['stele @acme/apis/pay']!,
        whole: checks['stele']!,
        text: comment()!.text,
        notes: comment()!.notes,
      };
    },
  };
}

test('a revert says what becomes latest again, and what that breaks', async () => {
  const { push, propose } = await openWithComments();
  await push(api('1.0.0', paths('a')));
  await push(api('1.0.0', paths('a', 'refunds')));
  const { own, whole, text } = await propose({ 'pay.yaml': api('1.0.0', paths('a')) });
  expect(own).toMatchObject({
    state: 'success',
    title: 'Latest becomes 1.0.0 again, 1 breaking change since 1.0.0+3edf8db',
  });
  expect(own.summary).toMatch(/Latest becomes 1\.0\.0 again; it was 1\.0\.0\+[0-9a-f]{7}\./);
  expect(whole.title).toBe('1 checked, 1 breaking change');
  expect(text).toContain('### Stele: 1 checked, 1 breaking change');
});

test('going back to a lower version says that latest stays, and names no changes for its readers', async () => {
  const { push, propose } = await openWithComments();
  await push(api('1.1.0', paths('a')));
  await push(api('2.0.0', paths('b')));
  const { own } = await propose({ 'pay.yaml': api('1.1.0', paths('a')) });
  expect(own).toMatchObject({ state: 'success', title: 'Same content as 1.1.0; latest stays 2.0.0' });
  expect(own.summary).toContain('Latest stays 2.0.0, which is higher than 1.1.0.');
  expect(own.summary).not.toContain('Breaking');
});

test('breaking changes that nothing blocks are in the titles and at their lines', async () => {
  const { push, propose } = await openWithComments();
  await push(api('1.0.0', paths('a', 'b')));
  const { own, whole, notes } = await propose({ 'pay.yaml': api('1.1.0', paths('a')) });
  expect(own).toMatchObject({ state: 'success', title: 'Would be published as 1.1.0, 1 breaking change since 1.0.0' });
  expect(own.summary).toContain('1.1.0 becomes the latest version.');
  expect(whole.title).toBe('1 checked, 1 breaking change');
  expect(notes).toMatchObject([{ path: 'pay.yaml', severity: 'warning', message: 'GET /b was removed.' }]);
});

test('a version that was not raised says which one fits', async () => {
  const { push, propose } = await openWithComments();
  await push(api('1.0.0', paths('a')));
  const added = await propose({ 'pay.yaml': api('1.0.0', paths('a', 'b')) });
  expect(added.own.summary).toContain('still 1.0.0');
  expect(added.own.summary).toContain('for instance to 1.1.0.');
  const removed = await propose({ 'pay.yaml': api('1.0.0', paths('c')) });
  expect(removed.own.summary).toContain('for instance to 2.0.0.');
});

test('a break that is refused says which version fits', async () => {
  const { push, propose, registry } = await openWithComments();
  await push(api('1.0.0', paths('a', 'b')));
  const author = { actor: 'operator:test', origin: null };
  await changeResource(registry, { org: 'acme', type: 'apis', slug: 'pay' }, { compatibility: 'semver' }, author);
  const { own } = await propose({ 'pay.yaml': api('1.1.0', paths('a')) });
  expect(own).toMatchObject({ state: 'failure', title: '1 breaking change since 1.0.0' });
  expect(own.summary).toContain('Publish it as 2.0.0 instead of 1.1.0');
});

test('what the next tag publishes waits for approval by no version in the document, and its preview names none', async () => {
  const { push, propose, registry } = await openWithComments();
  await push(api('1.0.0', paths('a', 'b')));
  const author = { actor: 'operator:test', origin: null };
  const settings = "resources:\n  - {path: pay.yaml, slug: pay, tags: 'v*', onConflict: reject}\n";
  const added = await propose({ 'pay.yaml': api('1.0.0', paths('a', 'b', 'c')), 'stele.yaml': settings });
  const opened = await openPreview(registry, anonymous, added.own.url!.split('/').at(-1)!);
  expect(opened?.granted.version.label).toBe('next-tag');
  await changeResource(registry, { org: 'acme', type: 'apis', slug: 'pay' }, { approval: 'required' }, author);
  const { own } = await propose({ 'pay.yaml': api('1.0.0', paths('a')), 'stele.yaml': settings });
  expect(own).toMatchObject({
    state: 'waiting',
    title: expect.stringContaining('1 breaking change since 1.0.0') as string,
  });
});

test('what the next tag publishes is judged by no version in the document', async () => {
  const { push, propose, registry } = await openWithComments();
  await push(api('1.0.0', paths('a', 'b')));
  const author = { actor: 'operator:test', origin: null };
  await changeResource(registry, { org: 'acme', type: 'apis', slug: 'pay' }, { compatibility: 'semver' }, author);
  const settings = "resources:\n  - {path: pay.yaml, slug: pay, tags: 'v*', onConflict: reject}\n";
  const { own } = await propose({ 'pay.yaml': api('1.0.0', paths('a')), 'stele.yaml': settings });
  expect(own).toMatchObject({
    state: 'success',
    title: 'Valid; published when a tag v* is pushed, 1 breaking change since 1.0.0',
  });
  expect(own.summary).not.toContain('Publish it as');
});

test('a version of an older line says that latest stays', async () => {
  const { push, propose } = await openWithComments();
  await push(api('1.0.0', paths('a')));
  await push(api('2.0.0', paths('a')));
  const { own } = await propose({ 'pay.yaml': api('1.0.1', paths('a', 'b')) });
  expect(own.title).toBe('Would be published as 1.0.1; latest stays 2.0.0');
});

test('a mistake in stele.yaml stays in the comment beside documents, and the whole check names them', async () => {
  const { push, propose } = await openWithComments();
  await push(api('1.0.0', paths('a')));
  const { whole, text } = await propose({
    'pay.yaml': api('1.1.0', paths('a')),
    'unread.yaml': 'openapi: 3.1.0\nbroken: true\n',
    'stele.yaml': 'resources:\n  - path: pay.yaml\n    slug: pay\n  - path: missing.yaml\n',
  });
  expect(whole.state).toBe('failure');
  expect(whole.summary).toContain('stele.yaml');
  expect(whole.summary).toContain('`@acme/apis/pay`: Would be published as 1.1.0');
  expect(text).toContain('stele\\.yaml\\:4:5 "missing');
});

test('a version that others use says whom it breaks, and names nobody in public who is private', async () => {
  const { push, propose, registry } = await openWithComments();
  await push(api('1.0.0', paths('a')));
  const use = async (slug: string, visibility: 'public' | 'private') => {
    const text = api('1.0.0', 'include: [https://r.test/@acme/apis/pay]\n');
    const { outcome } = await publish(registry, {
      coordinate: { org: 'acme', type: 'apis', slug },
      snapshot: createUpload('a.yaml', Buffer.from(text)),
      entry: 'a.yaml',
      version: null,
      onConflict: 'reject',
      latest: true,
      dryRun: false,
      create: { visibility },
      author: { actor: 'operator:test', origin: null },
    });
    expect(outcome).toBe('published');
  };
  expect((await propose({ 'pay.yaml': api('1.1.0', paths('a', 'b')) })).own.summary).not.toContain('user');
  await use('secret', 'private');
  expect((await propose({ 'pay.yaml': api('1.2.0', paths('a', 'c')) })).own.summary).not.toContain('user');
  await use('shop', 'public');
  const { own, text } = await propose({ 'pay.yaml': api('1.3.0', paths('a', 'd')) });
  expect(own.summary).toContain('**It breaks none of 1 user at their next publish.**');
  expect(text).toContain('It breaks none of 1 user at their next publish.');
});
