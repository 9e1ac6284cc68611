import { afterAll, describe, expect, test } from 'vitest';
import type { Annotation } from '../../src/model/check.ts';
import { checkOf, hostContract, tokenText, type HostCase } from '../contract/host.ts';
import { openGitHubApi, type GitHubApi } from '../servers/github-api.ts';
import { credentials, hmac, hostAt, named, writeAppKey } from './world.ts';

const key = writeAppKey();
afterAll(() => key[Symbol.dispose]());

const headers = { 'x-github-event': 'push' };
const payloadRepository = { full_name: 'acme/contracts' };
const repository = { name: 'acme/contracts', credential: 'app' };
const commit = 'c'.repeat(40);

function standsOf({ runs, statuses }: GitHubApi, of: string): Record<string, string> {
  return Object.fromEntries([
    ...statuses.flatMap(({ sha, context, state }) => (sha === of ? [[context, state]] : [])),
    ...runs.flatMap(({ head_sha, name, status, conclusion }) =>
      head_sha === of ? [[name, conclusion ?? status]] : [],
    ),
  ]);
}

async function open(second: number, good = 'app') {
  const standIn = await openGitHubApi();
  const app = { githubApp: { appId: 4242, privateKeyFile: key.file } };
  return {
    host: hostAt('github', standIn.apiUrl, second, { credentials: { ...credentials, app } }),
    standIn,
    credentials: { ...named, good },
    stands: (of: string) => standsOf(standIn, of),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

const given: HostCase = {
  open,
  secrets: { right: 'right', other: 'other' },
  sign: (body, secret) => ({ 'x-hub-signature-256': `sha256=${hmac(secret, body)}` }),
  field: 'x-hub-signature-256',
  push: { headers, payload: { ref: 'refs/heads/main', repository: payloadRepository } },
  pull: {
    headers: { 'x-github-event': 'pull_request' },
    payload: {
      action: 'synchronize',
      number: 7,
      pull_request: { number: 7, base: { ref: 'main' } },
      repository: payloadRepository,
    },
    ref: 'refs/pull/7/head',
  },
  pullItem: (number, base) => ({ number, base: { ref: base } }),
  ownedItem: (full_name, { isArchived, isFork }) => ({ full_name, archived: isArchived, fork: isFork }),
  refOf: (number) => `refs/pull/${number}/head`,
  notes: 'checks',
  states: {
    running: 'in_progress',
    waiting: 'action_required',
    success: 'success',
    neutral: 'neutral',
    failure: 'failure',
    cancelled: 'cancelled',
  },
};

hostContract('github, by an app', given);
hostContract('github, by a token', {
  ...given,
  open: (second) => open(second, 'token'),
  states: {
    running: 'pending',
    waiting: 'pending',
    success: 'success',
    neutral: 'success',
    failure: 'failure',
    cancelled: 'error',
  },
});

const annotation = (line: number): Annotation => ({
  path: 'openapi.yaml',
  line,
  column: 3,
  severity: line % 2 === 0 ? 'error' : 'warning',
  rule: 'operation-summary',
  message: `Line ${line} has no summary.`,
});
const annotations = (count: number) => Array.from({ length: count }, (_, index) => annotation(index + 1));

describe('check runs', () => {
  test('annotations go in batches of 50, and the run ends with the last of them', async () => {
    await using opened = await open(200);
    await opened.host.reportCheck(repository, checkOf('failure', { annotations: annotations(120) }));
    const writes = opened.standIn.requests.filter(
      ({ path, method }) => path.includes('check-runs') && method !== 'GET',
    );
    expect(writes.map(({ method, body }) => [method, body!['status'], body!['conclusion']])).toEqual([
      ['POST', 'in_progress', undefined],
      ['PATCH', 'in_progress', undefined],
      ['PATCH', 'completed', 'failure'],
    ]);
    const [run] = opened.standIn.runs;
    expect(opened.standIn.runs).toHaveLength(1);
    expect(run!.annotations.map(({ start_line }) => start_line)).toEqual(annotations(120).map(({ line }) => line));
    expect(run!.annotations[1]).toEqual({
      path: 'openapi.yaml',
      start_line: 2,
      end_line: 2,
      start_column: 3,
      end_column: 3,
      annotation_level: 'failure',
      title: 'operation-summary',
      message: 'Line 2 has no summary.',
    });
  });

  test('sent again after a crash in the middle, no annotation is there twice', async () => {
    await using opened = await open(200);
    const check = checkOf('failure', { annotations: annotations(60) });
    opened.standIn.fail({ status: 422 }, 1, ({ method }) => method === 'PATCH');
    await expect(opened.host.reportCheck(repository, check)).rejects.toMatchObject({ code: 'unreachable' });
    await opened.host.reportCheck(repository, check);
    await opened.host.reportCheck(repository, check);
    expect(opened.standIn.runs).toHaveLength(2);
    const last = opened.standIn.runs.at(-1)!;
    expect([last.conclusion, last.annotations.length]).toEqual(['failure', 60]);
  });

  test('running, then ended: one run, with the link and the words', async () => {
    await using opened = await open(200);
    const url = 'https://registry.test/@acme/apis/payments';
    await opened.host.reportCheck(repository, checkOf('running', { url }));
    await opened.host.reportCheck(repository, checkOf('success', { url, title: 'Published as 1.4.0' }));
    expect(opened.standIn.runs).toMatchObject([
      { status: 'completed', conclusion: 'success', details_url: url, output: { title: 'Published as 1.4.0' } },
    ]);
  });

  test('the run of another app, another name or another commit stays as it is', async () => {
    await using opened = await open(200);
    await opened.host.reportCheck(repository, checkOf('success', { name: 'stele' }));
    opened.standIn.runs[0]!.app.id = 1;
    await opened.host.reportCheck(repository, checkOf('failure', { name: 'stele' }));
    await opened.host.reportCheck(repository, checkOf('failure', { name: 'stele @acme/apis/a' }));
    await opened.host.reportCheck(repository, checkOf('failure', { name: 'stele', commit: 'd'.repeat(40) }));
    expect(opened.standIn.runs.map(({ conclusion }) => conclusion)).toEqual([
      'success',
      'failure',
      'failure',
      'failure',
    ]);
  });

  test('a check that somebody asked to repeat gets one new run, also when it says the same', async () => {
    await using opened = await open(200);
    await opened.host.reportCheck(repository, checkOf('success'));
    for (const state of ['running', 'success'] as const)
      await opened.host.reportCheck(repository, checkOf(state, { isAgain: true }));
    expect(opened.standIn.runs.map(({ conclusion }) => conclusion)).toEqual(['success', 'success']);
    await opened.host.reportCheck(repository, checkOf('success', { isAgain: true }));
    await opened.host.reportCheck(repository, checkOf('success'));
    expect(opened.standIn.runs).toHaveLength(3);
  });

  test('texts are cut to what GitHub takes', async () => {
    await using opened = await open(200);
    const message = 'm'.repeat(70_000);
    const path = 'p'.repeat(5000);
    const more = {
      annotations: [
        { ...annotation(1), message },
        { ...annotation(2), path },
      ],
      summary: 's'.repeat(70_000),
    };
    await opened.host.reportCheck(repository, checkOf('failure', { ...more, title: 't'.repeat(1000) }));
    const [run] = opened.standIn.runs;
    expect(run!.output.title).toHaveLength(255);
    expect(run!.output.summary).toHaveLength(65_535);
    expect(run!.output.summary).toMatch(/1 more findings are not shown here\.$/);
    expect(run!.annotations.map((each) => (each['message'] as string).length)).toEqual([65_535]);
  });

  test.each([403, 404])('where checks are not allowed (%i), a status is set', async (status) => {
    await using opened = await open(200);
    opened.standIn.fail({ status, body: { message: 'Resource not accessible by integration' } }, 10, ({ path }) =>
      path.includes('check-runs'),
    );
    await opened.host.reportCheck(repository, checkOf('failure', { title: 'x'.repeat(300) }));
    expect(opened.standIn.statuses).toMatchObject([{ state: 'failure', context: 'stele @acme/apis/payments' }]);
    expect(opened.standIn.statuses[0]!.description).toHaveLength(140);
  });

  test('a secondary rate limit (403 with retry-after) is waited for, not taken for a missing permission', async () => {
    await using opened = await open(200);
    const said = {
      status: 403,
      headers: { 'retry-after': '1' },
      body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' },
    };
    opened.standIn.fail(said, 2, ({ method, path }) => method === 'POST' && path.endsWith('/check-runs'));
    await opened.host.reportCheck(repository, checkOf('success'));
    expect(opened.standIn.runs).toHaveLength(1);
    opened.standIn.fail({ ...said, headers: { 'retry-after': '600' } }, 50, ({ path }) => path.includes('check-runs'));
    await expect(opened.host.reportCheck(repository, checkOf('failure'))).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(opened.standIn.statuses).toEqual([]);
  });

  test('a rate limit that is used up is not waited for when it ends late', async () => {
    await using opened = await open(200);
    const reset = String(Math.floor(Date.now() / 1000) + 3000);
    const said = { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }, body: {} };
    opened.standIn.fail(said, 50, ({ path }) => path.includes('check-runs'));
    const told = opened.host.reportCheck(repository, checkOf('failure'));
    await expect(told).rejects.toMatchObject({ code: 'unreachable', message: expect.stringContaining('(429)') });
    expect(opened.standIn.statuses).toEqual([]);
  });
});

describe('an app', () => {
  const asked = ({ standIn }: { standIn: GitHubApi }, end: string) =>
    standIn.requests.filter(({ path }) => path.endsWith(end)).length;

  test('finds its installation once, and makes one token for all that it asks', async () => {
    await using opened = await open(200);
    await opened.host.reportCheck(repository, checkOf('running'));
    await opened.host.reportCheck(repository, checkOf('success'));
    await opened.host.listPulls(repository);
    expect([asked(opened, '/installation'), asked(opened, '/access_tokens')]).toEqual([1, 1]);
  });

  test('gives git a token of the installation, the same until it is old', async () => {
    await using opened = await open(200);
    const first = await opened.host.gitCredential(repository);
    expect(first).toEqual({ kind: 'token', username: 'x-access-token', token: 'ghs_7_1' });
    expect(await opened.host.gitCredential(repository)).toEqual(first);
    expect(await opened.host.gitCredential({ ...repository, credential: 'token' })).toBeNull();
  });

  test('a token that git would outlive is made anew', async () => {
    await using opened = await open(200);
    const said = {
      status: 201,
      body: {
        token: 'ghs_old',
        expires_at: new Date(Date.now() + 5 * 60_000).toISOString(),
        permissions: {},
        repository_selection: 'selected',
      },
    };
    opened.standIn.fail(said, 1, ({ path }) => path.endsWith('/access_tokens'));
    expect(await opened.host.gitCredential(repository)).toMatchObject({ token: 'ghs_7_1' });
  });

  test('looks again when it was installed anew', async () => {
    await using opened = await open(200);
    await opened.host.gitCredential(repository);
    opened.standIn.installations.set('acme/contracts', 8);
    opened.standIn.fail(
      { status: 404, body: {} },
      20,
      ({ headers: { authorization } }) => authorization === 'token ghs_7_1',
    );
    await expect(opened.host.reportCheck(repository, checkOf('success'))).rejects.toMatchObject({
      code: 'unreachable',
    });
    await opened.host.reportCheck(repository, checkOf('success'));
    expect(opened.stands(commit)).toEqual({ 'stele @acme/apis/payments': 'success' });
  });

  test('that is not installed is reported, without a secret', async () => {
    await using opened = await open(200);
    opened.standIn.installations.clear();
    const told = opened.host.gitCredential(repository);
    const message = 'GitHub has no repository acme/contracts that the credential can see (404).';
    await expect(told).rejects.toMatchObject({ code: 'unreachable', message });
  });

  test('that has no key is malformed, and the error does not name its file', async () => {
    await using standIn = await openGitHubApi();
    const app = { githubApp: { appId: 1, privateKeyFile: '/nowhere/app.pem' } };
    const host = hostAt('github', standIn.apiUrl, 200, { credentials: { app } });
    const error: unknown = await host.gitCredential(repository).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'malformed' });
    expect(String(error)).not.toContain('/nowhere');
  });

  test('is sent to GitHub alone', async () => {
    await using standIn = await openGitHubApi();
    const app = { githubApp: { appId: 1, privateKeyFile: key.file } };
    for (const kind of ['gitlab', 'gitea', 'bitbucket'] as const) {
      const host = hostAt(kind, standIn.url, 200, { credentials: { app } });
      await expect(host.reportCheck(repository, checkOf('success'))).rejects.toMatchObject({ code: 'forbidden' });
      await expect(host.gitCredential(repository)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(standIn.requests).toEqual([]);
  });
});

test('a token without a host is for the hosts of the repositories that name it', async () => {
  await using standIn = await openGitHubApi();
  const user = (url: string) => ({
    credentials: { token: { env: 'STELE_TEST_HOST_TOKEN' } },
    organizations: { acme: { repositories: [{ url, credential: 'token' }] } },
  });
  const byToken = { ...repository, credential: 'token' };
  const there = hostAt('github', standIn.apiUrl, 200, user('https://other.example.test/acme/contracts'));
  await expect(there.reportCheck(byToken, checkOf('success'))).rejects.toMatchObject({ code: 'forbidden' });
  expect(standIn.requests).toEqual([]);
  const here = hostAt('github', standIn.apiUrl, 200, user('https://git.example.test/acme/contracts'));
  await here.reportCheck(byToken, checkOf('success'));
  const unnamed = hostAt('github', standIn.apiUrl, 200, { credentials: { token: { env: 'STELE_TEST_HOST_TOKEN' } } });
  await unnamed.reportCheck(byToken, checkOf('success'));
  expect(standIn.requests.map((request) => request.headers.authorization)).toEqual([
    `token ${tokenText}`,
    `token ${tokenText}`,
  ]);
});

test('a hook may be set to send a form', async () => {
  await using opened = await open(200);
  const payload = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: 'acme/contracts', more: '+&=é' } });
  const body = Buffer.from(new URLSearchParams({ payload }).toString());
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  const delivery = { headers: { ...form, 'x-hub-signature-256': `sha256=${hmac('right', body)}` }, body };
  expect(await opened.host.isGenuine(delivery, ['right'], new Date())).toBe(true);
  expect(opened.host.readHint(delivery)).toEqual({ kind: 'push', repository: 'acme/contracts' });
  const empty = { headers: form, body: Buffer.from('other=1') };
  expect(() => opened.host.readHint(empty)).toThrow(expect.objectContaining({ code: 'malformed' }));
});
