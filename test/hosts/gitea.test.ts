import { expect, test } from 'vitest';
import { checkOf, hostContract, type HostCase } from '../contract/host.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';
import { credentials, hmac, hostAt, named } from './world.ts';

const headers = { 'x-gitea-event': 'push' };
const repository = { full_name: 'acme/contracts' };

async function open(second: number) {
  const standIn = await openGiteaApi();
  return {
    host: hostAt('gitea', `${standIn.url}/api/v1`, second, { credentials }),
    standIn,
    credentials: named,
    stands: (commit: string) =>
      Object.fromEntries(
        standIn.statuses.flatMap(({ sha, context, state }) => (sha === commit ? [[context, state]] : [])),
      ),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

const given: HostCase = {
  open,
  secrets: { right: 'right', other: 'other' },
  sign: (body, secret) => ({ 'x-gitea-signature': hmac(secret, body) }),
  field: 'x-gitea-signature',
  push: { headers, payload: { ref: 'refs/heads/main', repository } },
  pull: {
    headers: { 'x-gitea-event': 'pull_request' },
    payload: { action: 'synchronized', pull_request: { number: 7, base: { ref: 'main' } }, repository },
    ref: 'refs/pull/7/head',
  },
  pullItem: (number, base) => ({ number, base: { ref: base } }),
  ownedItem: (full_name, { isArchived, isFork }) => ({ full_name, archived: isArchived, fork: isFork }),
  refOf: (number) => `refs/pull/${number}/head`,
  notes: 'lines',
  states: {
    running: 'pending',
    waiting: 'pending',
    success: 'success',
    neutral: 'success',
    failure: 'failure',
    cancelled: 'error',
  },
};

hostContract('gitea', given);

test('Forgejo signs under a name of its own, or under both: then both must be right', async () => {
  await using opened = await open(200);
  const body = Buffer.from('{}');
  const [right, wrong] = [hmac('right', body), hmac('wrong', body)];
  const isGenuine = (fields: Record<string, string>) =>
    opened.host.isGenuine({ headers: fields, body }, ['right'], new Date());
  expect(await isGenuine({ 'x-forgejo-signature': right })).toBe(true);
  expect(await isGenuine({ 'x-forgejo-signature': right, 'x-gitea-signature': right })).toBe(true);
  expect(await isGenuine({ 'x-forgejo-signature': wrong, 'x-gitea-signature': right })).toBe(false);
  expect(await isGenuine({ 'x-forgejo-signature': right, 'x-gitea-signature': wrong })).toBe(false);
});

test('a status has a context, a description and a link', async () => {
  await using opened = await open(200);
  const url = 'https://registry.test/@acme/apis/payments';
  await opened.host.reportCheck({ name: 'acme/contracts', credential: 'token' }, checkOf('failure', { url }));
  const [request] = opened.standIn.requests;
  expect(request).toMatchObject({
    method: 'POST',
    path: `/api/v1/repos/acme/contracts/statuses/${'c'.repeat(40)}`,
    headers: { authorization: 'token a-token-that-nobody-may-see' },
    body: { state: 'failure', context: 'stele @acme/apis/payments', description: 'It is failure', target_url: url },
  });
});
