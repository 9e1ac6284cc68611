import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { runHere } from './in-process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-approvals-'));
  const config =
    "export default { organizations: { acme: { defaults: { approval: 'required' }, repositories: [{ url: './apis.git' }] } } };";
  writeFileSync(join(folder, 'registry.config.ts'), config);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: string[]) =>
  runHere([...words, '--config', 'registry.config.ts', '--data', 'data'], { cwd: folder });

function api(title: string, version: string, ...paths: string[]) {
  const operations = paths.map((path) => `  ${path}: { get: { responses: { '200': { description: OK. } } } }\n`);
  return `openapi: 3.1.0\ninfo: { title: ${title}, version: ${version} }\npaths:\n${operations.join('')}`;
}

async function publish(version: string, ...paths: string[]) {
  writeFileSync(join(folder, 'pay.yaml'), api('Pay', version, ...paths));
  return run('publish', 'pay.yaml', '@acme/apis/pay');
}

test('what waits is listed with its changes and who may decide, and the operator approves or rejects it, with a sentence', async () => {
  expect((await publish('1.0.0', '/a', '/b')).code).toBe(0);
  expect(await run('approvals', 'list', '--org', 'acme')).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing waits for approval.\n' }); // prettier-ignore
  expect((await publish('2.0.0', '/a')).code).toBe(1);
  const { stdout } = await run('approvals', 'list', '--org', 'acme');
  const [id, ...others] = stdout.trimEnd().split('\t');
  expect(others.slice(0, 3)).toEqual(['waiting', '@acme/apis/pay@2.0.0', 'upload']);

  const shown = await run('approvals', 'show', id!, '--org', 'acme');
  expect(shown.stdout.split('\n')).toEqual([
    '@acme/apis/pay@2.0.0 (waits for approval), compared with 1.0.0',
    '  operation-removed: GET /b was removed. Reaches GET /b.',
    expect.stringMatching(/^Written by operator:/),
    'Nobody may decide who signed in during the last 180 days. Give the scope approve to somebody who did not write it. If approved, 2.0.0 becomes the latest version.',
    '',
  ]);
  const json = JSON.parse((await run('approvals', 'show', id!, '--org', 'acme', '--json')).stdout) as object;
  expect(json).toMatchObject({ approvers: [], latest: '2.0.0', changes: [{ operations: ['GET /b'], reach: 1 }] });

  const decide = (verb: string, ...more: string[]) => run('approvals', verb, id!, ...more, '--org', 'acme');
  expect(await decide('reject')).toMatchObject({ code: 2, stderr: expect.stringContaining("required option '--reason <text>'") as string }); // prettier-ignore
  expect(await decide('approve', '--reason', '')).toMatchObject({ code: 2, stderr: '--reason is empty. Give it a value.\n' }); // prettier-ignore
  const rejected = await decide('reject', '--reason', 'Mobile still calls it.');
  expect(rejected).toMatchObject({ code: 0, stderr: 'Rejected @acme/apis/pay@2.0.0.\n' });
  expect((await publish('2.0.0', '/a')).stderr).toContain('Mobile still calls it.');

  const approved = await decide('approve', '--reason', 'Nobody calls it.', '--json');
  expect(JSON.parse(approved.stdout)).toMatchObject({ state: 'approved', decisions: [{}, { verdict: 'approved' }] });
  expect((await publish('2.0.0', '/a')).code).toBe(0);
  expect(await decide('approve', '--reason', 'Again.')).toMatchObject({ code: 2, stderr: 'No held version has this id. It was published, held anew, or has expired.\n' }); // prettier-ignore
});

test('what a branch holds is published when the command that approves it ends', async () => {
  const repository = createFixtureRepository(join(folder, 'apis.git'));
  repository.commit({ files: { 'orders.yaml': api('Orders', '1.0.0', '/a', '/b') } });
  expect((await run('sync')).stdout).toBe('published @acme/apis/orders@1.0.0\n');
  repository.commit({ files: { 'orders.yaml': api('Orders', '2.0.0', '/a') } });
  expect((await run('sync')).stdout).toContain('waits for approval @acme/apis/orders');
  const [id] = (await run('approvals', 'list', '--org', 'acme')).stdout.split('\t');
  expect(await run('approvals', 'approve', id!, '--reason', 'Nobody calls it.', '--org', 'acme')).toMatchObject({
    code: 0,
    stderr: 'Approved @acme/apis/orders@2.0.0. The registry looks at it again now.\n',
  });
  expect((await run('approvals', 'list', '--org', 'acme')).stdout).not.toContain('orders');
  expect((await run('log', '@acme/apis/orders')).stdout).toContain('publish 2.0.0');
});
