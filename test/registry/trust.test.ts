import { describe, expect, test } from 'vitest';
import type { TrustedPublisher } from '../../src/config.ts';
import { keyRef, parseKey, type Key } from '../../src/model/key.ts';
import { authenticateKey } from '../../src/registry/keys.ts';
import { exchangeToken, findPublisher, readJob, type Job } from '../../src/registry/trust.ts';
import { createWorld } from './world.ts';

const url = 'https://registry.test';
const github = {
  iss: 'https://token.actions.githubusercontent.com',
  sub: 'repo:acme/payments:ref:refs/heads/main',
  aud: url,
  jti: 'example-id',
  exp: 1767225600,
  repository: 'acme/payments',
  ref: 'refs/heads/main',
};
const gitlab = {
  iss: 'https://gitlab.com',
  sub: 'project_path:acme/payments:ref_type:branch:ref:main',
  aud: url,
  jti: 'c82eeb0c',
  exp: 1767225600,
  project_path: 'acme/payments',
  ref: 'main',
  ref_type: 'branch',
};
const publisher: TrustedPublisher = {
  issuer: github.iss,
  organization: 'acme',
  repository: 'acme/payments',
  ref: 'refs/heads/main',
  scopes: ['publish'],
  resources: ['apis/pay-*'],
};

function jobOf(claims: Record<string, unknown>): Job {
  return readJob(claims)!;
}

describe('a job, as its token tells', () => {
  test('is told by GitHub', () => {
    expect(readJob(github)).toEqual({
      issuer: github.iss,
      subject: github.sub,
      audiences: [url],
      tokenId: 'example-id',
      repository: 'acme/payments',
      ref: 'refs/heads/main',
      expiresAt: '2026-01-01T00:00:00.000Z',
    });
  });

  test.each([
    ['main', 'branch', 'refs/heads/main'],
    ['v1', 'tag', 'refs/tags/v1'],
    ['refs/merge-requests/1/head', 'branch', 'refs/merge-requests/1/head'],
    ['main', undefined, 'main'],
    ['main', 'other', 'main'],
    [undefined, 'branch', null],
  ])('is told by GitLab: %s, a %s, is %s', (ref, type, expected) => {
    const job = jobOf({ ...gitlab, ref, ref_type: type });
    expect([job.repository, job.ref]).toEqual(['acme/payments', expected]);
  });

  test.each(['iss', 'sub', 'jti', 'repository'])('is nobody without %s', (name) => {
    expect(readJob({ ...github, [name]: undefined })).toBeNull();
    expect(readJob({ ...github, [name]: '' })).toBeNull();
    expect(readJob({ ...github, [name]: 1 })).toBeNull();
    expect(readJob({ ...github, [name]: 'x'.repeat(1025) })).toBeNull();
  });
});

describe('the trusted publisher', () => {
  test('is the entry that the job is, in all', () => {
    expect(findPublisher([publisher], jobOf(github), url)).toBe(publisher);
    const { ref: _ref, ...anyRef } = publisher;
    expect(findPublisher([anyRef], jobOf({ ...github, ref: 'refs/tags/v1' }), url)).toBe(anyRef);
    expect(findPublisher([publisher, anyRef], jobOf({ ...github, ref: 'refs/tags/v1' }), url)).toBe(anyRef);
    const own = { ...publisher, audience: 'stele' };
    expect(findPublisher([own], jobOf({ ...github, aud: ['other', 'stele'] }), url)).toBe(own);
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
    expect(findPublisher([publisher], jobOf({ ...github, ...difference }), url)).toBeNull();
  });

  test('that names its own audience is not met by the registry’s', () => {
    expect(findPublisher([{ ...publisher, audience: 'stele' }], jobOf(github), url)).toBeNull();
  });
});

describe('the exchange', () => {
  test('gives a key of the entry’s scopes and resources for 15 minutes', async () => {
    const { registry, pass } = createWorld();
    const exchanged = await exchangeToken(registry, publisher, jobOf(github), '192.0.2.1');
    expect(exchanged).toMatchObject({ key: { org: 'acme', expiresAt: '2026-01-01T00:15:00.000Z' } });
    const { text } = exchanged!;
    const principal = { kind: 'key', org: 'acme', scopes: ['publish'], resources: ['apis/pay-*'] };
    pass(899_000);
    expect(await authenticateKey(registry, text)).toMatchObject(principal);
    pass(1_000);
    expect(await authenticateKey(registry, text)).toBeNull();
    const generation = (await registry.refs.read<Key>(keyRef(parseKey(text)!.id)))!;
    expect(generation.value.name).toBe('acme/payments refs/heads/main');
    expect([generation.actor, generation.origin]).toEqual([`job:${github.iss}#${github.sub}`, '192.0.2.1']);
  });

  test('takes a token once, also of many at once and in every process', async () => {
    const { registry, another } = createWorld();
    const registries = [registry, another(), another()];
    const attempts = Array.from({ length: 12 }, (_, number) =>
      exchangeToken(registries[number % 3]!, publisher, jobOf(github), null),
    );
    expect((await Promise.all(attempts)).filter((exchanged) => exchanged !== null)).toHaveLength(1);
    expect(await exchangeToken(another(), publisher, jobOf(github), null)).toBeNull();
    expect(await exchangeToken(registry, publisher, jobOf({ ...github, jti: 'other' }), null)).not.toBeNull();
    expect(
      await exchangeToken(registry, publisher, jobOf({ ...github, iss: 'https://other.test' }), null),
    ).not.toBeNull();
  });
});
