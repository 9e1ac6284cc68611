import { describe, expect, test } from 'vitest';
import type { TrustedPublisher } from '../../src/config/login-config.ts';
import { keyRef, parseKey, type Key } from '../../src/model/key.ts';
import { authenticateKey } from '../../src/registry/keys/keys.ts';
import { originOf, type CiJob } from '../../src/model/access.ts';
import { readJob } from '../../src/server/login/token.ts';
import { exchangeToken, findPublisher } from '../../src/registry/keys/trust.ts';
import { createWorld } from './world.ts';

const url = 'https://registry.test';
const github = {
  iss: 'https://token.actions.githubusercontent.com',
  sub: 'repo:acme/payments:ref:refs/heads/main',
  aud: url,
  jti: 'example-id',
  exp: 1767225600,
  repository: 'acme/payments',
  repository_id: '74',
  repository_owner_id: 65,
  ref: 'refs/heads/main',
  ref_type: 'branch',
  sha: 'c0ffee'.padEnd(40, '0'),
  event_name: 'push',
  workflow_ref: 'acme/payments/.github/workflows/release.yml@refs/heads/main',
  run_id: '30433642',
  run_attempt: '2',
  actor: 'octocat',
};
const gitlab = {
  iss: 'https://gitlab.com',
  sub: 'project_path:acme/payments:ref_type:branch:ref:main',
  aud: url,
  jti: 'c82eeb0c',
  exp: 1767225600,
  project_path: 'acme/payments',
  project_id: '74',
  namespace_id: '65',
  ref: 'main',
  ref_type: 'branch',
  ref_path: 'refs/heads/main',
  pipeline_source: 'push',
  job_id: '234',
};
const publisher: TrustedPublisher = {
  forks: false,
  issuer: github.iss,
  organization: 'acme',
  repository: 'acme/payments',
  ref: 'refs/heads/main',
  scopes: ['publish'],
  resources: ['apis/pay-*'],
};

function jobOf(claims: Record<string, unknown>): CiJob {
  return readJob(claims)!;
}

describe('the job in a token', () => {
  test('is read from a token of GitHub', () => {
    expect(readJob(github)).toEqual({
      issuer: github.iss,
      subject: github.sub,
      audiences: [url],
      tokenId: 'example-id',
      kind: 'github',
      repository: 'acme/payments',
      repositoryUrl: 'https://github.com/acme/payments',
      repositoryId: '74',
      ownerId: '65',
      ref: 'refs/heads/main',
      isRefProtected: false,
      commit: github.sha,
      workflow: github.workflow_ref,
      jobWorkflow: null,
      environment: null,
      event: 'push',
      isFork: false,
      run: 'https://github.com/acme/payments/actions/runs/30433642/attempts/2',
      startedBy: 'octocat',
      expiresAt: '2026-01-01T00:00:00.000Z',
    });
  });

  test.each([
    ['main', 'branch', 'refs/heads/main'],
    ['v1', 'tag', 'refs/tags/v1'],
    ['refs/heads/main', 'branch', 'refs/heads/refs/heads/main'],
    ['refs/merge-requests/1/head', 'branch', 'refs/heads/refs/merge-requests/1/head'],
    ['main', undefined, null],
    ['main', 'other', null],
    [undefined, 'branch', null],
  ])('is read from a token of GitLab: %s, a %s, is %s', (ref, type, expected) => {
    const job = jobOf({ ...gitlab, ref, ref_type: type, ref_path: undefined });
    expect([job.repository, job.ref]).toEqual(['acme/payments', expected]);
  });

  test.each([
    ['https://token.actions.githubusercontent.com', 'https://github.com/acme/payments'],
    ['https://token.actions.githubusercontent.com/octo', 'https://github.com/acme/payments'],
    ['https://github.example.com/_services/token', 'https://github.example.com/acme/payments'],
    ['https://codeberg.org/api/actions', 'https://codeberg.org/acme/payments'],
  ])('of %s ran for %s', (iss, repository) => {
    const origin = originOf(jobOf({ ...github, iss }));
    expect([origin.repository, origin.run]).toEqual([repository, `${repository}/actions/runs/30433642/attempts/2`]);
  });

  test('of GitLab links to the job', () => {
    expect(originOf(jobOf(gitlab)).run).toBe('https://gitlab.com/acme/payments/-/jobs/234');
  });

  test.each(['iss', 'sub', 'jti', 'repository'])('is null without a valid %s', (name) => {
    expect(readJob({ ...github, [name]: undefined })).toBeNull();
    expect(readJob({ ...github, [name]: '' })).toBeNull();
    expect(readJob({ ...github, [name]: 1 })).toBeNull();
    expect(readJob({ ...github, [name]: 'x'.repeat(1025) })).toBeNull();
  });
});

describe('the trusted publisher', () => {
  test('is the entry that matches the job in every member', () => {
    expect(findPublisher([publisher], jobOf(github), url)).toEqual({ publisher });
    const { ref: _ref, ...rest } = publisher;
    const anyRef = { ...rest, refProtected: false };
    const tag = { ...github, ref: 'refs/tags/v1', ref_type: 'tag' };
    expect(findPublisher([anyRef], jobOf(tag), url)).toEqual({ publisher: anyRef });
    expect(findPublisher([publisher, anyRef], jobOf(tag), url)).toEqual({ publisher: anyRef });
    const own = { ...publisher, audience: 'stele' };
    expect(findPublisher([own], jobOf({ ...github, aud: ['other', 'stele'] }), url)).toEqual({ publisher: own });
  });

  test.each([
    { iss: 'https://evil.test' },
    { iss: `${github.iss}/` },
    { aud: 'https://other.test' },
    { aud: `${url}/` },
    { aud: undefined },
    { aud: [] },
    { aud: [1, null] },
    { repository: 'acme/payments2' },
    { repository: 'Acme/payments' },
    { repository: 'evil/acme/payments' },
    { ref: 'refs/heads/main2' },
    { ref: 'refs/tags/main' },
    { ref: 'main' },
    { ref: undefined },
    { ref: 'refs/pull/1/merge' },
  ])('is none for a job with %j', (difference) => {
    expect(findPublisher([publisher], jobOf({ ...github, ...difference }), url)).toHaveProperty('reason');
  });

  test('with its own audience does not accept the audience of the registry', () => {
    expect(findPublisher([{ ...publisher, audience: 'stele' }], jobOf(github), url)).toEqual({ reason: 'audience' });
  });
});

describe('the exchange', () => {
  test('accepts only the first of two repositories that use a name at the same moment, also later', async () => {
    const { registry, another } = createWorld();
    const registries = [registry, another()];
    const attempts = ['74', '99'].flatMap((id) =>
      registries.map((each, index) =>
        exchangeToken(each, publisher, jobOf({ ...github, repository_id: id, jti: `${id} ${index}` }), null),
      ),
    );
    const exchanged = await Promise.all(attempts);
    const isTaken = exchanged.map((each) => 'key' in each);
    expect([isTaken.slice(0, 2), isTaken.slice(2)].sort()).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  test('gives a key with the scopes and resources of the entry for 15 minutes', async () => {
    const { registry, pass } = createWorld();
    const exchanged = await exchangeToken(registry, publisher, jobOf(github), '192.0.2.1');
    expect(exchanged).toMatchObject({ key: { org: 'acme', expiresAt: '2026-01-01T00:15:00.000Z' } });
    const { text } = exchanged as { text: string };
    const principal = { kind: 'key', org: 'acme', scopes: ['publish'], resources: ['apis/pay-*'] };
    pass(899_000);
    expect(await authenticateKey(registry, text)).toMatchObject(principal);
    pass(1_000);
    expect(await authenticateKey(registry, text)).toBeNull();
    const generation = (await registry.refs.read<Key>(keyRef(parseKey(text)!.id)))!;
    expect(generation.value.name).toBe('acme/payments refs/heads/main');
    const run = 'https://github.com/acme/payments/actions/runs/30433642/attempts/2';
    expect([generation.actor, generation.origin]).toEqual([`job:${run}`, '192.0.2.1']);
  });

  test('accepts a token once, also among concurrent requests and processes', async () => {
    const { registry, another } = createWorld();
    const registries = [registry, another(), another()];
    const attempts = Array.from({ length: 12 }, (_, number) =>
      exchangeToken(registries[number % 3]!, publisher, jobOf(github), null),
    );
    expect((await Promise.all(attempts)).filter((exchanged) => 'key' in exchanged)).toHaveLength(1);
    const used = { reason: 'token used before' };
    expect(await exchangeToken(another(), publisher, jobOf(github), null)).toEqual(used);
    expect(await exchangeToken(registry, publisher, jobOf({ ...github, jti: 'other' }), null)).toHaveProperty('key');
    const elsewhere = jobOf({ ...github, iss: 'https://other.test' });
    expect(await exchangeToken(registry, publisher, elsewhere, null)).toHaveProperty('key');
  });
});
