import { exitCodeOf } from '../../src/cli/process-end.ts';
import { sandboxLost } from '../../src/compile/compile.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refuseUnreachable } from '../../src/cli/registry-client.ts';
import { openMistakes } from './mistakes-world.ts';

/** What a newcomer does wrong: each is told in a sentence, on stderr, with the exit code of design §12. */

const { folder, run, start } = openMistakes();

describe('a sentence and an exit code', () => {
  test.for<{ args: string; code: number; says: RegExp; process?: true }>([
    { args: 'serve ./nowhere', code: 3, says: /^There is no folder at .*nowhere\.\n$/ },
    { args: 'serve ./plain', code: 3, says: /plain is not a git repository\.\n$/ },
    {
      args: 'serve ./project/specs',
      code: 3,
      says: /It is inside the repository .*project\. Pass that repository, or set `path`/,
    },
    { args: 'serve --port 99999', code: 2, says: /^"99999" is not a port\. Use 0 to 65535\.\n$/ },
    {
      process: true,
      args: 'serve --host 192.0.2.1 --port 0',
      code: 3,
      says: /^Cannot listen on 192\.0\.2\.1 port 0: .*\.\n$/,
    },
    {
      args: 'serve --data api.yaml',
      code: 3,
      says: /api\.yaml cannot be the data folder: a file is in its place\.\n$/,
    },
    { args: 'serve --config none.ts', code: 2, says: /^Configuration file not found: none\.ts\. Check --config\.\n$/ },
    {
      args: 'serve --config unknown.config.ts',
      code: 2,
      says: /sync\.intervall is not expected here\. Did you mean "interval"\?/,
    },
    {
      process: true,
      args: 'serve --config broken.config.ts',
      code: 2,
      says: /broken\.config\.ts:2 cannot be loaded: [^\n]*\.\n$/,
    },
    { args: 'serve --config nothing.config.ts', code: 2, says: /nothing\.config\.ts has no default export/ },
    {
      args: 'serve --config kind.config.ts',
      code: 2,
      says: /store\.kind must be "fs" or "s3"\. log\.level must be "debug", "info", "warn", "error" or "silent"/,
    },
    { args: 'serve --config secret.config.ts --port 0', code: 2, says: /The environment variable ABSENT is not set/ },
    { args: 'serve --config credential.config.ts', code: 2, says: /uses the credential "git", which is not defined/ },
    { process: true, args: 'publish none.yaml @acme/apis/pay', code: 2, says: /^There is no file none\.yaml\.\n$/ },
    {
      args: 'publish plain @acme/apis/pay',
      code: 2,
      says: /^plain is a folder\. Give files, for example plain\/openapi\.yaml\.\n$/,
    },
    { args: 'publish empty.yaml @acme/apis/pay', code: 1, says: /^empty\.yaml:1:1 .* has no content/ },
    { args: 'publish binary.yaml @acme/apis/pay', code: 1, says: /^binary\.yaml:1:1 .*UTF-/ },
    { args: 'publish schema.json @acme/apis/pay', code: 1, says: /is a JSON Schema, not an OpenAPI document/ },
    {
      args: 'publish api.yaml @acme/api/pay',
      code: 2,
      says: /"@acme\/api\/pay" is not a coordinate\. Use @org\/apis\/slug/,
    },
    {
      args: 'publish api.yaml @acme/apis/My_Pay',
      code: 2,
      says: /^"@acme\/apis\/My_Pay" is not a coordinate\. Use @acme\/apis\/my-pay\.\n$/,
    },
    { args: 'keys list --org nobody', code: 2, says: /^There is no organization nobody\./ },
    { args: 'publish api.yaml @acme/apis/pay@1', code: 2, says: /must not contain a version\. Use --version/ },
    {
      args: 'publish api.yaml @acme/apis/pay --registry example',
      code: 2,
      says: /"example" is not the URL of a registry/,
    },
    {
      args: 'publish api.yaml @acme/apis/pay --registry http://127.0.0.1:9',
      code: 2,
      says: /^Log in with .stele login., or set STELE_KEY/,
    },
    { args: 'publsh api.yaml', code: 2, says: /unknown command 'publsh'\n\(Did you mean publish\?\)/ },
    { args: 'log @acme/apis/none', code: 2, says: /^@acme\/apis\/none does not exist\.\n$/ },
    {
      args: 'sync --data silent --config silent.config.ts',
      code: 3,
      says: /^Cannot connect to https:\/\/127\.0\.0\.1:9\/x:/,
    },
    { args: 'sync --data fresh', code: 0, says: /^No repositories are followed/ },
    { args: 'keys create --org acme --name ci', code: 2, says: /required option '--scope <scope\.\.\.>'/ },
    {
      args: 'keys create --org acme --name ci --scope amdin',
      code: 2,
      says: /'amdin' is invalid\. Allowed choices are/,
    },
    {
      args: 'keys create --org acme --name ci --scope read --expires soon',
      code: 2,
      says: /"soon" is not a time\. Use/,
    },
    {
      args: 'keys create --org acme --name ci --scope read --expires 2001-01-01',
      code: 2,
      says: /2001-01-01 is in the past/,
    },
    {
      args: 'keys create --org acme --name ci --scope read --expires 2999-02-30',
      code: 2,
      says: /"2999-02-30" is not a time\. Use/,
    },
    { args: 'publish api.yaml @acme/apis/pay --created-at 2026-02-31', code: 2, says: /^"2026-02-31" is not a date\./ },
    { args: 'publish api.yaml @acme/apis/pay --created-at=-1', code: 2, says: /^"-1" is not a date\./ },
    { args: 'import @acme/apis/pay --since 1', code: 2, says: /^"1" is not a date\./ },
    // What the operating system refuses is no bug of Stele, and has no stack.
    { args: `lint ${'x'.repeat(3000)}`, code: 2, says: /^A file cannot be read or written: ENAMETOOLONG: [^\n]*\.\n$/ },
    {
      args: `sites publish @acme/sites/a ${'x'.repeat(3000)}`,
      code: 2,
      says: /^A file cannot be read or written: ENAMETOOLONG: [^\n]*\.\n$/,
    },
    {
      args: `fsck --data ${'x'.repeat(300)}`,
      code: 3,
      says: /x{300} cannot be the data folder: ENAMETOOLONG: [^\n]*\n$/,
    },
    { args: `serve --port 0 --host ${'x'.repeat(300)}`, code: 3, says: /^Cannot listen on x{300} port 0: [^\n]*\.\n$/ },
    { args: 'build --out never --base ..', code: 2, says: /"\.\." is not a valid base path\./ },
    { args: 'build --out never --base a\nb', code: 2, says: /"a\\nb" is not a valid base path\./ },
    { args: `build --out never --base ${'x'.repeat(3000)}`, code: 2, says: /is not a valid base path\./ },
    { args: 'sync --cache api.yaml', code: 2, says: /^api\.yaml is not a folder\. Check --cache\.\n$/ },
  ])('$args', async ({ args, code, says, process }) => {
    const ended = await (process ? start : run)(...args.split(' '));
    expect(ended.stderr).toMatch(says);
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
    expect(ended).toMatchObject({ code, stdout: '' });
  });
});

test('a folder that was refused is not followed', async () => {
  await run('serve', './plain', '--data', 'untouched');
  expect((await run('sync', '--data', 'untouched')).stderr).toMatch(/^No repositories are followed/);
});

test.each([
  'keys list --org acme',
  'log @acme/apis/pay',
  'verify @acme/apis/pay',
  'sync @acme/apis/pay',
  'import @acme/apis/pay',
  'fsck',
  'gc',
  'backup copy',
  'build --out copy',
])('where there is no store, %s says so and makes none', async (args) => {
  const ended = await run(...args.split(' '), '--data', 'mistyped');
  const stderr = `${join(folder, 'mistyped')} holds no store. Check --data.\n`;
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr });
  expect(['mistyped', 'copy'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
});

test('what a document holds cannot act on the terminal', async () => {
  const { code, stdout } = await run('lint', 'escape.yaml');
  expect(code).toBe(1);
  expect(stdout).toContain('[2J');
  expect(stdout).not.toContain('\u001b');
});

test('a key as JSON', async () => {
  const { stdout } = await run('keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'read', '--json');
  expect(JSON.parse(stdout)).toMatchObject({
    org: 'acme',
    name: 'ci',
    secret: expect.stringMatching(/^stele_[0-9a-z]{12}_[0-9A-Za-z]{38}$/) as string,
  });
  expect(stdout).not.toContain('sha256');
});

test('publish prints the URL, and says of a new resource alone that it is private', async () => {
  const publish = (slug: string, ...more: string[]) =>
    run('publish', 'api.yaml', `@acme/apis/${slug}`, '--config', 'url.config.ts', '--data', 'urls', ...more);
  const url = 'https://contracts.example.com/@acme/apis/pay@1.0.0\n';
  const dry = await publish('pay', '--dry-run');
  expect(dry.stderr).toBe('@acme/apis/pay would be new and private. Use --public to make it public.\n');
  const first = await publish('pay');
  expect(first.stdout).toBe('@acme/apis/pay@1.0.0\n');
  expect(first.stderr).toMatch(
    /^https:\/\/contracts\.example\.com\/@acme\/apis\/pay@1\.0\.0\n@acme\/apis\/pay is new and private: /,
  );
  expect((await publish('pay')).stderr).toBe(`Already published; nothing changed.\n${url}`);
  expect((await publish('open', '--public')).stderr).toBe(url.replace('pay@', 'open@'));
});

test('what could not be checked has an exit code of its own, here and where a registry says so', () => {
  const { code, extra } = sandboxLost('It ended with SIGKILL.');
  expect(exitCodeOf(code, extra)).toBe(75);
  expect(exitCodeOf(code)).toBe(3);
});

test.each([
  ['a name that is not there', Object.assign(new Error(), { code: 'ENOTFOUND' }), /: the name does not exist\.$/],
  ['a refused connection', Object.assign(new Error(), { code: 'ECONNREFUSED' }), /: it refuses the connection\.$/],
  [
    'HTTP at the port',
    Object.assign(new Error(), { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
    /: it speaks HTTP there, and no HTTPS\.$/,
  ],
  ['what has no words of its own', new Error('bad port'), / cannot be reached: bad port\.$/],
  ['what says nothing', new Error(), / cannot be reached\.$/],
  ['an unknown authority', Object.assign(new Error(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }), /NODE_EXTRA_CA_CERTS\.$/],
  ['silence', new DOMException('', 'TimeoutError'), /: it does not answer in time\.$/],
])('%s is told from the others', (_, cause, says) => {
  const refuse = refuseUnreachable('https://a.test');
  for (const error of [cause, new TypeError('fetch failed', { cause })]) expect(() => refuse(error)).toThrow(says);
});
