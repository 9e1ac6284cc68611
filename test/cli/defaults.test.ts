import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runHere } from './in-process.ts';

/** Where `--registry` and `--org` are not given. */

let folder: string;
let url: string;
let asked: string[] = [];
const server = createServer((request, response) => {
  request.resume();
  asked.push(`${request.method} ${request.url} ${String(request.headers.authorization)}`);
  const body = request.url === '/v1/me' ? { organization: 'acme' } : { items: [], next: null };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  asked = [];
  folder = mkdtempSync(join(tmpdir(), 'stele-defaults-'));
  return () => rmSync(folder, { recursive: true, force: true });
});
afterAll(() => server.close());

const run = (args: string, env: Record<string, string> = {}) =>
  runHere(args.split(' '), { cwd: folder, env: { STELE_KEY: 'k', HOME: folder, ...env } });

test('the environment names the registry', async () => {
  expect(await run('keys list', { STELE_REGISTRY: url })).toMatchObject({ code: 0 });
  expect(asked).toEqual(['GET /v1/me Bearer k', 'GET /v1/keys?limit=100 Bearer k']);
});

test('~/.stelerc names the registry and the organization', async () => {
  writeFileSync(join(folder, '.stelerc'), `# mine\nregistry: ${url} # the usual one\n\norg: partner\n`);
  const ended = await run('keys list');
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('belongs to the organization acme, not to partner');
  expect(await run('keys list --org acme')).toMatchObject({ code: 0 });
  expect(await run('keys list', { STELE_ORG: 'acme' })).toMatchObject({ code: 0 });
});

test.each(['--data data', '--config registry.config.json'])('%s means the data folder', async (option) => {
  writeFileSync(join(folder, 'registry.config.json'), '{}');
  await run(`repositories ${option}`, { STELE_REGISTRY: url });
  expect(asked).toEqual([]);
});

test('STELE_DATA means the data folder, as before', async () => {
  await run('repositories', { STELE_REGISTRY: url, STELE_DATA: join(folder, 'data') });
  expect(asked).toEqual([]);
});

test('a .stelerc of the folder in which a command runs names nothing: whoever wrote it would get the key', async () => {
  const home = mkdtempSync(join(folder, 'home-'));
  writeFileSync(join(folder, '.stelerc'), `registry: ${url}\n`);
  expect(await run('keys list', { HOME: home })).toMatchObject({ code: 2 });
  expect(asked).toEqual([]);
});

test('what is wrong in ~/.stelerc is said with its line', async () => {
  writeFileSync(join(folder, '.stelerc'), 'org: acme\ntoken: abc\n');
  const ended = await run('keys list');
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toBe(
    `${join(folder, '.stelerc')}:2 is not a setting. Use registry: https://contracts.example.com and org: acme, each on a line.\n`,
  );
});

test.each(['null', '[]', '{"https://x.test": null}', 'no'])(
  'saved keys that are %s are named, not a bug',
  async (text) => {
    mkdirSync(join(folder, 'stele'));
    writeFileSync(join(folder, 'stele/keys.json'), text, { mode: 0o600 });
    const ended = await run(`keys list --registry ${url}`, { STELE_KEY: '', XDG_CONFIG_HOME: folder });
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/keys\.json does not hold the keys.*log in again\.$/m),
    });
  },
);
