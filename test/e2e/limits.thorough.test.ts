import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { openGitServer } from '../servers/git-http.ts';
import { openGiteaApi } from '../servers/gitea-api.ts';
import { serveStele } from './stele.ts';

const secret = 'what-hooks-are-signed-with';
const count = 8;
const seconds = 20;
const documentOf = (at: number, version: string) =>
  `openapi: 3.1.0\ninfo: {title: Api ${at}, version: ${version}}\npaths: {}\n`;

test('a host that limits requests is left alone until it says so, pushes are published meanwhile, and all is reported later', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-limits-'));
  const places = Array.from({ length: count }, (_, at) => `acme/api-${at}`);
  const repositories = places.map((place) => createFixtureRepository(join(folder, 'git', `${place}.git`)));
  const git = await openGitServer({ root: join(folder, 'git') });
  const api = await openGiteaApi();
  const config = {
    hosts: { gitea: { url: git.url, apiUrl: `${api.url}/api/v1`, webhookSecret: { env: 'HOOK_SECRET' } } },
    credentials: { gitea: { env: 'GIT_TOKEN', host: git.host } },
    organizations: {
      acme: {
        repositories: places.map((place) => ({ url: `${git.url}/${place}.git`, branch: 'main', credential: 'gitea' })),
        defaults: { visibility: 'public' },
      },
    },
    sync: { interval: 2, hosts: [`http://${git.host}`] },
  };
  await writeFile(join(folder, 'registry.config.ts'), `export default ${JSON.stringify(config)};\n`);
  for (const [at, repository] of repositories.entries())
    repository.commit({ files: { 'api.yaml': documentOf(at, '1.0.0') } });
  const args = ['--config', join(folder, 'registry.config.ts'), '--data', join(folder, 'data')];
  const env = { HOOK_SECRET: secret, GIT_TOKEN: 'token' };
  let stele = await serveStele(args, { cwd: folder, env });
  const arePublished = async (version: string) => {
    const read = places.map((_, at) => fetch(`${stele.url}/@acme/apis/api-${at}@${version}`));
    return (await Promise.all(read)).every(({ status }) => status === 200);
  };
  const reported = (commits: readonly string[]) =>
    commits.filter((sha) => api.statuses.some((one) => one.sha === sha && one.state === 'success')).length;
  const hook = async (place: string, event: string, payload: object) => {
    const body = JSON.stringify({ repository: { full_name: place }, ...payload });
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-gitea-event': event, 'x-gitea-signature': signature };
    expect((await fetch(`${stele.url}/v1/hooks/gitea`, { method: 'POST', body, headers })).status).toBe(202);
  };
  const push = async (version: string) => {
    const commits = repositories.map((repository, at) =>
      repository.commit({ files: { 'api.yaml': documentOf(at, version) } }),
    );
    await Promise.all(places.map((place) => hook(place, 'push', { ref: 'refs/heads/main' })));
    return commits;
  };
  try {
    await expect.poll(() => arePublished('1.0.0'), { timeout: 120_000 }).toBe(true);
    const first = await push('1.1.0');
    await expect.poll(() => reported(first), { timeout: 120_000 }).toBe(count);

    let isLimited = true;
    const said = { status: 429, headers: { 'retry-after': String(seconds) }, body: { message: 'Slow down.' } };
    api.fail(said, Infinity, () => isLimited);
    const before = api.requests.length;
    const second = await push('1.2.0');
    for (const [at, repository] of repositories.entries()) {
      const commit = repository.commit({ branch: 'change', files: { 'api.yaml': documentOf(at, '1.3.0') } });
      repository.git('update-ref', 'refs/pull/7/head', commit);
      await hook(places[at]!, 'pull_request', { action: 'opened', pull_request: { number: 7, base: { ref: 'main' } } });
    }
    await expect.poll(() => arePublished('1.2.0'), { timeout: 120_000 }).toBe(true);
    await wait((seconds - 8) * 1000);
    const asked = api.requests.slice(before);
    console.log(
      asked.length,
      asked.map(({ method, path }) => `${method} ${path}`),
    );
    expect(asked.length, asked.map(({ path }) => path).join(' ')).toBeLessThan(5);
    expect(reported(second)).toBe(0);

    await stele.stop();
    stele = await serveStele(args, { cwd: folder, env });
    const third = await push('1.3.0');
    isLimited = false;
    await expect.poll(() => reported([...second, ...third]), { timeout: 240_000 }).toBe(2 * count);
    expect(await stele.stop()).toBe(0);
  } finally {
    await stele.stop('SIGKILL');
    await git.close();
    await api[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  }
});
