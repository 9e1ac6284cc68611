import { expect, test } from 'vitest';
import { badNames, checkOf, hostContract, tokenText, type HostCase } from '../contract/host.ts';
import { openBitbucketServerApi } from '../servers/bitbucket-server-api.ts';
import { credentials, hmac, hostAt, named } from './world.ts';

const headers = { 'x-event-key': 'repo:refs_changed' };

/** A repository as Bitbucket Data Center sends it. */
function repositoryOf(name: string): object {
  const [key, ...rest] = name.split('/');
  return { slug: rest.join('/'), project: { key } };
}

const repository = repositoryOf('acme/contracts');
const toRef = { id: 'refs/heads/main', displayId: 'main', repository };

async function open(second: number) {
  const standIn = await openBitbucketServerApi();
  return {
    host: hostAt('bitbucket-server', `${standIn.url}/rest/api/1.0`, second, { credentials }),
    standIn,
    credentials: named,
    stands: (commit: string) =>
      Object.fromEntries(standIn.statuses.flatMap(({ sha, name, state }) => (sha === commit ? [[name, state]] : []))),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

const given: HostCase = {
  open,
  nameGrammar: /^~?[a-z0-9_.-]+\/[a-z0-9_.-]+$/,
  secrets: { right: 'right', other: 'other' },
  sign: (body, secret) => ({ 'x-hub-signature': `sha256=${hmac(secret, body)}` }),
  field: 'x-hub-signature',
  push: { headers, payload: { eventKey: 'repo:refs_changed', repository } },
  pushTo: (name) => ({ eventKey: 'repo:refs_changed', repository: repositoryOf(name) }),
  badNames: [...badNames, 'a/b/c', '~/b', 'a~b/c'],
  pull: {
    headers: { 'x-event-key': 'pr:from_ref_updated' },
    payload: { pullRequest: { id: 7, toRef } },
    ref: 'refs/pull-requests/7/from',
  },
  pullItem: (id, base) => ({ id, toRef: { id: `refs/heads/${String(base)}` } }),
  ownedItem: (name, { isArchived, isFork }) => ({
    ...repositoryOf(String(name)),
    archived: isArchived,
    ...(isFork && { origin: { slug: 'x' } }),
  }),
  ownedUrl: (name) => `https://git.example.test/scm/${name}.git`,
  hasUsers: false,
  refOf: (number) => `refs/pull-requests/${number}/from`,
  here: [
    'https://git.example.test/scm/acme/contracts.git',
    'https://robot@git.example.test/SCM/ACME/Contracts.git/',
    'ssh://git@git.example.test:7999/acme/contracts.git',
    'git@git.example.test:ACME/contracts.git',
  ],
  elsewhere: [
    'https://git.example.test/acme/contracts.git',
    'https://git.example.test/scm/acme',
    'https://git.example.test/scm/acme/contracts/more',
    'https://git.example.test:8443/scm/acme/contracts.git',
    'https://evil.test/scm/acme/contracts.git',
    'https://git.example.test@evil.test/scm/acme/contracts',
    'ssh://git@evil.test:7999/acme/contracts.git',
    '/srv/scm/acme/contracts',
    '',
  ],
  states: {
    running: 'INPROGRESS',
    waiting: 'INPROGRESS',
    success: 'SUCCESSFUL',
    neutral: 'SUCCESSFUL',
    failure: 'FAILED',
    cancelled: 'CANCELLED',
  },
};

hostContract('bitbucket-server', given);

test('Bitbucket Data Center: the repository of a user, and a path before the URLs', () => {
  const host = hostAt('bitbucket-server', 'https://x.test', 200, {
    hosts: { 'bitbucket-server': { url: 'https://git.acme.test/bitbucket/' } },
  });
  expect(host.nameOf('https://git.acme.test/bitbucket/scm/~jane/apis.git')).toBe('~jane/apis');
  expect(host.nameOf('ssh://git@git.acme.test:7999/~jane/apis.git')).toBe('~jane/apis');
  expect(host.nameOf('https://git.acme.test/scm/~jane/apis.git')).toBeNull();
});

test('Bitbucket Data Center: a build is sent to its repository, with a link and the token', async () => {
  await using opened = await open(200);
  await opened.host.reportCheck({ name: 'acme/contracts', credential: 'token' }, checkOf('success'));
  const [request] = opened.standIn.requests;
  const commit = 'c'.repeat(40);
  expect(request).toMatchObject({
    path: `/rest/api/1.0/projects/acme/repos/contracts/commits/${commit}/builds`,
    headers: { authorization: `Bearer ${tokenText}` },
    body: { url: `https://git.example.test/projects/acme/repos/contracts/commits/${commit}` },
  });
});
