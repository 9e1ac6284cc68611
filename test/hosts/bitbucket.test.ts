import { expect, test } from 'vitest';
import { checkOf, hostContract, type HostCase } from '../contract/host.ts';
import { openBitbucketApi } from '../servers/bitbucket-api.ts';
import { credentials, hmac, hostAt, named } from './world.ts';

const headers = { 'x-event-key': 'repo:push' };
const repository = { full_name: 'acme/contracts' };
const side = (branch: unknown, from = repository) => ({ branch: { name: branch }, repository: from });

async function open(second: number) {
  const standIn = await openBitbucketApi();
  const more = { person: { env: 'STELE_TEST_HOST_TOKEN', username: 'robot', host: 'git.example.test' } };
  return {
    host: hostAt('bitbucket', `${standIn.url}/2.0`, second, { credentials: { ...credentials, ...more } }),
    standIn,
    credentials: named,
    stands: (commit: string) =>
      Object.fromEntries(standIn.statuses.flatMap(({ sha, name, state }) => (sha === commit ? [[name, state]] : []))),
    [Symbol.asyncDispose]: () => standIn[Symbol.asyncDispose](),
  };
}

const given: HostCase = {
  open,
  secrets: { right: 'right', other: 'other' },
  sign: (body, secret) => ({ 'x-hub-signature': `sha256=${hmac(secret, body)}` }),
  field: 'x-hub-signature',
  push: { headers, payload: { push: { changes: [] }, repository } },
  pull: {
    headers: { 'x-event-key': 'pullrequest:updated' },
    payload: { repository, pullrequest: { id: 7, source: side('change'), destination: side('main') } },
    ref: 'refs/heads/change',
  },
  pullItem: (id, base) => ({ id, source: side('change'), destination: side(base) }),
  ownedItem: (full_name, { isFork }) => ({ full_name, parent: isFork ? { full_name: 'other/x' } : null }),
  hasArchived: false,
  hasUsers: false,
  refOf: () => 'refs/heads/change',
  notes: 'checks',
  states: {
    running: 'INPROGRESS',
    waiting: 'INPROGRESS',
    success: 'SUCCESSFUL',
    neutral: 'SUCCESSFUL',
    failure: 'FAILED',
    cancelled: 'STOPPED',
  },
};

hostContract('bitbucket', given);

test("a fork's pull request has no ref, and neither has one whose branch can be none", async () => {
  await using opened = await open(200);
  const refOf = (source: object) => {
    const payload = { repository, pullrequest: { id: 7, source, destination: side('main') } };
    const hint = opened.host.readHint({ headers: given.pull.headers, body: Buffer.from(JSON.stringify(payload)) });
    return hint.kind === 'pull' && hint.pull.ref;
  };
  expect(refOf(side('change'))).toBe('refs/heads/change');
  expect(refOf(side('change', { full_name: 'ACME/Contracts' }))).toBe('refs/heads/change');
  expect(refOf(side('change', { full_name: 'someone/contracts' }))).toBeNull();
  expect(refOf({ branch: { name: 'change' }, repository: null })).toBeNull();
  for (const branch of ['../../tags/v1', '-x', 'a b', '', null, 'x.lock', 'a:b'])
    expect(refOf(side(branch))).toBeNull();
});

test('names too long for a key stay apart', async () => {
  await using opened = await open(200);
  const repositoryOf = { name: 'acme/contracts', credential: 'token' };
  const names = ['one', 'two'].map((end) => `stele @acme/apis/a-name-that-is-far-too-long-${end}`);
  for (const name of names) await opened.host.reportCheck(repositoryOf, checkOf('success', { name }));
  const keys = opened.standIn.statuses.map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
  expect(keys.every((key) => key.length === 40)).toBe(true);
  expect(opened.standIn.statuses[0]!.url).toBe(`https://git.example.test/acme/contracts/commits/${'c'.repeat(40)}`);
});

test('a token is sent as Bearer, and with a user name as Basic', async () => {
  await using opened = await open(200);
  for (const credential of ['token', 'person'])
    await opened.host.reportCheck({ name: 'acme/contracts', credential }, checkOf('success'));
  // Each check is told with two requests: one deletes an old report, one writes the status.
  const basic = `Basic ${Buffer.from('robot:a-token-that-nobody-may-see').toString('base64')}`;
  const bearer = 'Bearer a-token-that-nobody-may-see';
  const sent = opened.standIn.requests.map((request) => request.headers.authorization);
  expect(sent).toEqual([bearer, bearer, basic, basic]);
});

test('findings are annotations of a report, the same however often they are sent, and go when they are fixed', async () => {
  await using opened = await open(200);
  const annotation = (line: number) =>
    ({ path: 'a.yaml', line, column: 1, severity: 'error', rule: 'r', message: 'Wrong' }) as const;
  const annotations = Array.from({ length: 150 }, (_, index) => annotation(index + 1));
  const here = { name: 'acme/contracts', credential: 'token' };
  const { reports } = opened.standIn;
  for (let times = 0; times < 2; times++) await opened.host.reportCheck(here, checkOf('failure', { annotations }));
  expect([...reports.values()].map(({ result, annotations: all }) => [result, all.length])).toEqual([['FAILED', 150]]);
  expect([...reports.values()][0]!.annotations[0]).toMatchObject({ path: 'a.yaml', line: 1, severity: 'HIGH' });
  await opened.host.reportCheck(here, checkOf('success'));
  expect(reports.size).toBe(0);
  opened.standIn.fail({ status: 403, body: {} }, 50, ({ path }) => path.includes('/reports/'));
  await opened.host.reportCheck(here, checkOf('failure', { annotations }));
  expect(opened.stands('c'.repeat(40))).toEqual({ 'stele @acme/apis/payments': 'FAILED' });
});
