import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { repositoryId } from '../../../src/model/connection.ts';
import { documentOf, type Answered } from './api.ts';
import { url, secrets, user, open, hmac, push, send, published } from './hooks-world.ts';

for (const [kind, secret] of Object.entries(secrets))
  process.env[`STELE_TEST_HOOK_${kind}`] = `${secret}\nthe-one-before`;

test('a push that a hook reports is published', async () => {
  await using world = await open();
  world.repository.commit({ 'pay.json': documentOf('1.0.0') });
  const { status, json } = await send(world.api, push);
  expect([status, json]).toEqual([202, { repositories: 1 }]);
  expect(await published(world.api, 1)).toEqual(['1.0.0']);
});

test('the secret before the newest counts, too', async () => {
  await using world = await open();
  const fields = { 'x-hub-signature-256': `sha256=${hmac('the-one-before', push)}` };
  expect((await send(world.api, push, fields)).status).toBe(202);
});

test.each([
  ['github', url, { 'x-github-event': 'push' }, 'x-hub-signature-256', 'sha256='],
  ['gitea', 'https://codeberg.org/Codertocat/Hello-World', { 'x-gitea-event': 'push' }, 'x-gitea-signature', ''],
  [
    'bitbucket',
    'git@bitbucket.org:codertocat/hello-world.git',
    { 'x-event-key': 'repo:push' },
    'x-hub-signature',
    'sha256=',
  ],
] as const)(
  '%s signs its hooks, and is asked for its own repositories alone',
  async (kind, followed, event, field, prefix) => {
    await using world = await open({}, followed);
    const call = (name: string, secret: string) =>
      world.api.call('POST', `/v1/hooks/${name}`, {
        key: null,
        raw: push,
        headers: { ...event, [field]: `${prefix}${hmac(secret, push)}` } as Record<string, string>,
      });
    expect(await call(kind, secrets[kind])).toMatchObject({ status: 202, json: { repositories: 1 } });
    expect((await call(kind, 'forged')).status).toBe(401);
    for (const other of Object.keys(secrets).filter((each) => each !== kind)) {
      const { status, json } = await call(other, secrets[kind]);
      expect([status, json['detail']], other).toEqual([400, expect.stringContaining(`/v1/hooks/${kind}.`)]);
    }
  },
);

test('the answer to a hook of another product names the address for it, whether it is signed or not', async () => {
  await using world = await open();
  const call = (name: string, headers: Record<string, string>) =>
    world.api.call('POST', `/v1/hooks/${name}`, { key: null, raw: push, headers });
  const signature = `sha256=${hmac(secrets.bitbucket, push)}`;
  const server = { 'x-event-key': 'repo:refs_changed', 'x-hub-signature': signature };
  const told = await call('bitbucket', server);
  expect(told.status).toBe(400);
  expect(told.json['detail']).toBe(
    'Bitbucket Data Center sent this webhook, but this address is for Bitbucket Cloud. Change the URL of the webhook to http://registry.test/v1/hooks/bitbucket-server.',
  );
  // Gitea also sends the fields of others.
  const gitea = { 'x-gitea-event': 'push', 'x-gogs-event': 'push', 'x-github-event': 'push' };
  const pairs: [string, Record<string, string>, string][] = [
    ['github', gitea, 'gitea'],
    ['azure', gitea, 'gitea'],
    ['gitea', { 'x-forgejo-event': 'push' }, 'gitea'],
    ['gitlab', { 'x-github-event': 'push' }, 'github'],
    ['github', { 'x-gitlab-event': 'Push Hook' }, 'gitlab'],
    ['gitea', { 'x-event-key': 'pullrequest:created' }, 'bitbucket'],
    ['gitlab', { 'user-agent': 'VSServices/19.225.34309.2' }, 'azure'],
  ];
  for (const [to, headers, right] of pairs) {
    const { status, json } = await call(to, headers);
    const expected = to === right ? [401, expect.any(String)] : [400, expect.stringContaining(`/v1/hooks/${right}.`)];
    expect([status, json['detail']], `${to} ${right}`).toEqual(expected);
  }
});

test('two hosts of one kind: each has its address, its secret and its repositories', async () => {
  process.env['STELE_TEST_HOOK_ghe'] = 'ghe-secret';
  const ghe = { kind: 'github' as const, url: 'https://ghe.acme.test', webhookSecret: { env: 'STELE_TEST_HOOK_ghe' } };
  const followed = 'https://ghe.acme.test/codertocat/hello-world.git';
  const more = { hosts: { ...user.hosts, ghe }, sync: { hosts: ['github.com', 'ghe.acme.test'] } };
  await using world = await open(more, followed);
  const call = (name: string, secret: string) => {
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${hmac(secret, push)}` };
    return world.api.call('POST', `/v1/hooks/${name}`, { key: null, raw: push, headers });
  };
  expect(await call('ghe', 'ghe-secret')).toMatchObject({ status: 202, json: { repositories: 1 } });
  expect((await call('ghe', secrets.github)).status).toBe(401);
  expect(await call('github', secrets.github)).toMatchObject({ status: 202, json: { repositories: 0 } });
  expect((await call('github', 'ghe-secret')).status).toBe(401);
  const { json } = await world.api.call('GET', '/v1/apis/pay/connection');
  expect(json['webhook']).toEqual({ url: 'http://registry.test/v1/hooks/ghe', hasSecret: false });
});

test('Azure DevOps sends the secret as a password, or in a header', async () => {
  await using world = await open({}, 'https://dev.azure.com/codertocat/apis/_git/hello-world');
  const remoteUrl = 'https://codertocat@dev.azure.com/codertocat/apis/_git/hello-world';
  const raw = JSON.stringify({ eventType: 'git.push', resource: { repository: { remoteUrl } } });
  const call = (headers: Record<string, string>, path = '/v1/hooks/azure') =>
    world.api.call('POST', path, { key: null, raw, headers });
  const basic = (password: string) => ({
    authorization: `Basic ${Buffer.from(`stele:${password}`).toString('base64')}`,
  });
  expect(await call(basic(secrets.azure))).toMatchObject({ status: 202, json: { repositories: 1 } });
  expect(await call({ 'x-stele-secret': secrets.azure })).toMatchObject({ status: 202, json: { repositories: 1 } });
  for (const wrong of [basic('guess'), { 'x-stele-secret': 'guess' }, { authorization: `Bearer ${secrets.azure}` }, {}])
    expect((await call(wrong)).status).toBe(401);
  // No other hook has its secret there, and everywhere else Basic contains a key.
  for (const [path, detail] of [
    ['/v1/hooks/github', 'signature is missing'],
    ['/v1/me', 'credential is invalid'],
  ] as const) {
    const { status, json } = await call(basic(secrets.azure), path);
    expect([status, json['detail']], path).toEqual([401, expect.stringContaining(detail)]);
  }
});

test('a genuine delivery with a credential for somebody else is taken', async () => {
  await using world = await open();
  for (const authorization of ['Bearer for-the-proxy', 'Basic c3RlbGU6eA==', 'x'])
    expect(await send(world.api, push, { authorization })).toMatchObject({ status: 202, json: { repositories: 1 } });
});

test('GitLab sends its token, or signs', async () => {
  const secret = `whsec_${Buffer.from('a signing token of 24 b').toString('base64')}`;
  process.env['STELE_TEST_HOOK_SIGNING'] = `${secrets.gitlab}\n${secret}`;
  const hosts = { gitlab: { webhookSecret: { env: 'STELE_TEST_HOOK_SIGNING' } } };
  await using world = await open({ hosts }, 'https://gitlab.com/codertocat/hello-world.git');
  const raw = JSON.stringify({ object_kind: 'push', project: { path_with_namespace: 'codertocat/hello-world' } });
  const call = (fields: Record<string, string>) =>
    world.api.call('POST', '/v1/hooks/gitlab', {
      key: null,
      raw,
      headers: { 'x-gitlab-event': 'Push Hook', ...fields },
    });
  expect(await call({ 'x-gitlab-token': secrets.gitlab })).toMatchObject({ status: 202, json: { repositories: 1 } });
  expect((await call({ 'x-gitlab-token': 'guess' })).status).toBe(401);
  const signed = (at: Date) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, raw),
  });
  expect(await call(signed(new Date()))).toMatchObject({ status: 202, json: { repositories: 1 } });
  expect((await call(signed(new Date(Date.now() - 10 * 60_000)))).status).toBe(401);
});

test('what is not genuine, has no secret, or names no connection gets one and the same answer', async () => {
  await using world = await open();
  await using bare = await open({ hosts: {} });
  const told = ({ status, headers, text }: Answered) => {
    const fields = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit'].includes(name));
    return [status, fields, text.replace(/urn:uuid:[0-9a-f-]+/, '')];
  };
  const id = repositoryId(url, null);
  const answers = [
    await send(world.api, push, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }),
    await send(world.api, push, { 'x-hub-signature-256': '' }),
    await send(world.api, push, { 'x-hub-signature-256': `sha256=${hmac('', push)}` }),
    await send(world.api, '{"ref":', { 'x-hub-signature-256': `sha256=${hmac('wrong', push)}` }),
    await send(bare.api, push),
    // This connection has no secret of its own, and the configuration's is not for it.
    await send(world.api, push, {}, `?connection=acme/${id}`),
    await send(world.api, push, {}, `?connection=acme/${'0'.repeat(16)}`),
    await send(world.api, push, {}, `?connection=other/${id}`),
  ];
  expect(answers[0]!.status).toBe(401);
  for (const answer of answers) expect(told(answer)).toEqual(told(answers[0]!));
});

test('a secret that the environment lacks is reported to the operator, and to nobody else', async () => {
  await using world = await open({ hosts: { github: { webhookSecret: { env: 'STELE_TEST_HOOK_ABSENT' } } } });
  const { status, text } = await send(world.api, push);
  expect(status).toBe(401);
  expect(text).not.toContain('STELE_TEST_HOOK_ABSENT');
  expect(world.registry.logged.map(({ event }) => event)).toContain('hook without a secret');
});

test("a connection's own secret counts for its repository and for no other", async () => {
  await using world = await open();
  const secret = 'a-secret-of-its-own';
  const body = { repository: url, path: 'pay.json', webhookSecret: secret };
  await world.api.call('PUT', '/v1/apis/pay/connection', { body });
  const { json } = await world.api.call('GET', '/v1/apis/pay/connection');
  const { pathname, search } = new URL((json['webhook'] as { url: string }).url);
  expect(pathname).toBe('/v1/hooks/github');
  const fields = { 'x-hub-signature-256': `sha256=${hmac(secret, push)}` };
  expect(await send(world.api, push, fields, search)).toMatchObject({ status: 202, json: { repositories: 1 } });
  expect((await send(world.api, push, fields)).status).toBe(401);
  expect((await send(world.api, push, {}, search)).status).toBe(401);
  const elsewhere = push.replace('Hello-World', 'Another');
  const signed = { 'x-hub-signature-256': `sha256=${hmac(secret, elsewhere)}` };
  expect(await send(world.api, elsewhere, signed, search)).toMatchObject({ status: 202, json: { repositories: 0 } });
});

test('what nobody follows, and what concerns nobody, is taken all the same', async () => {
  await using world = await open();
  expect((await send(world.api, push.replace('Hello', 'Other'))).json).toEqual({ repositories: 0 });
  expect((await send(world.api, '{"zen":"Speak like a human."}', { 'x-github-event': 'ping' })).json).toEqual({
    repositories: 0,
  });
});

test('the signature comes first: what is signed and no payload is malformed', async () => {
  await using world = await open();
  for (const body of ['', '{', '[]', '{}', '{"repository":{"full_name":"../.."}}'])
    expect((await send(world.api, body || ' ')).status, body).toBe(400);
  const { status } = await send(world.api, '{"ref":', { 'x-hub-signature-256': 'sha256=no' });
  expect(status).toBe(401);
});

test('a form of GitHub is taken, and of nobody else', async () => {
  await using world = await open();
  const form = new URLSearchParams({ payload: push }).toString();
  const fields = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await send(world.api, form, fields)).json).toEqual({ repositories: 1 });
  const headers = { ...fields, 'x-gitea-event': 'push', 'x-gitea-signature': hmac(secrets.gitea, form) };
  const { status } = await world.api.call('POST', '/v1/hooks/gitea', { key: null, raw: form, headers });
  expect(status).toBe(415);
});
