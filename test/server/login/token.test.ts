import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { isRegistryError } from '../../../src/model/errors.ts';
import { authenticateKey } from '../../../src/registry/keys/keys.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../../src/server/listen.ts';
import { createTokenExchange, type TokenExchange } from '../../../src/server/login/token.ts';
import { createV1 } from '../../../src/server/v1/v1.ts';
import { createWorld, type World } from '../../registry/world.ts';
import { openIssuer, type Issuer } from './issuer.ts';

const url = 'https://registry.test';

let issuer: Issuer;
let world: World;
let exchange: TokenExchange;
let number = 0;

const refused = 'unauthenticated: The token was rejected. The log of this registry gives the reason.';

beforeAll(async () => {
  issuer = await openIssuer();
});

afterAll(() => issuer[Symbol.asyncDispose]());

beforeEach(() => {
  issuer.metadata = {};
  issuer.status = null;
  world = createWorld({
    organizations: { acme: {} },
    trustedPublishing: [
      { issuer: issuer.issuer, organization: 'acme', repository: 'acme/payments', ref: 'refs/heads/main' },
      { issuer: issuer.issuer, organization: 'acme', repository: 'acme/orders', audience: 'stele', scopes: ['admin'] },
    ],
  });
  exchange = createTokenExchange(world.registry, url);
});

function claims(): JWTPayload & Record<string, unknown> {
  const now = world.registry.now().getTime() / 1000;
  return {
    iss: issuer.issuer,
    sub: 'repo:acme/payments:ref:refs/heads/main',
    aud: url,
    jti: `token ${number++}`,
    iat: now,
    nbf: now,
    exp: now + 300,
    repository: 'acme/payments',
    repository_id: '74',
    repository_owner: 'acme',
    repository_owner_id: '65',
    ref: 'refs/heads/main',
    ref_type: 'branch',
    ref_protected: 'true',
    sha: 'c0ffee'.padEnd(40, '0'),
    event_name: 'push',
    environment: 'production',
    workflow_ref: 'acme/payments/.github/workflows/release.yml@refs/heads/main',
    job_workflow_ref: 'acme/payments/.github/workflows/release.yml@refs/heads/main',
    run_id: '30433642',
    run_attempt: '1',
  };
}

/** The same job on GitLab. */
function gitLabClaims(): JWTPayload & Record<string, unknown> {
  const gitHubs = ['repository', 'repository_id', 'repository_owner', 'repository_owner_id', 'event_name'];
  const more = ['workflow_ref', 'job_workflow_ref', 'run_id', 'run_attempt'];
  const common = Object.entries(claims()).filter(([name]) => ![...gitHubs, ...more].includes(name));
  return {
    ...Object.fromEntries(common),
    sub: 'project_path:acme/payments:ref_type:branch:ref:main',
    project_path: 'acme/payments',
    project_id: '74',
    namespace_path: 'acme',
    namespace_id: '65',
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: 'true',
    sha: 'c0ffee'.padEnd(40, '0'),
    pipeline_source: 'push',
    environment: 'production',
    ci_config_ref_uri: `${issuer.issuer.replace('http://', '')}/acme/payments//.gitlab-ci.yml@refs/heads/main`,
    pipeline_id: '123',
    job_id: '234',
    job_project_id: '74',
    job_project_path: 'acme/payments',
  };
}

/** `key`, or the code and message of the refusal. */
async function outcomeOf(token: string): Promise<string> {
  try {
    const { text } = await exchange(token, '192.0.2.1');
    return (await authenticateKey(world.registry, text)) === null ? 'no key' : 'key';
  } catch (error) {
    if (isRegistryError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
}

describe('a token is exchanged', () => {
  test('for a key', async () => {
    const { key, text } = await exchange(await issuer.sign(claims()), null);
    expect(key.expiresAt).toBe('2026-01-01T00:15:00.000Z');
    expect(await authenticateKey(world.registry, text)).toMatchObject({
      org: 'acme',
      scopes: ['publish'],
      resources: null,
    });
  });

  test('signed by either kind of key', async () => {
    expect(await outcomeOf(await issuer.sign(claims(), { alg: 'ES256' }))).toBe('key');
  });

  test('of GitLab', async () => {
    expect(await outcomeOf(await issuer.sign(gitLabClaims()))).toBe('key');
  });

  test('by a clock that goes a minute wrong', async () => {
    const now = world.registry.now().getTime() / 1000;
    expect(await outcomeOf(await issuer.sign({ ...claims(), exp: now - 59 }))).toBe('key');
    expect(await outcomeOf(await issuer.sign({ ...claims(), iat: now + 59, nbf: now + 59 }))).toBe('key');
  });

  test('with keys that changed since', async () => {
    await using rotating = await openIssuer();
    const entry = { issuer: rotating.issuer, organization: 'acme', repository: 'acme/payments' };
    world = createWorld({ organizations: { acme: {} }, trustedPublishing: [entry] });
    exchange = createTokenExchange(world.registry, url);
    expect(await outcomeOf(await rotating.sign({ ...claims(), iss: rotating.issuer }))).toBe('key');
    expect(await outcomeOf(await rotating.sign({ ...claims(), iss: rotating.issuer }))).toBe('key');
    expect(rotating.requests).toEqual(['/.well-known/openid-configuration', '/jwks']);
  });
});

describe('an entry that binds everything', () => {
  beforeEach(() => {
    const common = {
      issuer: issuer.issuer,
      organization: 'acme',
      repository: 'acme/payments',
      repositoryId: '74',
      ownerId: '65',
      ref: 'refs/heads/main',
      refType: 'branch',
      refProtected: true,
      environment: 'production',
    } as const;
    world = createWorld({
      organizations: { acme: {} },
      trustedPublishing: [
        { ...common, workflow: '.github/workflows/release.yml' },
        { ...common, workflow: '.gitlab-ci.yml' },
      ],
    });
    exchange = createTokenExchange(world.registry, url);
  });

  test('takes the tokens of both hosts', async () => {
    expect(await outcomeOf(await issuer.sign(claims()))).toBe('key');
    expect(await outcomeOf(await issuer.sign(gitLabClaims()))).toBe('key');
    const atCommit = `acme/payments/.github/workflows/release.yml@${String(claims()['sha'])}`;
    expect(await outcomeOf(await issuer.sign({ ...claims(), job_workflow_ref: atCommit }))).toBe('key');
  });

  const file = 'acme/payments/.github/workflows/';
  const forgeries: [string, Record<string, unknown>][] = [
    ['another repository of that name', { repository_id: '75' }],
    ['no repository id', { repository_id: undefined }],
    ['another owner of that name', { repository_owner_id: '66' }],
    ['no owner id', { repository_owner_id: undefined }],
    ['another branch', { ref: 'refs/heads/evil' }],
    ['a tag called as the branch', { ref: 'refs/tags/main', ref_type: 'tag' }],
    ['a ref whose type says otherwise', { ref_type: 'tag' }],
    ['a short ref', { ref: 'main' }],
    ['a ref that is not protected', { ref_protected: 'false' }],
    ['a ref of which nothing is said', { ref_protected: undefined }],
    ['another environment', { environment: 'staging' }],
    ['no environment', { environment: undefined }],
    ['another workflow', { workflow_ref: `${file}evil.yml@refs/heads/main` }],
    ['a workflow of another branch', { workflow_ref: `${file}release.yml@refs/heads/evil` }],
    ['a workflow of another repository', { workflow_ref: 'evil/x/.github/workflows/release.yml@refs/heads/main' }],
    ['another workflow that defines the job', { job_workflow_ref: `${file}evil.yml@refs/heads/main` }],
    ['a reusable workflow of a stranger', { job_workflow_ref: 'evil/x/.github/workflows/release.yml@refs/heads/main' }],
    ['no workflow', { workflow_ref: undefined, job_workflow_ref: undefined }],
    ['a pull request', { event_name: 'pull_request' }],
    ['a pull request target', { event_name: 'pull_request_target' }],
    ['what follows a pull request', { event_name: 'workflow_run' }],
    ['no event', { event_name: undefined }],
    ['the names of both hosts', { project_path: 'acme/payments' }],
  ];
  test.each(forgeries)('refuses %s', async (_name, difference) => {
    expect(await outcomeOf(await issuer.sign({ ...claims(), ...difference } as JWTPayload))).toBe(refused);
  });

  const here = () => issuer.issuer.replace('http://', '');
  const gitLabForgeries: [string, () => Record<string, unknown>][] = [
    ['another project of that name', () => ({ project_id: '75', job_project_id: '75' })],
    ['another namespace of that name', () => ({ namespace_id: '66' })],
    ['a branch called refs/heads/main', () => ({ ref: 'refs/heads/main', ref_path: 'refs/heads/refs/heads/main' })],
    ['the same without its path', () => ({ ref: 'refs/heads/main', ref_path: undefined })],
    ['a ref path that says otherwise', () => ({ ref_path: 'refs/heads/evil' })],
    ['a tag called as the branch', () => ({ ref_type: 'tag', ref_path: 'refs/tags/main' })],
    ['no ref type', () => ({ ref_type: undefined })],
    ['a ref that is not protected', () => ({ ref_protected: 'false' })],
    ['another environment', () => ({ environment: 'review/evil' })],
    ['another pipeline file', () => ({ ci_config_ref_uri: `${here()}/acme/payments//evil.yml@refs/heads/main` })],
    ['a file of another branch', () => ({ ci_config_ref_uri: `${here()}/acme/payments//.gitlab-ci.yml@refs/heads/x` })],
    ['a file of another project', () => ({ ci_config_ref_uri: `${here()}/evil/x//.gitlab-ci.yml@refs/heads/main` })],
    ['a file from elsewhere', () => ({ ci_config_ref_uri: undefined })],
    ['a merge request', () => ({ pipeline_source: 'merge_request_event' })],
    ['a pull request of another host', () => ({ pipeline_source: 'external_pull_request_event' })],
    ['what a merge request may have started', () => ({ pipeline_source: 'parent_pipeline' })],
    ['a fork in the project', () => ({ job_project_id: '12', job_project_path: 'acme/upstream' })],
    ['a merge request of a fork', () => ({ source_project_id: '99', source_project_path: 'evil/payments' })],
  ];
  test.each(gitLabForgeries)('refuses of GitLab %s', async (_name, difference) => {
    expect(await outcomeOf(await issuer.sign({ ...gitLabClaims(), ...difference() } as JWTPayload))).toBe(refused);
  });
});

describe('an entry that names no more than it must', () => {
  const exchangeFor = (entry: object) => {
    const required = { issuer: issuer.issuer, organization: 'acme', repository: 'acme/payments' };
    world = createWorld({ organizations: { acme: {} }, trustedPublishing: [{ ...required, ...entry }] });
    exchange = createTokenExchange(world.registry, url);
  };

  test('trusts the repository and the owner of the first job for ever', async () => {
    exchangeFor({});
    expect(await outcomeOf(await issuer.sign(claims()))).toBe('key');
    expect(await outcomeOf(await issuer.sign({ ...claims(), repository_id: '99' }))).toBe(refused);
    expect(await outcomeOf(await issuer.sign({ ...claims(), repository_owner_id: '99' }))).toBe(refused);
    expect(await outcomeOf(await issuer.sign({ ...claims(), repository_id: undefined }))).toBe(refused);
    await expect(
      createTokenExchange(world.another(), url)(await issuer.sign({ ...claims(), repository_id: '99' }), null),
    ).rejects.toThrow('was rejected');
    expect(JSON.stringify(world.events.at(-1))).toContain('another repository or owner');
    expect(await outcomeOf(await issuer.sign(claims()))).toBe('key');
  });

  test('trusts what the configuration names in place of what was recorded', async () => {
    exchangeFor({});
    expect(await outcomeOf(await issuer.sign(claims()))).toBe('key');
    const { registry } = world;
    const [entry] = registry.config.trustedPublishing;
    registry.config.trustedPublishing = [{ ...entry!, repositoryId: '99' }];
    exchange = createTokenExchange(registry, url);
    expect(await outcomeOf(await issuer.sign(claims()))).toBe(refused);
    expect(await outcomeOf(await issuer.sign({ ...claims(), repository_id: '99' }))).toBe('key');
  });

  test('takes any protected ref, and others only where it says so', async () => {
    exchangeFor({});
    const tag = { ref: 'refs/tags/v1', ref_type: 'tag' };
    expect(await outcomeOf(await issuer.sign({ ...claims(), ...tag }))).toBe('key');
    expect(await outcomeOf(await issuer.sign({ ...claims(), ref_protected: 'false' }))).toBe(refused);
    exchangeFor({ refProtected: false, refType: 'tag' });
    expect(await outcomeOf(await issuer.sign({ ...claims(), ...tag, ref_protected: 'false' }))).toBe('key');
    expect(await outcomeOf(await issuer.sign(claims()))).toBe(refused);
  });

  test('takes pull requests, merge requests and forks only where it says so', async () => {
    const pull = { event_name: 'pull_request', ref: 'refs/pull/1/merge', ref_protected: 'false' };
    const merge = { pipeline_source: 'merge_request_event', job_project_id: '12', job_project_path: 'acme/upstream' };
    exchangeFor({ refProtected: false });
    expect(await outcomeOf(await issuer.sign({ ...claims(), ...pull }))).toBe(refused);
    exchangeFor({ refProtected: false, events: ['pull_request', 'merge_request_event'] });
    expect(await outcomeOf(await issuer.sign({ ...claims(), ...pull }))).toBe('key');
    expect(await outcomeOf(await issuer.sign({ ...gitLabClaims(), ...merge }))).toBe(refused);
    exchangeFor({ events: ['merge_request_event'], forks: true });
    expect(await outcomeOf(await issuer.sign({ ...gitLabClaims(), ...merge }))).toBe('key');
  });

  test('takes a reusable workflow that it names', async () => {
    const shared = 'acme/ci/.github/workflows/publish.yml@refs/tags/v3';
    exchangeFor({ workflow: '.github/workflows/release.yml', jobWorkflow: shared });
    expect(await outcomeOf(await issuer.sign({ ...claims(), job_workflow_ref: shared }))).toBe('key');
    expect(await outcomeOf(await issuer.sign(claims()))).toBe(refused);
    expect(await outcomeOf(await issuer.sign({ ...claims(), job_workflow_ref: undefined }))).toBe(refused);
  });
});

describe('a token is refused, in the same words,', () => {
  const seconds = () => world.registry.now().getTime() / 1000;

  test.each<[string, () => JWTPayload | Record<string, unknown>, string]>([
    ['when it is over', () => ({ exp: seconds() - 61 }), 'ERR_JWT_EXPIRED'],
    ['when it has no end', () => ({ exp: undefined }), 'exp'],
    ['when it is not valid yet', () => ({ nbf: seconds() + 61 }), 'nbf'],
    ['when it was issued in the future', () => ({ iat: seconds() + 61 }), 'iat'],
    ['when it is older than an hour', () => ({ iat: seconds() - 3661 }), 'iat'],
    ['when it does not say when it was issued', () => ({ iat: undefined }), 'iat'],
    ['when it has no identifier', () => ({ jti: undefined }), 'jti'],
    ['when it has no subject', () => ({ sub: undefined }), 'sub'],
    ['when it is for nobody', () => ({ aud: undefined }), 'aud'],
    ['when it is for somebody else', () => ({ aud: 'https://other.test' }), 'no trusted publisher'],
    ['when it is of an issuer that is not configured', () => ({ iss: 'https://evil.test' }), 'issuer not configured'],
    ['when its issuer is no text', () => ({ iss: 1 }), 'issuer not configured'],
    ['when it has no issuer', () => ({ iss: undefined }), 'issuer not configured'],
    ['when it is of another repository', () => ({ repository: 'evil/payments' }), 'no trusted publisher'],
    ['when it is of a pull request', () => ({ ref: 'refs/pull/1/merge' }), 'no trusted publisher'],
    ['when it is of another branch', () => ({ ref: 'refs/heads/evil' }), 'no trusted publisher'],
    ['when it is for one entry and of the other’s repository', () => ({ aud: 'stele' }), 'no trusted publisher'],
    ['when it names no repository', () => ({ repository: undefined }), 'no repository'],
  ])('%s', async (_name, difference, reason) => {
    expect(await outcomeOf(await issuer.sign({ ...claims(), ...difference() } as JWTPayload))).toBe(refused);
    const told = world.events.filter(({ event }) => event === 'token refused');
    expect(JSON.stringify(told)).toContain(reason);
  });

  test.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
    ['when it has no signature', (given) => new UnsecuredJWT(given).encode()],
    ['when it is signed by another', (given) => issuer.sign(given, { strange: true })],
    [
      'when it is signed with a shared secret',
      (given) => new SignJWT(given).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('x'.repeat(40))),
    ],
    [
      'when it names a key that there is not',
      async (given) => {
        const token = await issuer.sign(given);
        const header = Buffer.from('{"alg":"RS256","kid":"none"}').toString('base64url');
        return token.replace(/^[^.]*/, header);
      },
    ],
  ])('%s', async (_name, make) => {
    expect(await outcomeOf(await make(claims()))).toBe(refused);
  });

  test('the second time, also in another process', async () => {
    const token = await issuer.sign(claims());
    expect(await outcomeOf(token)).toBe('key');
    expect(await outcomeOf(token)).toBe(refused);
    await expect(createTokenExchange(world.another(), url)(token, null)).rejects.toThrow('was rejected');
    expect(world.events.at(-1)).toMatchObject({ event: 'token refused', fields: { reason: 'token used before' } });
  });

  test('and nothing is asked of an issuer that is not configured', async () => {
    await using other = await openIssuer();
    expect(await outcomeOf(await other.sign({ ...claims(), iss: other.issuer }))).toBe(refused);
    expect(other.requests).toEqual([]);
  });

  test('where nobody is trusted', async () => {
    world = createWorld();
    exchange = createTokenExchange(world.registry, url);
    expect(await outcomeOf(await issuer.sign(claims()))).toBe(refused);
  });
});

test.each(['', 'x', 'a.b.c', '..', '{}', 'é.é.é', `${'x'.repeat(20_000)}.y.z`, 'eyJhbGciOiJub25lIn0.bnVsbA.'])(
  'what is no token is malformed: %#',
  async (text) => {
    expect(await outcomeOf(text)).toMatch(/^malformed: /);
  },
);

describe('while the issuer is down', () => {
  test.each<[string, () => void]>([
    ['at all', () => (issuer.status = 500)],
    ['and names no keys', () => (issuer.metadata = { jwks_uri: undefined })],
    ['and names keys that are not https', () => (issuer.metadata = { jwks_uri: 'http://evil.test/jwks' })],
    ['and its keys are not there', () => (issuer.metadata = { jwks_uri: `${issuer.issuer}/none` })],
    ['and its keys are no keys', () => (issuer.metadata = { jwks_uri: `${issuer.issuer}/userinfo` })],
    ['and another answers for it', () => (issuer.metadata = { issuer: 'https://evil.test' })],
  ])('%s, the answer is that, and the token stays good', async (_name, breakIt) => {
    const token = await issuer.sign(claims());
    breakIt();
    expect(await outcomeOf(token)).toMatch(/^unavailable: /);
    issuer.metadata = {};
    issuer.status = null;
    world.pass(3_600_000);
    expect(await outcomeOf(await issuer.sign(claims()))).toBe('key');
  });
});

describe('POST /v1/token', () => {
  async function post(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
    const { registry } = world;
    const context = { registry, queue: createSyncQueue(registry, createPulls), url, isReady: () => true };
    const app = createApp({ ...context, v1: (site) => createV1({ ...context, site }) });
    const listening = await listen(app, { host: '127.0.0.1', port: 0 });
    const response = await fetch(`${listening.url}/v1/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = { status: response.status, body: (await response.json()) as Record<string, unknown> };
    await listening.close();
    return answer;
  }

  test('answers a key that works, and not its hash', async () => {
    const { status, body } = await post({ token: await issuer.sign(claims()) });
    expect([status, body['expiresAt'], body['scopes']]).toEqual([201, '2026-01-01T00:15:00.000Z', ['publish']]);
    expect(await authenticateKey(world.registry, String(body['secret']))).toMatchObject({ kind: 'key', org: 'acme' });
    expect(JSON.stringify(body)).not.toContain('sha256');
  });

  test('answers 401 and nothing more to whatever is not accepted', async () => {
    const first = await post({ token: await issuer.sign({ ...claims(), repository: 'evil/payments' }) });
    const second = await post({ token: await issuer.sign(claims(), { strange: true }) });
    const told = ({ status, body: { instance: _instance, ...rest } }: typeof first) => ({ status, ...rest });
    expect(told(first)).toEqual(told(second));
    expect(first.status).toBe(401);
  });

  test.each([{}, { token: 1 }, { token: 'x' }, { token: null }, [], { token: 'a.b.c', more: 1 }])(
    'answers 400 to %j',
    async (body) => {
      expect((await post(body)).status).toBe(400);
    },
  );
});
