import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { openGitServer } from '../servers/git-http.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';
import { serveStele } from './stele.ts';

/** A Gitea of one's own, in two parts: a real git server, and a stand-in for its API. The timer is off: only hooks tell. */

const documentOf = (version: string, paths = '{}') =>
  `openapi: 3.1.0\ninfo: {title: Payments, version: ${version}}\npaths: ${paths}\n`;
const secret = 'what-hooks-are-signed-with';
const token = 'what-git-and-the-api-take';

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'stele-hooks-'));
  const repository = createFixtureRepository(join(folder, 'git', 'acme', 'contracts.git'));
  const git = await openGitServer({
    root: join(folder, 'git'),
    credentials: { username: 'x-access-token', password: token },
  });
  const api = await openGiteaApi();
  const config = {
    hosts: { gitea: { url: git.url, apiUrl: `${api.url}/api/v1`, webhookSecret: { env: 'HOOK_SECRET' } } },
    credentials: { gitea: { env: 'GIT_TOKEN', host: git.host } },
    organizations: {
      acme: {
        repositories: [{ url: `${git.url}/acme/contracts.git`, branch: 'main', credential: 'gitea' }],
        defaults: { visibility: 'public' },
      },
    },
    sync: { interval: 0, hosts: [`http://${git.host}`] },
  };
  await writeFile(join(folder, 'registry.config.ts'), `export default ${JSON.stringify(config)};\n`);
  repository.commit({ files: { 'payments.yaml': documentOf('1.0.0') } });
  const args = ['--config', join(folder, 'registry.config.ts'), '--data', join(folder, 'data')];
  const stele = await serveStele(args, { cwd: folder, env: { HOOK_SECRET: secret, GIT_TOKEN: token } });

  async function hook(event: string, payload: object, signedWith = secret): Promise<[number, unknown]> {
    const body = JSON.stringify({ repository: { full_name: 'acme/contracts' }, ...payload });
    const signature = createHmac('sha256', signedWith).update(body).digest('hex');
    const response = await fetch(`${stele.url}/v1/hooks/gitea`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-gitea-event': event, 'x-gitea-signature': signature },
    });
    return [response.status, ((await response.json()) as { repositories?: number }).repositories];
  }
  const isRead = async (label: string) => (await fetch(`${stele.url}/@acme/apis/payments@${label}`)).status === 200;
  return {
    repository,
    api,
    stele,
    hook,
    isRead,
    async [Symbol.asyncDispose]() {
      await stele.stop('SIGKILL');
      await git.close();
      await api[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function until(question: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(question, { timeout: 300_000 }).toBe(true);
}

test(`a push is published, a pull request is checked, and both are reported to the host`, async () => {
  await using world = await open();
  const { repository, api, hook, isRead } = world;
  await until(() => isRead('1.0.0'));

  const pushed = repository.commit({ files: { 'payments.yaml': documentOf('1.1.0') } });
  expect(await hook('push', { ref: 'refs/heads/main' }, 'forged')).toEqual([401, undefined]);
  expect(await isRead('1.1.0')).toBe(false);
  expect(await hook('push', { ref: 'refs/heads/main' })).toEqual([202, 1]);
  await until(() => isRead('1.1.0'));
  const said = (commit: string, state: string) =>
    api.statuses.find((status) => status.sha === commit && status.state === state);
  await until(() => said(pushed, 'success') !== undefined);
  expect(said(pushed, 'success')).toMatchObject({ context: 'stele @acme/apis/payments' });

  const broken = repository.commit({
    branch: 'change',
    parent: pushed,
    files: { 'payments.yaml': documentOf('1.2.0', '[]') },
  });
  repository.git('update-ref', 'refs/pull/7/head', broken);
  const pull = { action: 'opened', pull_request: { number: 7, base: { ref: 'main' } } };
  expect(await hook('pull_request', pull)).toEqual([202, 1]);
  await until(() => said(broken, 'failure') !== undefined);
  const mended = repository.commit({ branch: 'change', files: { 'payments.yaml': documentOf('1.2.0') } });
  repository.git('update-ref', 'refs/pull/7/head', mended);
  expect(await hook('pull_request', { ...pull, action: 'synchronized' })).toEqual([202, 1]);
  await until(() => said(mended, 'success') !== undefined);
  expect(await isRead('1.2.0')).toBe(false);

  for (const request of api.requests) expect(request.headers.authorization).toBe(`token ${token}`);
  expect(JSON.stringify(world.stele.log)).not.toContain(token);
});
