import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveStele } from '../e2e/stele.ts';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { runHere } from './in-process.ts';

/** A document that was rejected at its first sight is told of everywhere, however often one asks. */

let folder: string;
const run = (...args: string[]) => runHere(args, { cwd: folder });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-rejected-'));
  const good = 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n';
  const bad = 'openapi: 3.1.0\ninfo: {title: Refunds}\npaths: {}\n';
  createFixtureRepository(join(folder, 'apis.git')).commit({ files: { 'pay.yaml': good, 'refunds.yaml': bad } });
  const organizations = { acme: { repositories: [{ url: './apis.git', validation: 'strict' }] } };
  writeFileSync(join(folder, 'registry.config.json'), JSON.stringify({ organizations }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a document that was rejected at its first sight is never hidden', async () => {
  const why = 'refunds.yaml:2:1 "info" is missing the member "version".';
  const line = `rejected @acme/apis/refunds: ${why}\n`;
  expect(await run('sync')).toMatchObject({ code: 1, stdout: expect.stringContaining(line) as string });
  // Nothing changed, so it is not read again. It is not published either.
  const again = await run('sync');
  expect(again).toMatchObject({ code: 1, stdout: line });
  const listed = (await run('repositories')).stdout.split('\n');
  expect(listed[0]).toMatch(/^\w+ apis \(1 of 2 documents, 1 rejected\)/);
  expect(`${listed[1]}\n`).toBe(`  ${line}`);
  const log = await run('log', '@acme/apis/refunds');
  expect(log).toMatchObject({ code: 1, stderr: 'No version of @acme/apis/refunds was published yet.\n' });
  expect(log.stdout.replace(/\t\S+\t/, '\t')).toBe(`rejected\tapis refunds.yaml\t${why}\n`);

  const made = await run('keys', 'create', '--org', 'acme', '--name', 'a', '--scope', 'admin');
  const key = made.stdout.trim();
  const part = ['--scope', 'admin', '--resource', 'apis/x-*'];
  const other = (await run('keys', 'create', '--org', 'acme', '--name', 'b', ...part)).stdout.trim();
  const stele = await serveStele([], { cwd: folder });
  try {
    const ask = async (path: string) => {
      const answer = await fetch(stele.url + path, { headers: { authorization: `Bearer ${key}` } });
      return (await answer.json()) as { items: { id: string }[]; rejected: object[] };
    };
    const page = async (path: string, secret?: string, accept = 'text/html') => {
      const headers = { accept, ...(secret !== undefined && { authorization: `Bearer ${secret}` }) };
      const answer = await fetch(stele.url + path, { headers });
      return { status: answer.status, text: (await answer.text()).replaceAll(/urn:uuid:[\w-]+/g, '') };
    };
    const { items } = await ask('/v1/repositories');
    expect((await ask(`/v1/repositories/${items[0]!.id}`)).rejected).toMatchObject([
      {
        path: 'refunds.yaml',
        outcome: 'rejected',
        report: { problems: [{ file: 'refunds.yaml', severity: 'error' }] },
      },
    ]);
    const record = (await ask('/v1/apis/refunds')) as unknown as { connection: object };
    expect(record).toMatchObject({
      state: 'rejected',
      latest: null,
      visibility: 'private',
      connection: { repository: 'apis', path: 'refunds.yaml' },
      rejected: { path: 'refunds.yaml', detail: why, report: { counts: { error: 1 } } },
    });
    expect(await page('/@acme/apis/refunds', key)).toMatchObject({
      status: 200,
      text: expect.stringMatching(/The document was rejected\.[^]*info.{1,9} is missing the member/),
    });
    // To all others it is not there, nor to a program that wants the document.
    const absent = await page('/@acme/apis/missing');
    expect(absent.status).toBe(404);
    expect(await page('/@acme/apis/refunds')).toEqual(absent);
    expect((await page('/@acme/apis/refunds', other)).status).toBe(404);
    expect((await page('/@acme/apis/refunds', key, 'application/json')).status).toBe(404);
    expect((await page('/v1/apis/refunds', other, 'application/json')).status).toBe(404);
    const remote = await runHere(['log', '@acme/apis/refunds', '--registry', stele.url], {
      cwd: folder,
      env: { STELE_KEY: key },
    });
    expect(remote).toEqual(log);
    const none = ['log', '@acme/apis/none', '--registry', stele.url];
    expect(await runHere(none, { cwd: folder, env: { STELE_KEY: key } })).toMatchObject({ code: 2, stdout: '' });
  } finally {
    await stele.stop('SIGKILL');
  }
});
