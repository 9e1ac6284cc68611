import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runHere } from '../cli/in-process.ts';
import { freePort } from '../servers/ports.ts';
import { serveStele } from './stele.ts';

/** `stele check` against a real server, in a repository whose documents refer to shared files. */

const pay = `openapi: 3.1.0
info: {title: Pay, version: 1.0.0}
paths:
  /charges:
    get:
      operationId: listCharges
      responses:
        '200':
          description: Charges.
          content: {application/json: {schema: {$ref: ../shared/money.yaml}}}
`;
const files = {
  'stele.yaml': `defaults: {visibility: public}
resources:
  - path: apis/*.yaml
    slug: '{1}'
    exemptions: [{rule: operation-description, reason: Later}]
`,
  'apis/pay.yaml': pay,
  'shared/money.yaml': 'type: object\nproperties:\n  amount: {type: string}\n',
};

let folder: string;
let stele: Awaited<ReturnType<typeof serveStele>>;
let read: string;
let admin: string;
const data = () => ['--data', join(folder, 'data')];

async function write(changed: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(changed)) {
    await mkdir(dirname(join(folder, 'work', name)), { recursive: true });
    await writeFile(join(folder, 'work', name), text);
  }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-check-'));
  await write(files);
  execFileSync('git', ['init', '-q', join(folder, 'work')]);
  const key = async (scope: string) =>
    (
      await runHere(['keys', 'create', '--org', 'acme', '--name', scope, '--scope', scope, ...data()], { cwd: folder })
    ).stdout.trim();
  read = await key('read');
  admin = await key('admin');
  const port = await freePort();
  await writeFile(join(folder, 'registry.config.mjs'), `export default { url: 'http://127.0.0.1:${port}' };`);
  stele = await serveStele([...data(), '--port', String(port)], { cwd: folder });
  const env = { STELE_KEY: admin };
  const remote = ['--registry', stele.url];
  const done = await runHere(['publish', 'apis/pay.yaml', '@acme/apis/pay', '--public', ...remote], {
    cwd: join(folder, 'work'),
    env,
  });
  if (done.code !== 0) throw new Error(done.stderr);
  await fetch(`${stele.url}/v1/apis/pay`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: JSON.stringify({ compatibility: 'semver' }),
  });
});
afterAll(async () => {
  await stele.stop('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const check = (args: string[], key?: string) =>
  runHere(['check', ...args, '--registry', stele.url], {
    cwd: join(folder, 'work'),
    env: key === undefined ? {} : { STELE_KEY: key },
  });

test('a published document is the same, with a key or without', async () => {
  await write(files);
  expect(await check([], read)).toMatchObject({
    code: 0,
    stderr: 'apis/pay.yaml is published as @acme/apis/pay@1.0.0 already.\n',
  });
  expect(await check(['apis/pay.yaml', '--org', 'acme'])).toMatchObject({ code: 0 });
});

test('what breaks clients is rejected, at the lines of the file itself, in each format', async () => {
  await write({ 'apis/pay.yaml': pay.replace('1.0.0', '1.1.0').replace('/charges:', '/payments:') });
  const text = await check([], read);
  expect(text).toMatchObject({ code: 1, stderr: 'apis/pay.yaml would be rejected as a version of @acme/apis/pay.\n' });
  expect(text.stdout).toMatch(/^apis\/pay\.yaml:3:1 error operation-removed/m);
  expect((await check(['--format', 'github'], read)).stdout).toMatch(/^::error file=apis\/pay\.yaml,line=3/m);
  const gitlab = JSON.parse((await check(['--format', 'gitlab'], read)).stdout) as object[];
  expect(gitlab).toContainEqual(
    expect.objectContaining({
      check_name: 'operation-removed',
      severity: 'major',
      location: expect.anything() as object,
    }),
  );
  expect((await check(['--format', 'markdown'], read)).stdout).toContain('| error | operation-removed |');
  await check(['--report', 'junit=../junit.xml', '--report', 'json=../all.json'], read);
  expect(await readFile(join(folder, 'junit.xml'), 'utf8')).toContain('failures="1"');
  expect((await check(['--report', 'xml=a'], read)).code).toBe(2);
  const { documents } = JSON.parse(await readFile(join(folder, 'all.json'), 'utf8')) as { documents: object[] };
  expect(documents).toMatchObject([{ path: 'apis/pay.yaml', outcome: 'rejected', isNew: false }]);
  await write(files);
});

test('a new document is checked with the settings of stele.yaml, and one without a name under --as', async () => {
  await write({ 'apis/new.yaml': pay.replace('title: Pay', 'title: New'), 'other.yaml': pay.replace('../', './') });
  const fresh = await check(['apis/new.yaml'], read);
  expect(fresh).toMatchObject({
    code: 0,
    stderr: 'apis/new.yaml would be published as @acme/apis/new@1.0.0, a new resource.\n',
  });
  const unnamed = await check(['other.yaml'], read);
  expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('other.yaml would not be published') });
  expect((await check(['other.yaml', '--as', '@acme/apis/other'], read)).stderr).toContain('@acme/apis/other@1.0.0');
  await rm(join(folder, 'work', 'apis/new.yaml'));
});

test('publish reports its findings in the same formats', async () => {
  const args = ['publish', 'other.yaml', '@acme/apis/pay', '--dry-run', '--registry', stele.url];
  const ended = await runHere([...args, '--format', 'junit'], { cwd: join(folder, 'work'), env: { STELE_KEY: admin } });
  expect(ended.stdout).toContain('<testsuites name="stele"');
  expect(ended.stderr).toContain('@acme/apis/pay@1.0.0');
});

test('a stranger is told to name the organization, and about nothing private', async () => {
  expect(await check([])).toMatchObject({ code: 2, stderr: expect.stringContaining('--org') });
  const stranger = await check(['other.yaml', '--as', '@acme/apis/absent']);
  expect(stranger).toMatchObject({ code: 3, stderr: expect.stringContaining('a key with the scope read') });
});

test('--impact says which users of a contract its new version breaks', async () => {
  const money = (required: string[]) =>
    JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', required, properties: { amount: {} } });
  const shop = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/orders': {
        post: {
          requestBody: { content: { 'application/json': { schema: { $ref: `${stele.url}/@acme/schemas/money` } } } },
          responses: { 200: { description: 'OK' } },
        },
      },
    },
  };
  await write({ 'money.json': money([]), 'shop.json': JSON.stringify(shop) });
  for (const [file, name] of [
    ['money.json', '@acme/schemas/money'],
    ['shop.json', '@acme/apis/shop'],
  ] as const) {
    const given = ['publish', file, name, '--version', '1.0.0', '--public', '--registry', stele.url];
    const done = await runHere(given, { cwd: join(folder, 'work'), env: { STELE_KEY: admin } });
    expect(done).toMatchObject({ code: 0 });
  }
  await write({ 'money.json': money(['amount']) });
  const told = await check(['money.json', '--as', '@acme/schemas/money', '--impact'], read);
  expect(told.stderr).toContain(
    '\nIt breaks 1 of 1 user at their next publish.\n  @acme/apis/shop@1.0.0: POST /orders: ',
  );
  const without = await check(['money.json', '--as', '@acme/schemas/money'], read);
  expect(without.stderr).not.toContain('shop');
});
