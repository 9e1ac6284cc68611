import { afterAll, beforeAll, expect, test } from 'vitest';
import { verify } from '../../../src/registry/verify.ts';
import { openIssuer, type Issuer } from '../login/issuer.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';

/** What a CI job publishes, from its token to what is told of it afterwards. */
let issuer: Issuer;
beforeAll(async () => {
  issuer = await openIssuer();
});
afterAll(() => issuer[Symbol.asyncDispose]());

const commit = 'c0ffee'.padEnd(40, '0');

async function open(entry: object = {}): Promise<Api> {
  const trusted = { issuer: issuer.issuer, organization: 'acme', repository: 'acme/pay', ref: 'refs/heads/main' };
  return openApi(createTestRegistry({ ...unlimited, trustedPublishing: [{ ...trusted, ...entry }] }));
}

async function exchange(api: Api, jti: string): Promise<string> {
  const now = api.registry.now().getTime() / 1000;
  const token = await issuer.sign({
    iss: issuer.issuer,
    sub: 'repo:acme/pay:ref:refs/heads/main',
    aud: 'http://registry.test',
    jti,
    iat: now,
    nbf: now,
    exp: now + 300,
    repository: 'acme/pay',
    repository_id: '74',
    repository_owner_id: '65',
    ref: 'refs/heads/main',
    ref_type: 'branch',
    ref_protected: 'true',
    sha: commit,
    event_name: 'push',
    run_id: '7',
    run_attempt: '1',
    workflow_ref: 'acme/pay/.github/workflows/release.yml@refs/heads/main',
  });
  const { status, json } = await api.call('POST', '/v1/token', { key: null, body: { token } });
  expect(status).toBe(201);
  return json['secret'] as string;
}

test("a version that a job published names its repository, commit and run, and so does the audit trail's actor", async () => {
  await using api = await open();
  const key = await exchange(api, 'one');
  await api.call('POST', '/v1/apis', { key, body: { name: 'Pay', slug: 'pay' } });
  expect((await api.call('POST', '/v1/apis/pay/spec', { key, body: { document: documentOf('1.0.0') } })).status).toBe(
    201,
  );
  const run = `${issuer.issuer}/acme/pay/actions/runs/7/attempts/1`;
  const provenance = await api.call('GET', '/@acme/apis/pay@1.0.0/provenance');
  expect(provenance.json).toMatchObject({
    repository: `${issuer.issuer}/acme/pay`,
    commit,
    job: {
      issuer: issuer.issuer,
      subject: 'repo:acme/pay:ref:refs/heads/main',
      ref: 'refs/heads/main',
      workflow: 'acme/pay/.github/workflows/release.yml@refs/heads/main',
      run,
    },
  });
  const audit = await api.call('GET', '/v1/audit?resource=apis/pay');
  const actors = (audit.json['items'] as { action: string; actor: string }[]).map(({ action, actor }) => [
    action,
    actor,
  ]);
  expect(actors).toEqual([
    ['publish 1.0.0', `job:${run}`],
    ['create', `job:${run}`],
  ]);
  await expect(verify(api.registry, { org: 'acme', type: 'apis', slug: 'pay' }, { kind: 'latest' })).rejects.toThrow(
    `was uploaded by a CI job, ${run}`,
  );
  const again = await exchange(api, 'two');
  const repeated = await api.call('POST', '/v1/apis/pay/spec', { key: again, body: { document: documentOf('1.0.0') } });
  expect(repeated.json).toMatchObject({ outcome: 'unchanged' });
});

test('a job publishes a ruleset only if its entry names it', async () => {
  for (const [resources, expected] of [
    [undefined, 403],
    [['apis/*'], 404],
    [['rulesets/style'], 201],
  ] as const) {
    await using api = await open({ ...(resources && { resources }) });
    await api.call('POST', '/v1/rulesets', { body: { name: 'Style', slug: 'style' } });
    const key = await exchange(api, 'one');
    const answer = await api.call('POST', '/v1/rulesets/style/document', {
      key,
      body: { document: documentOf('1.0.0') },
    });
    expect(answer.status).toBe(expected);
  }
});
