import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { checkOf, hostContract, type HostCase } from '../contract/host.ts';
import { openGitLabApi } from '../servers/gitlab-api.ts';
import { credentials, hostAt, named } from './world.ts';

const headers = { 'x-gitlab-event': 'Push Hook' };
const project = { path_with_namespace: 'acme/contracts' };
const [right, other] = ['right', 'other'].map((text) => `whsec_${Buffer.from(text.repeat(6)).toString('base64')}`);

async function open(second: number) {
  const standIn = await openGitLabApi();
  return {
    host: hostAt('gitlab', `${standIn.url}/api/v4`, second, { credentials }),
    standIn,
    credentials: named,
    stands: (commit: string) =>
      Object.fromEntries(standIn.statuses.flatMap(({ sha, name, status }) => (sha === commit ? [[name, status]] : []))),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

/** By the signing token. Bodies that are no UTF-8 are beyond the library that others sign with. */
function sign(body: Uint8Array, secret: string, at: Date): Record<string, string> {
  const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const text = Buffer.from(body).toString();
  const isText = Buffer.from(text).equals(Buffer.from(body));
  const seconds = String(Math.floor(at.getTime() / 1000));
  const raw = () => {
    const signed = Buffer.concat([Buffer.from(`${id}.${seconds}.`), body]);
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  };
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': isText ? new Webhook(secret).sign(id, at, text) : raw(),
  };
}

const given: HostCase = {
  open,
  secrets: { right: right!, other: other! },
  sign,
  field: 'webhook-signature',
  push: { headers, payload: { object_kind: 'push', ref: 'refs/heads/main', project } },
  pull: {
    headers: { 'x-gitlab-event': 'Merge Request Hook' },
    payload: {
      object_kind: 'merge_request',
      project,
      object_attributes: { iid: 7, target_branch: 'main', state: 'opened', action: 'update' },
    },
    ref: 'refs/merge-requests/7/head',
  },
  pullItem: (iid, base) => ({ iid, target_branch: base }),
  ownedItem: (path_with_namespace, { isArchived, isFork }) => ({
    path_with_namespace,
    archived: isArchived,
    marked_for_deletion_on: null,
    ...(isFork && { forked_from_project: { id: 1 } }),
  }),
  refOf: (number) => `refs/merge-requests/${number}/head`,
  notes: 'lines',
  states: {
    running: 'running',
    waiting: 'failed',
    success: 'success',
    neutral: 'success',
    failure: 'failed',
    cancelled: 'canceled',
  },
};

hostContract('gitlab', given);

const body = Buffer.from('{"object_kind":"push"}');
const now = new Date('2026-05-12T09:30:00Z');

test('a secret token is compared as it is', async () => {
  await using opened = await open(200);
  const isGenuine = (token: string, secrets: string[]) =>
    opened.host.isGenuine({ headers: { 'x-gitlab-token': token }, body }, secrets, now);
  expect(await isGenuine('s3cret', ['s3cret'])).toBe(true);
  expect(await isGenuine('s3cret', ['other', 's3cret'])).toBe(true);
  for (const token of ['', 's3cre', 's3cret ', 'S3CRET', 's3cret, s3cret'])
    expect(await isGenuine(token, ['s3cret', ''])).toBe(false);
  expect(await isGenuine('', [''])).toBe(false);
  expect(await isGenuine('s3cret', [])).toBe(false);
});

test('a signature is good for five minutes', async () => {
  await using opened = await open(200);
  const isGenuine = (minutes: number) => {
    const signedAt = new Date(now.getTime() + minutes * 60_000);
    return opened.host.isGenuine({ headers: sign(body, right!, signedAt), body }, [right!], now);
  };
  expect(await Promise.all([-4.9, 0, 4.9].map(isGenuine))).toEqual([true, true, true]);
  expect(await Promise.all([-5.1, 5.1, -6000].map(isGenuine))).toEqual([false, false, false]);
});

test('one of several signatures is enough, as after a rotation; id and time are signed, too', async () => {
  await using opened = await open(200);
  const fields = sign(body, right!, now);
  const isGenuine = (changed: object) =>
    opened.host.isGenuine({ headers: { ...fields, ...changed }, body }, [right!], now);
  const { 'webhook-signature': mine } = fields;
  const { 'webhook-signature': others } = sign(body, other!, now);
  expect(await isGenuine({ 'webhook-signature': `${others} v1a,xyz ${mine}` })).toBe(true);
  expect(await isGenuine({ 'webhook-signature': others })).toBe(false);
  expect(await isGenuine({ 'webhook-signature': mine!.replace('v1,', 'v2,') })).toBe(false);
  expect(await isGenuine({ 'webhook-id': 'another' })).toBe(false);
  expect(await isGenuine({ 'webhook-timestamp': String(now.getTime() / 1000 + 1) })).toBe(false);
  for (const timestamp of ['', 'now', '1e9', '-1', '9'.repeat(40)])
    expect(await isGenuine({ 'webhook-timestamp': timestamp })).toBe(false);
});

test('the signed bytes are the bytes: what looks the same as text is not', async () => {
  await using opened = await open(200);
  const bytes = Buffer.from([0x22, 0xff, 0x22]);
  const fields = sign(bytes, right!, now);
  expect(await opened.host.isGenuine({ headers: fields, body: bytes }, [right!], now)).toBe(true);
  const alike = Buffer.from([0x22, 0xfe, 0x22]);
  expect(await opened.host.isGenuine({ headers: fields, body: alike }, [right!], now)).toBe(false);
});

test('secrets that are not signing tokens sign nothing', async () => {
  await using opened = await open(200);
  const headersOf = sign(body, right!, now);
  for (const secret of ['whsec_', 'whsec_!!', right!.replace('whsec_', ''), 'whsec_===='])
    expect(await opened.host.isGenuine({ headers: headersOf, body }, [secret], now)).toBe(false);
});

test('a project in groups in groups is one path segment of the API', async () => {
  await using opened = await open(200);
  expect(opened.host.nameOf('https://git.example.test/acme/apis/pay/contracts.git')).toBe('acme/apis/pay/contracts');
  const nested = { name: 'acme/apis/contracts', credential: 'token' };
  await expect(opened.host.reportCheck(nested, checkOf('success'))).rejects.toMatchObject({ code: 'unreachable' });
  await opened.host.reportCheck({ ...nested, name: 'acme/contracts' }, checkOf('success'));
  expect(opened.standIn.requests.map(({ path }) => path)).toEqual([
    `/api/v4/projects/acme%2Fapis%2Fcontracts/statuses/${'c'.repeat(40)}`,
    `/api/v4/projects/acme%2Fcontracts/statuses/${'c'.repeat(40)}`,
  ]);
  expect(opened.standIn.requests[0]!.headers.authorization).toBe('Bearer a-token-that-nobody-may-see');
});

test('a finding at a line that the merge request does not show is left out', async () => {
  await using opened = await open(200);
  opened.standIn.shown = (_path, line) => line === 3;
  const note = (line: number) =>
    ({ path: 'a.yaml', line, column: 1, severity: 'error', rule: 'r', message: 'Wrong' }) as const;
  const text = 'Would be refused';
  const comment = { number: 7, commit: 'c'.repeat(40), mark: 'm', text, notes: [note(2), note(3)], isOnlyEdit: false };
  const repository = { name: 'acme/contracts', credential: 'token' };
  await opened.host.comment!(repository, comment);
  expect(opened.standIn.comments.map(({ at }) => at?.line)).toEqual([undefined, 3]);
  // Somebody has pushed: the lines of another commit are not known.
  await opened.host.comment!(repository, { ...comment, commit: 'd'.repeat(40), notes: [note(3), note(9)] });
  expect(opened.standIn.comments.map(({ at }) => at?.line)).toEqual([undefined, 3]);
});
