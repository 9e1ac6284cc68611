import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { corp } from '../servers/corp-certificate.ts';
import { openCorpNetwork } from '../servers/corp-network.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { openGitServer } from '../servers/git-http.ts';
import { startS3 } from '../servers/s3.ts';
import { runStele, serveStele } from './stele.ts';

const document = 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n';

test('git, a host API, sign-in, webhooks and S3 work through a proxy, with certificates of a private authority', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-proxy-'));
  createFixtureRepository(join(folder, 'git/acme/apis.git')).commit({ files: { 'pay.yaml': document } });
  // Without filters, git itself fetches and not the reader in this process.
  const plain = createFixtureRepository(join(folder, 'git/acme/plain.git'));
  plain.setConfig('uploadpack.allowFilter', 'false');
  plain.commit({ files: { 'ship.yaml': document.replace('Pay', 'Ship') } });
  await using git = await openGitServer({ root: join(folder, 'git') });
  await using s3 = await startS3('contracts');
  await using network = await openCorpNetwork({
    'git.corp.test': Number(new URL(git.url).port),
    's3.corp.test': s3.port,
    'api.corp.test': 0,
    'id.corp.test': 0,
    'hooks.corp.test': 0,
  });
  await writeFile(join(folder, 'corp.pem'), corp.authority);
  await writeFile(
    join(folder, 'registry.config.ts'),
    `export default ${JSON.stringify({
      store: {
        kind: 's3',
        bucket: 'contracts',
        endpoint: 'https://s3.corp.test',
        pathStyle: true,
        accessKeyId: { env: 'SECRET' },
        secretAccessKey: { env: 'SECRET' },
      },
      secretKey: { env: 'SECRET' },
      hosts: { gitea: { url: 'https://git.corp.test', apiUrl: 'https://api.corp.test/api/v1' } },
      credentials: { bot: { env: 'SECRET', organizations: ['acme'] } },
      organizations: {
        acme: {
          repositories: ['apis', 'plain'].map((name) => ({
            url: `https://git.corp.test/acme/${name}.git`,
            credential: 'bot',
            visibility: 'public',
          })),
        },
      },
      login: {
        issuer: 'https://id.corp.test',
        clientId: 'stele',
        clientSecret: { env: 'SECRET' },
        sessionSecret: { env: 'SECRET' },
        claim: 'groups',
      },
      url: 'http://localhost:7700',
    })};`,
  );
  const env = {
    HTTPS_PROXY: network.proxy,
    NODE_EXTRA_CA_CERTS: join(folder, 'corp.pem'),
    SECRET: Buffer.alloc(32, 7).toString('base64'),
  };
  const common = ['--config', join(folder, 'registry.config.ts'), '--cache', join(folder, 'cache')];
  const made = await runStele(['keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'admin', ...common], {
    cwd: folder,
    env,
  });
  expect(made.code).toBe(0);
  const stele = await serveStele(common, { cwd: folder, env });
  try {
    const headers = { authorization: `Bearer ${made.stdout.trim()}`, 'content-type': 'application/json' };
    const post = (path: string, body: object) =>
      fetch(stele.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    for (const slug of ['pay', 'ship'])
      await expect.poll(async () => (await fetch(`${stele.url}/@acme/apis/${slug}@1.0.0`)).status).toBe(200);
    expect((await post('/v1/webhooks', { url: 'https://hooks.corp.test/in' })).status).toBe(201);
    expect((await post('/v1/apis', { name: 'More', slug: 'more' })).status).toBe(201);
    const sent = await post('/v1/apis/more/spec', { document: document.replace('Pay', 'More') });
    expect(sent.status).toBe(201);
    await fetch(`${stele.url}/login`, { redirect: 'manual' });
    const hosts = () => [...new Set([...network.arrived].map((line) => line.replace(/^\w+ ([^/]+).*$/, '$1')))].sort();
    await expect
      .poll(hosts)
      .toEqual(['api.corp.test', 'git.corp.test', 'hooks.corp.test', 'id.corp.test', 's3.corp.test']);
    expect([...network.arrived]).toEqual(
      expect.arrayContaining([
        'GET git.corp.test/acme/apis.git/info/refs',
        'POST git.corp.test/acme/apis.git/git-upload-pack',
        'POST hooks.corp.test/in',
      ]),
    );
    // What the proxy may be asked for is checked by name and address all the same.
    const inside = await post('/v1/webhooks', { url: 'https://10.0.0.1/in' });
    const loopback = await post('/v1/repositories', { repository: 'https://127.0.0.1/acme/apis.git' });
    expect([inside.status, loopback.status].every((status) => status >= 400 && status < 500)).toBe(true);
    expect([...network.connected].filter((target) => !/^\w+\.corp\.test:443$/.test(target))).toEqual([]);
  } finally {
    await stele.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
