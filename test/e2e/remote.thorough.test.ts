import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runHere } from '../cli/in-process.ts';
import { serveStele } from './stele.ts';

const document = 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n';

test('publish, log, keys and sync over HTTP, with a key that says which organization', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-remote-'));
  const data = ['--data', join(folder, 'data')];
  const made = await runHere(['keys', 'create', '--org', 'acme', '--name', 'root', '--scope', 'admin', ...data], {
    cwd: folder,
  });
  const stele = await serveStele(data, { cwd: folder });
  try {
    const remote = (...args: string[]) =>
      runHere([...args, '--registry', stele.url], { cwd: folder, env: { STELE_KEY: made.stdout.trim() } });
    await writeFile(join(folder, 'pay.yaml'), document);
    expect(await remote('publish', 'pay.yaml', '@acme/apis/pay')).toMatchObject({
      code: 0,
      stdout: '@acme/apis/pay@1.0.0\n',
    });
    const log = await remote('log', '@acme/apis/pay');
    expect(log.stdout).toMatch(/^1\t\S+\tkey:\w+\t127\.0\.0\.1\tpublish 1\.0\.0\n$/);
    expect((await runHere(['log', '@acme/apis/pay', ...data], { cwd: folder })).stdout).toBe(log.stdout);

    const second = await remote('keys', 'create', '--name', 'reader', '--scope', 'read');
    expect(second.stdout).toMatch(/^stele_[0-9a-z]{12}_[0-9A-Za-z]{38}\n$/);
    const id = second.stdout.split('_')[1]!;
    expect((await remote('keys', 'list')).stdout).toMatch(new RegExp(`^${id}\tactive\tread\t\\*\t.*\treader$`, 'm'));
    expect((await remote('keys', 'revoke', id)).code).toBe(0);
    expect((await remote('keys', 'list')).stdout).toMatch(new RegExp(`^${id}\trevoked\t`, 'm'));
    expect(await remote('sync', '@acme/apis/pay')).toMatchObject({ code: 1, stdout: '' });
    expect(await remote('log', '@acme/apis/none')).toMatchObject({ code: 2, stdout: '' });
    const withoutKey = await runHere(['keys', 'list', '--registry', stele.url], {
      cwd: folder,
      env: { STELE_KEY: 'nonsense' },
    });
    expect(withoutKey).toMatchObject({
      code: 3,
      stderr: 'The credential is invalid. Check the key, or sign in again.\n',
    });
  } finally {
    await stele.stop('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
});
