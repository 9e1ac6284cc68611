import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readDocs } from '../../src/site/docs/docs.ts';
import { runHere } from '../cli/in-process.ts';

/** The commands of the page "Moving in", in a folder as the page says, with what it shows. */

const page = readDocs().find(({ name }) => name === 'moving-in')!.markdown;
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text: text! }));
const scripts = blocks.filter(({ language, text }) => language === 'sh' && text.includes('stele import --from'));
const shown = blocks.filter(({ language }) => language === 'text').map(({ text }) => text);

let folder: string;

function write(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const api = (version: string) => `openapi: 3.1.0\ninfo: {title: Payments, version: ${version}}\npaths: {}\n`;
const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const asTyped = (text: string) => `stele() { '${process.execPath}' '${program}' "$@"; }\n${text}`;
const shell = (text: string) => execFileSync('bash', ['-euc', asTyped(text)], { cwd: folder, encoding: 'utf8' });
const historyOf = (name: string) =>
  shell(`git -C ${name} log --reverse --format='%as %D' | sed 's/HEAD -> main, //; s/tag: //'`);

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'stele-moving-'))));
beforeEach(() => rmSync(join(folder, 'contracts'), { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers for paths with their queries, on loopback. */
async function openStandIn(answers: Readonly<Record<string, string>>) {
  const asked: { path: string; key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url!, key: request.headers.authorization });
    const text = answers[request.url!];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, asked, [Symbol.asyncDispose]: async () => void server.close() };
}

/** Runs a script beside this process, which may answer it. */
const runBeside = async (text: string) =>
  (await promisify(execFile)('bash', ['-euc', asTyped(text)], { cwd: folder, encoding: 'utf8' })).stdout;

test('a folder of versions is published from its history, with its dates', async () => {
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) write({ [`old/payments/${version}.yaml`]: api(version) });
  const [, listed, synced] = shown;
  write({
    'old/dates.tsv': listed!
      .split('\n')
      .filter((line) => line.includes('\t'))
      .join('\n'),
  });
  expect(shell(blocks.find(({ text }) => text.startsWith('find old'))!.text)).toContain(listed!.trimEnd());
  expect(shell(scripts[0]!.text)).toBe(shown[0]);
  expect(historyOf('contracts')).toBe(
    '2023-05-01 payments/v1.0.0\n2024-02-11 payments/v1.1.0\n2025-03-20 payments/v2.0.0\n',
  );
  write({ 'registry.config.json': blocks.find(({ language }) => language === 'json')!.text });
  const sync = await runHere(['sync'], { cwd: folder });
  expect(sync).toMatchObject({ code: 0, stdout: synced });
});

test('every version that is counted is published, and what is not is named with its reason', async () => {
  const json = (version: string) =>
    JSON.stringify({ openapi: '3.1.0', info: { title: 'P', version }, paths: {} }, null, '\t');
  write({
    'mixed/pay/1.0.0.json': json('1.0.0'),
    'mixed/pay/1.1.0.json': json('1.1.0'),
    'mixed/pay/1.2.0.yaml': api('1.0.0'),
    'mixed/pay/2.0.0.yaml': api('1.0.0'),
    'mixed/pay/v1.0.0.yaml': api('1.0.0'),
    'mixed/pay/3.0.0-RC.1.yaml': api('3.0.0'),
    'mixed/pay/3.0.0-rc.1.yaml': api('3.0.0'),
    'mixed/pay/latest.yaml': api('3.0.0'),
    'mixed/pay/4.0.0.YAML': api('4.0.0'),
    'mixed/pay/1..5.yaml': api('3.0.0'),
    'mixed/pay/a.lock.yaml': api('3.0.0'),
    'mixed/Pay/1.5.0.yaml': api('1.5.0'),
    'mixed/pay-v2/1.0.0.yaml': api('1.0.0'),
    'mixed/true/1.0.0.yaml': api('1.0.0'),
  });
  const { code, stdout, stderr } = await runHere(['import', '--from', 'folder', 'mixed', 'contracts'], { cwd: folder });
  expect([code, stdout]).toEqual([1, 'contracts: 3 documents, 10 versions\n']);
  expect(stderr.trimEnd().split('\n').sort()).toEqual([
    'Not imported: Pay/1.5.0.yaml. It would be pay, as pay is. Rename one of them.',
    expect.stringMatching(
      /^Not imported: pay\/3\.0\.0-(?:RC|rc)\.1\.yaml\. It would be 3\.0\.0-(?:RC|rc)\.1 of pay, as pay\/3/,
    ),
    'Not imported: pay/a.lock.yaml. No tag can be made of the version "a.lock".',
    expect.stringMatching(/^Not imported: pay\/v?1\.0\.0\.(?:json|yaml)\. It would be 1\.0\.0 of pay, as pay\/v?1/),
  ]);
  write({ 'registry.config.json': blocks.find(({ language }) => language === 'json')!.text });
  const sync = await runHere(['sync', '--data', 'mixed-data'], { cwd: folder });
  const published = sync.stdout.split('\n').filter((line) => line.startsWith('published '));
  expect(published, sync.stdout + sync.stderr).toHaveLength(10);
});

test('old versions are published one at a time, with their dates', async () => {
  for (const version of ['1.0.0', '2.0.0']) write({ [`old/payments/${version}.yaml`]: api(version) });
  const data = join(folder, 'data');
  const [typed] = blocks.find(({ text }) => text.includes('--created-at'))!.text.split(' \\\n');
  const newest = ['publish', 'old/payments/2.0.0.yaml', '@acme/apis/payments', '--created-at', '2025-03-20'];
  for (const args of [newest, typed!.split(' ').slice(1)])
    expect(await runHere([...args, '--data', data], { cwd: folder })).toMatchObject({ code: 0 });
  const refused = await runHere([...newest.slice(0, -1), 'soon', '--data', data], { cwd: folder });
  expect(refused).toMatchObject({ code: 2, stderr: '"soon" is not a date. Use a date such as 2025-01-31.\n' });
  const log = await runHere(['log', '@acme/apis/payments', '--data', data, '--json'], { cwd: folder });
  expect(log.stdout.match(/publish [12]\.0\.0/g)).toEqual(['publish 1.0.0', 'publish 2.0.0']);
});

test('SwaggerHub is asked for every version of every API of an owner', async () => {
  const fact = (type: string, value: string) => ({ type, value });
  const entry = (url: string, name: string, version: string, created: string) => ({
    name,
    properties: [
      { type: 'Swagger', url: `${url}/apis/acme/${name}/${version}` },
      fact('X-Version', version),
      fact('X-Created', created),
      fact('X-Modified', '2026-01-01T00:00:00Z'),
      fact('X-Published', 'true'),
    ],
  });
  const answers: Record<string, string> = {};
  await using hub = await openStandIn(answers);
  const list = (...apis: object[]) => JSON.stringify({ name: 'acme', totalCount: apis.length, apis });
  const first = entry(hub.url, 'Payments', '1.0.0', '2023-05-01T10:00:00Z');
  const second = entry(hub.url, 'Payments', '1.1.0', '2024-02-11T10:00:00Z');
  answers['/apis/acme?limit=100&page=0'] = list(second);
  answers['/apis/acme/Payments?limit=100&page=0'] = list(second, first);
  for (const version of ['1.0.0', '1.1.0']) answers[`/apis/acme/Payments/${version}`] = api(version);
  const command = scripts[1]!.text
    .replace('…', 'key')
    .replace('SWAGGERHUB', `export SWAGGERHUB_URL=${hub.url} SWAGGERHUB`)
    .replace(' stele', '; stele');
  expect(await runBeside(command)).toBe('contracts: 1 document, 2 versions\n');
  expect(historyOf('contracts')).toBe('2023-05-01 payments/v1.0.0\n2024-02-11 payments/v1.1.0\n');
  expect(hub.asked.map(({ key }) => key)).toEqual(hub.asked.map(() => 'key'));
  rmSync(join(folder, 'contracts'), { recursive: true, force: true });
  delete answers['/apis/acme/Payments/1.0.0'];
  await expect(runBeside(command)).rejects.toThrow(
    'Not imported: apis/acme/Payments/1.0.0. SwaggerHub answers 404 for it.',
  );
});

test('downloads of Bump.sh have the versions that are in them', async () => {
  await using bump = await openStandIn({
    '/acme/doc/payments/v1/source.yaml': api('1.4.0'),
    '/acme/doc/payments/source.yaml': api('2.0.0'),
  });
  write({ 'downloads/dates.tsv': 'payments/v1.yaml\t2024-05-01\npayments/v2.yaml\t2025-03-01\n' });
  const command = scripts[2]!.text.replaceAll('https://bump.sh', bump.url);
  expect(await runBeside(command)).toBe('contracts: 1 document, 2 versions\n');
  expect(historyOf('contracts')).toBe('2024-05-01 payments/v1.4.0\n2025-03-01 payments/v2.0.0\n');
  rmSync(join(folder, 'contracts'), { recursive: true });
  write({ 'bare/payments/a.yaml': 'openapi: 3.1.0\n' });
  await expect(runBeside(scripts[2]!.text.split('\n').at(-2)!.replace('downloads', 'bare'))).rejects.toThrow(
    'payments/a.yaml has no version in it.',
  );
});

test('an export of Apicurio Registry', () => {
  const version = (id: number, label: string, createdOn: number, more = {}) => ({
    [`export/groups/default/artifacts/Payments.API/versions/${label}.ArtifactVersion.json`]: JSON.stringify({
      groupId: 'default',
      artifactId: 'Payments.API',
      version: label,
      globalId: id,
      contentId: id,
      createdOn,
      state: 'ENABLED',
      ...more,
    }),
    [`export/content/${id}.Content.json`]: JSON.stringify({ contentId: id, artifactType: 'OPENAPI' }),
    [`export/content/${id}.Content.data`]: api(label),
  });
  write({
    'export/manifest-2025.Manifest.json': '{"systemVersion":"3.0.6"}',
    ...version(7, '1.0.0', Date.UTC(2024, 0, 5)),
    ...version(9, '1.1.0', Date.UTC(2024, 5, 5)),
    ...version(11, '1.2.0', Date.UTC(2024, 6, 5), { state: 'DISABLED' }),
  });
  // 1: a version is left out, and named.
  expect(shell(`${scripts[3]!.text.trim()} || test $? = 1`)).toBe('contracts: 1 document, 2 versions\n');
  expect(historyOf('contracts')).toBe('2024-01-05 payments-api/v1.0.0\n2024-06-05 payments-api/v1.1.0\n');
});

test('a catalogue of Backstage, and what has no definition in it', () => {
  const definition = api('3.1.0').replaceAll('\n', '\n    ').trimEnd();
  write({
    'catalog/pay/catalog-info.yaml': [
      'kind: Component\nmetadata: {name: pay}\n',
      `kind: API\nmetadata: {name: pay-api}\nspec:\n  type: openapi\n  definition: |\n    ${definition}\n`,
      'kind: API\nmetadata: {name: elsewhere}\nspec:\n  definition: {$text: ./openapi.yaml}\n',
    ].join('---\n'),
  });
  expect(shell(`${scripts[4]!.text.trim()} || test $? = 1`)).toBe('contracts: 1 document, 1 version\n');
  expect(shell('git -C contracts tag')).toBe('pay-api/v3.1.0\n');
});

test('a folder that exists, a date that is none, and one of a file that is not there, are refused', () => {
  const refused = (text: string) => {
    try {
      return shell(`${text} 2>&1`);
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  write({ 'contracts/here': '' });
  expect(refused(scripts[0]!.text.trim())).toContain('contracts exists already');
  write({ 'bad/pay/1.0.0.yaml': api('1.0.0'), 'bad/dates.tsv': 'pay/1.0.0.yaml\tsoon\n' });
  expect(refused(scripts[0]!.text.trim().replace('old contracts', 'bad other'))).toContain('soon is not a date');
  write({ 'bad/dates.tsv': './pay/1.0.0.yaml\t2024-01-01\npay/1.0.1.yaml\t2024-02-01\n' });
  expect(refused(scripts[0]!.text.trim().replace('old contracts', 'bad other'))).toContain(
    'bad/dates.tsv names pay/1.0.1.yaml, which is not there',
  );
});
