import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from './in-process.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-organizations-'));
  const provider =
    "issuer: 'https://id.example.com', clientId: 'x', clientSecret: { env: 'A' }, sessionSecret: { env: 'B' }";
  const config = `export default { organizations: { acme: {} }, login: { ${provider}, organizations: { staff: [{ organization: 'acme', scopes: ['read'] }] } } };`;
  writeFileSync(join(folder, 'registry.config.ts'), config);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...words: string[]) => runAny('organizations', ...words);
const runAny = (...words: string[]) =>
  runHere([...words, '--config', 'registry.config.ts', '--data', 'data'], { cwd: folder });

test('the operator creates an organization, gives rights and takes them back', async () => {
  // Makes the store.
  await runAny('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'read');
  expect(await run('create', 'globex', '--owner', 'https://id.example.com#ada')).toMatchObject({ code: 0 });
  expect((await run('list')).stdout).toBe('acme\nglobex\n');
  const given = await run('give', '--org', 'globex', '--group', 'devs', '--scope', 'publish', '--resource', 'apis/*');
  expect(given).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\w{20}\tdevs\tpublish\tapis\/\*\n$/) });
  expect((await run('rights', '--org', 'acme')).stdout).toBe('configuration\tstaff\tread\t*\n');
  const id = given.stdout.split('\t')[0]!;
  expect(await run('take', id, '--org', 'globex')).toMatchObject({ code: 0 });
  expect((await run('rights', '--org', 'globex')).stdout).toMatch(
    /^\w{20}\thttps:\/\/id\.example\.com#ada\tadmin\t\*\n$/,
  );
  expect(await run('take', id, '--org', 'globex')).toMatchObject({ code: 2 });
});
