import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from './in-process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-approvals-'));
  const config = "export default { organizations: { acme: { defaults: { approval: 'required' } } } };";
  writeFileSync(join(folder, 'registry.config.ts'), config);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: string[]) =>
  runHere([...words, '--config', 'registry.config.ts', '--data', 'data'], { cwd: folder });

async function publish(version: string, ...paths: string[]) {
  const operations = paths.map((path) => `  ${path}: { get: { responses: { '200': { description: OK. } } } }\n`);
  const text = `openapi: 3.1.0\ninfo: { title: Pay, version: ${version} }\npaths:\n${operations.join('')}`;
  writeFileSync(join(folder, 'pay.yaml'), text);
  return run('publish', 'pay.yaml', '@acme/apis/pay');
}

test('what waits is listed, with its changes, what they reach, who may decide and what becomes latest', async () => {
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
    'Nobody who signed in in the last 180 days may decide: give somebody who did not write it the scope approve. Approved, 2.0.0 becomes the latest version.',
    '',
  ]);
  const json = JSON.parse((await run('approvals', 'show', id!, '--org', 'acme', '--json')).stdout) as object;
  expect(json).toMatchObject({ approvers: [], latest: '2.0.0', changes: [{ operations: ['GET /b'], reach: 1 }] });
});
