import { expect, test } from 'vitest';
import type { Check, PullCheck, PullComment } from '../../src/model/check.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { changedPaths } from '../../src/pulls/check-pull.ts';
import { isDone, wantAgain } from '../../src/pulls/pulls.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';
import { commentOf } from '../../src/pulls/run-check.ts';
import { api, open, seven, url, waitFor } from './pulls-scene.ts';

const branch = 'refs/pull/7/head';
const hint = { kind: 'pull', repository: 'acme/apis', pull: seven, isOpen: true } as const;

async function openWithComments() {
  const scene = await open({}, { pulls: { comments: true } });
  const written: PullComment[] = [];
  scene.host.comment = async (_repository, comment) => void written.push(comment);
  scene.source.push(url, { 'pay.yaml': api('1.0.0') });
  await scene.sync();
  return { ...scene, written };
}

test('a request gets a comment where the configuration asks for it, with the same mark each time', async () => {
  const { source, hook, checked, written } = await openWithComments();
  const bad = `${api('1.0.0').replace('Pay', 'Bad')}broken: true`;
  const head = source.push(url, { 'pay.yaml': api('1.1.0'), 'bad.yaml': bad }, { branch });
  await hook(hint);
  await checked(head);
  await waitFor(() => expect(written).toHaveLength(1));
  expect(written[0]).toMatchObject({ number: 7, commit: head, isOnlyEdit: false });
  expect(written[0]!.notes).toMatchObject([{ path: 'bad.yaml', line: 1 }]);
  for (const part of ['### Stele: 1 of 2 would be rejected', '❌', '`@acme/apis/pay`', 'Would be published as 1.1.0'])
    expect(written[0]!.text).toContain(part);
  const next = source.push(url, { 'pay.yaml': api('1.0.0') }, { branch });
  await hook(hint);
  await checked(next);
  await waitFor(() => expect(written).toHaveLength(2));
  expect(written[1]).toMatchObject({ mark: written[0]!.mark, isOnlyEdit: true, notes: [] });
  expect(written[0]!.mark).toMatch(/^[0-9a-v]{20}$|^[0-9a-z]{20}$/);
});

test('a host that does not allow comments gets the checks all the same, and the log says why', async () => {
  const { source, hook, host, checked, events } = await openWithComments();
  host.comment = async () => {
    throw new RegistryError('unreachable', 'GitHub refuses the credential (403).');
  };
  const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch });
  await hook(hint);
  await checked(head);
  await waitFor(() => expect(events.some(({ event }) => event === 'comment not written')).toBe(true));
  expect(host.told.filter(({ commit, state }) => commit === head && state === 'success')).toHaveLength(2);
});

test('nobody is written a comment by default', async () => {
  const { source, sync, hook, checked, host } = await open();
  let written = 0;
  host.comment = async () => void written++;
  source.push(url, { 'pay.yaml': api('1.0.0') });
  await sync();
  const head = source.push(url, { 'pay.yaml': api('1.1.0') }, { branch });
  await hook(hint);
  await checked(head);
  await waitFor(() => expect(host.told.filter(({ commit }) => commit === head)).toHaveLength(3));
  expect(written).toBe(0);
});

test('findings have a heading of their own below the changes, which are not said twice', () => {
  const check: Check = {
    commit: 'c',
    name: 'stele @acme/apis/pay',
    state: 'failure',
    title: 'Breaking changes',
    summary: '**Breaking: 1**\n\n- GET /a was removed. `operation-removed`',
    annotations: [
      {
        path: 'a.yaml',
        line: 3,
        column: 1,
        severity: 'error',
        rule: 'operation-removed',
        message: 'GET /a was removed.',
      },
      { path: 'a.yaml', line: 5, column: 1, severity: 'warning', rule: 'info-contact', message: 'No contact.' },
    ],
    url: null,
  };
  const { text, notes } = commentOf({ number: 7, mark: 'm' }, 'c', [check])!;
  expect(text).toContain('`operation-removed`\n\n**Findings: 1**\n\n- `a.yaml:5` `info-contact` No contact.');
  expect(notes).toHaveLength(2);
});

test('a comment tells of more documents only where there are more, and stays where all is well', () => {
  const check = (name: string, state: Check['state'] = 'success'): Check => ({
    name,
    state,
    title: 'Well',
    summary: 'Nothing.',
    commit: 'c'.repeat(40),
    annotations: [],
    url: null,
  });
  const of = (checks: Check[]) => commentOf({ number: 7, mark: 'm' }, 'c'.repeat(40), checks)!;
  const many = (count: number) => of(Array.from({ length: count }, (_, n) => check(`stele @acme/apis/a${n}`)));
  expect(many(20).text).not.toContain('more documents');
  expect(many(21).text).toContain('… and 1 more documents.');
  expect(of([check('stele')]).isOnlyEdit).toBe(true);
  expect(of([check('stele', 'failure')]).isOnlyEdit).toBe(false);
});

test('a check runs again for another head or target, and when somebody wants it', async () => {
  const { registry } = createWorld();
  const pull: PullCheck = {
    org: 'acme',
    repository: 'r',
    number: 7,
    ref: branch,
    state: 'checked',
    head: 'h',
    base: 'b',
    checks: [],
    detail: null,
  };
  expect(isDone(registry, pull, 'h', 'b')).toBe(true);
  expect(isDone(registry, pull, 'other', 'b')).toBe(false);
  expect(isDone(registry, pull, 'h', 'other')).toBe(false);
  expect(isDone(registry, { ...pull, isAgain: true }, 'h', 'b')).toBe(false);
  const key = 'pulls/acme/r/7';
  await registry.refs.update(key, () => ({
    value: pull,
    change: { actor: 'sync:acme', origin: null, action: 'pull checked' },
  }));
  await wantAgain(registry, key, 'other');
  expect((await registry.refs.read<PullCheck>(key))!.value.state).toBe('checked');
  await wantAgain(registry, key, 'h');
  expect((await registry.refs.read<PullCheck>(key))!.value).toMatchObject({ state: 'wanted', isAgain: true });
});

test('a merge changes what it adds, changes and removes', async () => {
  const before = snapshotOf(null, null, { 'a.yaml': '1', 'b.yaml': '1', 'c.yaml': '1' });
  const after = snapshotOf(null, null, { 'a.yaml': '1', 'b.yaml': '2', 'd.yaml': '1' });
  expect([...(await changedPaths(before, after))].sort()).toEqual(['b.yaml', 'c.yaml', 'd.yaml']);
});
