import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { serveStele } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';

const run = promisify(execFile);

test('a version says who signed its commit, in its provenance, on its page and in its attestation, and verifies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-signed-'));
  const repository = join(folder, 'apis');
  const env = { PATH: process.env['PATH']!, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => run('git', ['-C', repository, '-c', 'user.name=Alice', '-c', 'user.email=a@stele.test', ...args], { env }); // prettier-ignore
  try {
    await mkdir(repository);
    const key = join(folder, 'key');
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'alice', '-f', key]);
    await git('init', '-q', '-b', 'main');
    await writeFile(join(repository, 'pay.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n');
    await git('add', '.');
    await git('-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`, 'commit', '-q', '-S', '-m', 'Add payments');
    const signers = [{ name: 'Alice Doe', key: (await readFile(`${key}.pub`, 'utf8')).trim() }];
    const acme = { defaults: { visibility: 'public' }, repositories: [{ url: repository }], signers };
    const config = { url: 'https://contracts.test', sync: { allowLocalRepositories: true }, organizations: { acme } };
    await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
    const common = ['--config', join(folder, 'registry.config.json'), '--data', join(folder, 'data')];
    expect(await runHere(['sync', ...common])).toMatchObject({ code: 0 });
    expect((await runHere(['verify', '@acme/apis/pay@1.0.0', ...common])).stdout).toMatch(/^same /);

    const fingerprint = (await run('ssh-keygen', ['-l', '-f', key])).stdout.split(' ')[1]!;
    const signer = { name: 'Alice Doe', key: fingerprint };
    const stele = await serveStele(common);
    try {
      const get = (view: string, accept: string) => fetch(`${stele.url}/@acme/apis/pay@1.0.0/${view}`, { headers: { accept } }); // prettier-ignore
      expect(await (await get('provenance', 'application/json')).json()).toMatchObject({ signer });
      expect(await (await get('provenance', 'text/html')).text()).toContain(`Alice Doe <code>${fingerprint}</code>`);
      const { payload } = (await (await get('attestation', '*/*')).json()) as { payload: string };
      const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as object;
      expect(statement).toMatchObject({ predicate: { buildDefinition: { internalParameters: { signedBy: signer } } } });
    } finally {
      await stele.stop('SIGKILL');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
