import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveStele } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';
import { openMistakes } from './mistakes-world.ts';

/** What a newcomer does wrong: each is told in a sentence, on stderr, with the exit code of design §12. */

const { folder, run, start } = openMistakes();

test('a port that is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await start('serve', '--port', String(port))).toMatchObject({
    code: 3,
    stderr: `Cannot listen on 127.0.0.1 port ${port}: the port is in use. Choose another one with --port, or metrics.port.\n`,
  });
  server.close();
});

test('a repository that has no commit yet, and one that has no document, are followed and said to be so', async () => {
  const empty = join(folder, 'no-documents');
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', empty, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  execFileSync('git', ['init', '-q', empty]);
  git('commit', '-q', '--allow-empty', '-m', 'Nothing yet');
  const stele = await serveStele(['./project', './no-documents', '--data', 'both'], { cwd: folder });
  const unborn = await stele.logged(({ msg, repository }) => msg === 'sync' && String(repository).endsWith('project'));
  expect(unborn).toMatchObject({ level: 40, detail: expect.stringMatching(/has no commits/) as string });
  const none = await stele.logged(({ msg, repository }) => msg === 'sync' && repository === empty);
  expect(none).toMatchObject({ state: 'succeeded', documents: 0, detail: null });
  expect(await stele.stop()).toBe(0);
});

test('a registry over HTTP: its report names the file as it is called here', async () => {
  const key = await run('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'admin', '--data', 'remote');
  const stele = await serveStele(['--data', 'remote'], { cwd: folder });
  const publish = (file: string, STELE_KEY: string) =>
    runHere(['publish', file, '@acme/apis/pay', '--registry', stele.url], { cwd: folder, env: { STELE_KEY } });
  const secret = key.stdout.trim();
  expect(await publish('api.yaml', secret)).toMatchObject({
    code: 0,
    stdout: '@acme/apis/pay@1.0.0\n',
    stderr: `${stele.url}/@acme/apis/pay@1.0.0
@acme/apis/pay is new and private: only keys and members of acme can read it. To make it public: PATCH /v1/apis/pay with {"visibility": "public"} and a key with the scope admin.
`,
  });
  const refused = await publish('escape.yaml', secret);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^escape\.yaml:\d+:\d+ error /);
  const binary = await publish('binary.yaml', secret);
  expect(binary).toMatchObject({ code: 1, stdout: '' });
  expect(binary.stderr).toMatch(/^binary\.yaml:1:1 .*UTF-/);
  expect(await publish('api.yaml', 'stele_wrong')).toMatchObject({
    code: 3,
    stderr: 'The credential is invalid. Check the key, or sign in again.\n',
  });
  expect(await stele.stop()).toBe(0);
});
