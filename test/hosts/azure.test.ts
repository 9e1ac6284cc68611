import { expect, test } from 'vitest';
import { checkOf, hostContract, tokenText, type HostCase } from '../contract/host.ts';
import { openAzureApi } from '../servers/azure-api.ts';
import { credentials, hostAt, named } from './world.ts';

const commit = 'c'.repeat(40);

/** `acme/apis/contracts` as the URL that Azure DevOps sends. */
function remoteUrl(name: string): string {
  const parts = name.split('/');
  return `https://git.example.test/${parts.slice(0, 2).join('/')}/_git/${parts.slice(2).join('/')}`;
}

const pushOf = (name: string) => ({
  eventType: 'git.push',
  publisherId: 'tfs',
  resource: { repository: { remoteUrl: remoteUrl(name) } },
});
const pullRequest = {
  pullRequestId: 7,
  status: 'active',
  sourceRefName: 'refs/heads/change',
  targetRefName: 'refs/heads/main',
  repository: { remoteUrl: remoteUrl('acme/apis/contracts') },
};

async function open(second: number) {
  const standIn = await openAzureApi();
  return {
    host: hostAt('azure', standIn.url, second, { credentials }),
    standIn,
    credentials: named,
    stands: (sha: string) =>
      Object.fromEntries(
        standIn.statuses.flatMap(({ about, name, state }) => (about === `commits/${sha}` ? [[name, state]] : [])),
      ),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

const basic = (password: string) => `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`;

const given: HostCase = {
  open,
  name: 'acme/apis/contracts',
  nameGrammar: /^[a-z0-9_.!~*'()%-]+(?:\/[a-z0-9_.!~*'()%-]+){2}$/,
  secrets: { right: 'right', other: 'other' },
  sign: (_body, secret) => ({ authorization: basic(secret) }),
  field: 'authorization',
  isBodySigned: false,
  push: { headers: {}, payload: pushOf('acme/apis/contracts') },
  pushTo: pushOf,
  badNames: ['..', 'a/..', 'a//b', 'a/b', 'a/b/c/d', 'a/b/%zz', 'a/b/%00', 'a/b/%2e%2e', `a/b/${'c'.repeat(600)}`],
  pull: {
    headers: {},
    payload: { eventType: 'git.pullrequest.updated', resource: pullRequest },
    ref: 'refs/heads/change',
  },
  pullItem: (pullRequestId, base) => ({
    pullRequestId,
    sourceRefName: 'refs/heads/change',
    targetRefName: `refs/heads/${String(base)}`,
  }),
  ownedItem: (name, { isArchived, isFork }) => ({
    name: String(name).split('/')[2],
    project: { name: String(name).split('/')[1] },
    isDisabled: isArchived,
    isFork,
  }),
  ownedUrl: remoteUrl,
  hasUsers: false,
  refOf: () => 'refs/heads/change',
  here: [
    'https://git.example.test/acme/apis/_git/contracts',
    'https://acme@git.example.test/ACME/Apis/_git/Contracts/',
    'git@ssh.git.example.test:v3/acme/apis/contracts',
    'ssh://git@ssh.git.example.test/v3/acme/apis/contracts',
    'ssh://git.example.test:22/acme/apis/_git/contracts',
  ],
  elsewhere: [
    'https://git.example.test/acme/apis/contracts',
    'https://git.example.test/acme/_git',
    'https://git.example.test/acme/apis/_git/contracts/more',
    'https://git.example.test:8443/acme/apis/_git/contracts',
    'https://evil.test/acme/apis/_git/contracts',
    'https://git.example.test@evil.test/acme/apis/_git/contracts',
    'git@evil.test:v3/acme/apis/contracts',
    'https://acme.visualstudio.com/apis/_git/contracts',
    '/srv/git/acme/apis/_git/contracts',
    '',
  ],
  states: {
    running: 'pending',
    waiting: 'pending',
    success: 'succeeded',
    neutral: 'succeeded',
    failure: 'failed',
    cancelled: 'error',
  },
};

hostContract('azure', given);

test('Azure DevOps: the secret may be in a header of the service hook', async () => {
  await using opened = await open(200);
  const isGenuine = (headers: Record<string, string>) =>
    opened.host.isGenuine({ headers, body: Buffer.from('{}') }, ['right'], new Date());
  expect(await isGenuine({ 'x-stele-secret': 'right' })).toBe(true);
  expect(await isGenuine({ 'x-stele-secret': 'wrong' })).toBe(false);
  expect(await isGenuine({ authorization: basic('wrong'), 'x-stele-secret': 'right' })).toBe(false);
  expect(await isGenuine({ authorization: `Bearer right` })).toBe(false);
  expect(await isGenuine({})).toBe(false);
});

test('Azure DevOps: a pull request whose head is the commit gets the status, too, because policies look there', async () => {
  await using opened = await open(200);
  const pull = (pullRequestId: number, commitId: string) => ({
    ...pullRequest,
    pullRequestId,
    lastMergeSourceCommit: { commitId },
  });
  opened.standIn.pulls.push(pull(8, 'd'.repeat(40)), pull(7, commit));
  const url = 'https://registry.test/@acme/apis/payments';
  await opened.host.reportCheck({ name: 'acme/apis/contracts', credential: 'token' }, checkOf('failure', { url }));
  const status = { name: 'stele @acme/apis/payments', state: 'failed', description: 'It is failure', targetUrl: url };
  expect(opened.standIn.statuses).toEqual([
    { about: `commits/${commit}`, ...status },
    { about: 'pullRequests/7', ...status },
  ]);
  const authorization = `Basic ${Buffer.from(`:${tokenText}`).toString('base64')}`;
  expect(new Set(opened.standIn.requests.map((request) => request.headers.authorization))).toEqual(
    new Set([authorization]),
  );
});

test('Azure DevOps: 203 is its sign-in page, and a refusal', async () => {
  await using opened = await open(200);
  opened.standIn.fail({ status: 203, body: '<html>Sign In</html>' }, 10);
  const asked = opened.host.listPulls({ name: 'acme/apis/contracts', credential: 'token' });
  const message = 'Azure DevOps rejected the credential for acme/apis/contracts (401).';
  await expect(asked).rejects.toMatchObject({ code: 'unreachable', message });
});

test('Azure DevOps: spaces, old hosts, and projects with a repository of their name', () => {
  const host = hostAt('azure', 'https://dev.azure.com', 200, { hosts: {} });
  const names: [string, string | null][] = [
    ['https://dev.azure.com/acme/My%20Project/_git/My%20Apis', 'acme/my%20project/my%20apis'],
    ['git@ssh.dev.azure.com:v3/acme/My%20Project/My%20Apis', 'acme/my%20project/my%20apis'],
    ['https://dev.azure.com/acme/_git/contracts', 'acme/contracts/contracts'],
    ['https://acme.visualstudio.com/apis/_git/contracts', 'acme/apis/contracts'],
    ['https://acme.visualstudio.com/DefaultCollection/_git/contracts', 'acme/contracts/contracts'],
    ['acme@vs-ssh.visualstudio.com:v3/acme/apis/contracts', 'acme/apis/contracts'],
    ['https://vs-ssh.visualstudio.com/v3/acme/apis/contracts', null],
    ['https://visualstudio.com/apis/_git/contracts', null],
  ];
  for (const [url, name] of names) expect(host.nameOf(url), url).toBe(name);
  const server = hostAt('azure', 'https://x.test', 200, { hosts: { azure: { url: 'https://tfs.acme.test/tfs' } } });
  expect(server.nameOf('https://tfs.acme.test/tfs/DefaultCollection/apis/_git/contracts')).toBe(
    'defaultcollection/apis/contracts',
  );
  expect(server.nameOf('https://tfs.acme.test/DefaultCollection/apis/_git/contracts')).toBeNull();
});

test("Azure DevOps: a fork's pull request has no ref; one that ended is closed; too few details are reported", async () => {
  await using opened = await open(200);
  const read = (resource: object) =>
    opened.host.readHint({
      headers: {},
      body: Buffer.from(
        JSON.stringify({ eventType: 'git.pullrequest.merged', resource: { ...pullRequest, ...resource } }),
      ),
    });
  expect(read({ forkSource: { name: 'refs/heads/change' } })).toMatchObject({ pull: { ref: null } });
  expect(read({ sourceRefName: 'refs/heads/../x' })).toMatchObject({ pull: { ref: null } });
  expect(read({})).toMatchObject({ isOpen: true });
  for (const status of ['completed', 'abandoned']) expect(read({ status })).toMatchObject({ isOpen: false });
  expect(() => read({ repository: undefined })).toThrow('Resource details to send');
  expect(() => read({ repository: { remoteUrl: 'https://evil.test/a/b/_git/c' } })).toThrow('not at');
});
