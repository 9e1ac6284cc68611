import { expect, test } from 'vitest';
import type { Check, PullComment } from '../../src/model/check.ts';
import { RegistryError } from '../../src/model/errors.ts';
import { commentOf } from '../../src/pulls/comment.ts';
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
