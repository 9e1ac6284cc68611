import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { runHere } from './in-process.ts';

/** Every command that asks a running registry, naming the organization partner. The key is one of acme. */
const commands: Readonly<Record<string, string>> = {
  'stele publish': 'api.yaml @partner/apis/pay',
  'stele replay': 'style.yaml @partner/rulesets/style',
  'stele sync': '@partner/apis/pay',
  'stele repositories': '--org partner',
  'stele sites publish': '@partner/sites/guide pages',
  'stele sites preview': '@partner/sites/guide pages',
  'stele sites list': '--org partner',
  'stele sites rollback': '@partner/sites/guide 1',
  'stele keys create': '--org partner --name ci --scope admin',
  'stele keys list': '--org partner',
  'stele keys revoke': '--org partner 0123456789ab',
  'stele log': '@partner/apis/pay',
  'stele deprecate': '@partner/apis/pay@1.0.0 --reason old',
  'stele yank': '@partner/apis/pay@1.0.0 --reason wrong',
  'stele reactivate': '@partner/apis/pay@1.0.0',
  'stele visibility': '@partner/apis/pay public',
  'stele webhooks create': 'https://ci.test/hook --org partner',
  'stele webhooks list': '--org partner',
  'stele webhooks test': '0123456789ab --org partner',
  'stele webhooks enable': '0123456789ab --org partner',
  'stele webhooks rotate': '0123456789ab --org partner',
  'stele webhooks delete': '0123456789ab --org partner',
  'stele approvals list': '--org partner',
  'stele approvals show': '0123456789abcdefghij --org partner',
  'stele approvals approve': '0123456789abcdefghij --org partner --reason fine',
  'stele approvals reject': '0123456789abcdefghij --org partner --reason wrong',
  'stele organizations rights': '--org partner',
  'stele organizations give': '--org partner --group staff --scope read',
  'stele organizations take': '0123456789abcdefghij --org partner',
};

/** Those that read from an address with the organization in it, which needs no more. */
const readers: Readonly<Record<string, string>> = {
  'stele add': '@partner/apis/pay --as pay.json',
  'stele lint': 'api.yaml --ruleset @partner/rulesets/style',
  'stele diff': 'api.yaml @partner/apis/pay',
};

interface Asked {
  what: string;
  org: string | undefined;
}

let folder: string;
let url: string;
let asked: Asked[] = [];
const server = createServer((request, response) => {
  request.resume();
  asked.push({
    what: `${request.method} ${request.url}`,
    org: request.headers['stele-organization'] as string | undefined,
  });
  const [status, body] =
    request.url === '/v1/me' ? [200, { organization: 'acme' }] : [404, { detail: 'Nothing here.' }];
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stele-other-'));
  mkdirSync(join(folder, 'pages'));
  writeFileSync(join(folder, 'pages', 'index.md'), '# Guide\n');
  writeFileSync(join(folder, 'api.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n');
  writeFileSync(join(folder, 'style.yaml'), 'rules: {a: {given: $.info, then: {function: truthy}}}\n');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(name: string, args: string, more: readonly string[]) {
  asked = [];
  const words = [...name.split(' ').slice(1), ...args.split(' '), ...more];
  return runHere(words, { cwd: folder, env: { STELE_KEY: 'stele_key_of_acme' } });
}

function remoteCommands(command: Command, path = command.name()): string[] {
  const own = command.options.some(({ long }) => long === '--registry') ? [path] : [];
  return [...own, ...command.commands.flatMap((each) => remoteCommands(each, `${path} ${each.name()}`))];
}

test('every command with --registry is in one of the tables', async () => {
  // A check names the organization in its body, one may read what is public of any, an
  // assistant asks about any, a login is a person's, organizations are listed and created for a person, and a link is made of the data folder.
  const all = [
    'stele check',
    'stele mcp',
    'stele login',
    'stele logout',
    'stele organizations list',
    'stele organizations create',
    'stele operator link',
    ...Object.keys(commands),
    ...Object.keys(readers),
  ];
  expect(remoteCommands(await createProgram()).sort()).toEqual(all.sort());
});

describe('with a key of acme, a command that names partner', () => {
  const says = /^Your key belongs to the organization acme, not to partner\. Nothing was changed\. .*\n$/;

  test.for(Object.entries(commands))('%s exits with 2 and asks nothing but who it is', async ([name, args]) => {
    const ended = await run(name, args, ['--registry', url]);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(says);
    expect(asked.map(({ what }) => what)).toEqual(['GET /v1/me']);
  });

  test.for(Object.entries(readers))('%s reads from an address of partner', async ([name, args]) => {
    await run(name, args, ['--registry', url]);
    expect(asked.length).toBeGreaterThan(0);
    for (const { what } of asked) expect(what).toMatch(/^GET \/@partner\//);
  });
});

test.for(Object.entries(commands))('%s says for which organization each request is', async ([name, args]) => {
  await run(name, args.replaceAll('partner', 'acme'), ['--registry', url]);
  const [first, ...rest] = asked;
  expect(first).toEqual({ what: 'GET /v1/me', org: undefined });
  expect(rest.length).toBeGreaterThan(0);
  for (const { org } of rest) expect(org).toBe('acme');
});
