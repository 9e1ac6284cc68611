import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFixtureRepository } from '../servers/fixture-repository.ts';
import { runHere } from './in-process.ts';

/** `stele lint`, `stele diff` and `stele replay` on files and a data folder. */

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-check-'));
  const api = (summary: string) =>
    `openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {/a: {get: {${summary} responses: {'200': {description: A.}}}}}\n`;
  const files = {
    'apis/pay.yaml': api(''),
    'apis/good.yaml': api('summary: A, '),
    'apis/ignored/pay.yaml': api(''),
    'apis/ignored/.redocly.lint-ignore.yaml': "pay.yaml:\n  operation-summary: ['#/paths/~1a/get/summary']\n",
    'stele.yaml':
      'resources:\n  - path: apis/pay.yaml\n    exemptions: [{rule: operation-summary, reason: Not yet, owner: ann, expires: 2100-01-01}]\n',
    'base.yaml': 'version: 1.0.0\nrules: {operation-summary: error}\n',
    'own.yaml': "extends: ['@acme/rulesets/base@1']\nrules: {info-license: off}\n",
    'missing.yaml': "extends: ['@acme/rulesets/absent']\nrules: {info-license: off}\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  for (const name of ['.git', 'sub']) await mkdir(join(folder, name));
  await run('publish', 'base.yaml', '@acme/rulesets/base');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (...args: string[]) => runHere([...args, '--data', 'data'], { cwd: folder });

test('a ruleset in a file extends a published one by its coordinate', async () => {
  const { code, stdout } = await run('lint', 'apis/good.yaml', '--ruleset', 'own.yaml');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  const bad = await run('lint', 'apis/ignored/../pay.yaml', '--ruleset', 'own.yaml', '--format', 'sarif');
  expect(bad.stdout).toContain('"justification": "Not yet (ann, until 2100-01-01, stele.yaml:3:18)"');
  expect(bad.code).toBe(0);
  const missing = await run('lint', 'apis/good.yaml', '--ruleset', 'missing.yaml');
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('@acme/rulesets/absent does not exist') as string,
  });
});

test('what is not there is named, with where else it may be', async () => {
  expect(await run('lint', 'apis/good.yaml', '--ruleset', 'nosuch')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'There is no file nosuch.\n',
  });
  expect(await run('diff', '@acme/rulesets/base@9', 'base.yaml')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'There is no version @acme/rulesets/base@9 in the data folder. --registry <url> asks a registry.\n',
  });
});

test('outside a git repository, a reference out of the folder says how to make it one', async () => {
  const outside = await mkdtemp(join(tmpdir(), 'stele-outside-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(outside, { recursive: true, force: true }) };
  const text =
    "openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {/a: {get: {responses: {'200': {$ref: '../x.yaml#/a'}}}}}\n";
  for (const place of [outside, folder]) {
    await mkdir(join(place, 'sub'), { recursive: true });
    await writeFile(join(place, 'sub/a.yaml'), text.replaceAll('../x', place === folder ? '../../x' : '../x'));
  }
  const advice =
    'sub/a.yaml is not in a git repository, so only its folder is read. To read files beside the folder, run "git init" in the folder that holds them all.\n';
  const lint = await runHere(['lint', 'sub/a.yaml'], { cwd: outside });
  expect(lint).toMatchObject({ code: 1, stderr: advice });
  const diff = await runHere(['diff', 'sub/a.yaml', 'sub/a.yaml'], { cwd: outside });
  expect(diff.stderr).toContain(advice);
  expect((await run('lint', 'sub/a.yaml')).stderr).toBe('');
});

test('several files are one report, and a folder is none', async () => {
  const files = ['sub/b.yaml', 'sub/c.yaml', 'apis/good.yaml'];
  await writeFile(join(folder, 'sub/b.yaml'), 'openapi: 3.1.0\ninfo: {title: B}\npaths: {}\n');
  await writeFile(join(folder, 'sub/c.yaml'), "openapi: 3.1.0\ninfo: {version: '1'}\npaths: {}\n");
  const lines = await run('lint', ...files, 'sub/b.yaml', '--format', 'lines');
  expect(
    lines.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(': ')[0]),
  ).toEqual(['sub/b.yaml:2:1 error schema', 'sub/c.yaml:2:1 error schema', '2 errors, 0 warnings, 0 notes']);
  const json = await run('lint', ...files, '--json');
  expect({ code: json.code, report: JSON.parse(json.stdout) as unknown }).toMatchObject({
    code: 1,
    report: { counts: { error: 2 }, blocking: 2, truncated: false },
  });
  expect((await run('lint', ...files, '--ruleset', 'own.yaml', '--lenient')).code).toBe(0);
  expect(await run('lint', 'apis')).toMatchObject({
    code: 2,
    stderr: 'apis is a folder. Give files, for example apis/openapi.yaml.\n',
  });
});

test('what `.redocly.lint-ignore.yaml` beside the document lists does not block', async () => {
  const { code, stdout } = await run('lint', 'apis/ignored/pay.yaml', '--ruleset', '@acme/rulesets/base');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '0 errors, 0 warnings, 0 notes, 1 exempted\n' });
});

test('a file is compared with what is at a URL, without sending the key to strangers', async () => {
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization);
    const isThere = request.url === '/old.yaml' || request.url === '/@acme/apis/pay@1';
    response.statusCode = isThere ? 200 : 404;
    if (request.url!.startsWith('/@')) response.setHeader('Content-Location', '/@acme/apis/pay@1.4.0');
    response.end(isThere ? 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n' : '');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const diff = (...args: string[]) =>
    runHere(['diff', ...args, '--json'], { cwd: folder, env: { STELE_KEY: 'stele_secret' } });
  try {
    expect(JSON.parse((await diff(`${url}/old.yaml`, 'apis/good.yaml')).stdout)).toMatchObject({ verdict: 'safe' });
    expect(JSON.parse((await diff('apis/good.yaml', '@acme/apis/pay@1', '--registry', url)).stdout)).toMatchObject({
      verdict: 'breaking',
    });
    expect(await diff(`${url}/gone.yaml`, 'apis/good.yaml')).toMatchObject({ code: 2, stdout: '' });
    expect(keys).toEqual([undefined, 'Bearer stele_secret', undefined]);
    const text = await runHere(['diff', '@acme/apis/pay@1', 'apis/good.yaml', '--registry', url], { cwd: folder });
    expect(text.stdout).toContain('From @acme/apis/pay@1.4.0, the highest of @acme/apis/pay@1, to apis/good.yaml:');
  } finally {
    server.close();
    server.closeAllConnections();
  }
  expect((await diff(`${url}/old.yaml`, 'apis/good.yaml')).code).toBe(3);
});

test('a file is compared with the same file of a commit, and its references with that commit', async () => {
  const checkout = await mkdtemp(join(tmpdir(), 'stele-checkout-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(checkout, { recursive: true, force: true }) };
  const repository = createFixtureRepository(join(checkout, '.git'));
  const api =
    "openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {/a: {get: {responses: {'200': {description: A., content: {application/json: {schema: {$ref: type.yaml}}}}}}}}\n";
  repository.commit({ files: { 'apis/pay.yaml': api, 'apis/type.yaml': 'type: string\n' } });
  repository.setConfig('core.bare', 'false');
  await mkdir(join(checkout, 'apis'));
  await writeFile(join(checkout, 'apis/pay.yaml'), api);
  await writeFile(join(checkout, 'apis/type.yaml'), 'type: number\n');
  const diff = (before: string, cwd = checkout) => runHere(['diff', before, join(checkout, 'apis/pay.yaml')], { cwd });
  const breaking = expect.stringContaining('breaking') as string;
  expect(await diff('main:apis/pay.yaml')).toMatchObject({ code: 0, stdout: breaking });
  expect(await diff('HEAD:./pay.yaml', join(checkout, 'apis'))).toMatchObject({ code: 0, stdout: breaking });
  expect(await diff('main:apis/other.yaml')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no such file'),
  });
  expect(await diff('nowhere:apis/pay.yaml')).toMatchObject({ stderr: expect.stringContaining('git does not know') });
});

test('a new value of an enum in a response is risky, or what `--enums` says', async () => {
  const response = (values: string) =>
    `openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {/a: {get: {responses: {'200': {description: A., content: {application/json: {schema: {enum: [${values}]}}}}}}}}\n`;
  await writeFile(join(folder, 'sub/one.yaml'), response('a'));
  await writeFile(join(folder, 'sub/two.yaml'), response('a, b'));
  const diff = (...args: string[]) => runHere(['diff', 'sub/one.yaml', 'sub/two.yaml', ...args], { cwd: folder });
  expect(await diff('--fail-on', 'breaking')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('risky     Response 200 also allows "b".') as string,
  });
  expect((await diff('--fail-on', 'breaking', '--enums', 'breaking')).code).toBe(1);
});

test('a version of the data folder is compared by the grace of its organization, as its gate does', async () => {
  await writeFile(
    join(folder, 'grace.config.ts'),
    "export default { store: { kind: 'fs', path: './data' }, organizations: { acme: { changes: { deprecation: { grace: '90d' } } } } };\n",
  );
  const api = (version: string, old: string) =>
    `openapi: 3.1.0\ninfo: {title: Old, version: ${version}}\npaths: {/a: {get: {responses: {'200': {description: A.}}}}${old}}\n`;
  const ended = ", /b: {get: {deprecated: true, x-sunset: '2020-01-01', responses: {'200': {description: B.}}}}";
  await writeFile(join(folder, 'sub/ended.yaml'), api('1.0.0', ended));
  await writeFile(join(folder, 'sub/without.yaml'), api('1.1.0', ''));
  const here = (...args: string[]) => runHere([...args, '--config', 'grace.config.ts'], { cwd: folder });
  expect(await here('publish', 'sub/ended.yaml', '@acme/apis/old')).toMatchObject({ code: 0 });
  const diff = await here('diff', '@acme/apis/old', 'sub/without.yaml', '--fail-on', 'breaking');
  expect(diff).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/sunset 2020-01-01.*would be safe from/) as string,
  });
});

test('a replay of a ruleset in the data folder, and of one that could not be published', async () => {
  expect(await run('replay', 'base.yaml', '@acme/rulesets/base')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: '0 checked, 0 newly blocked, 0 no longer blocked\n',
  });
  expect(await run('replay', 'own.yaml', '@acme/rulesets/base')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('extends itself') as string,
  });
  expect((await run('replay', 'base.yaml', '@acme/rulesets/base', '--format', 'csv')).stdout).toMatch(
    /^version,ruleset,then,/,
  );
  expect((await run('replay', 'nowhere.yaml', '@acme/rulesets/base')).code).toBe(2);
  expect(await run('replay', 'base.yaml', '@acme/rulesets/none')).toMatchObject({
    code: 2,
    stderr: 'The data folder has no rulesets/none of acme.\n',
  });
});

test('- is standard input, of lint and of publish', async () => {
  const text =
    'openapi: 3.1.0\ninfo: {title: Piped, version: 1.0.0}\npaths: {/a: {get: {responses: {default: {description: A.}}}}}\n';
  const given = { cwd: folder, input: text };
  expect(await runHere(['lint', '-', '--format', 'lines', '--data', 'data'], given)).toMatchObject({ code: 0 });
  const json = JSON.stringify({ openapi: '3.1.0', info: { title: 'Piped', version: '1.0.0' }, paths: 1 });
  expect(await runHere(['lint', '-', '--format', 'lines', '--data', 'data'], { ...given, input: json })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('document.json:1:') as string,
  });
  const published = await runHere(['publish', '-', '@acme/apis/piped', '--data', 'data', '--json'], given);
  expect(JSON.parse(published.stdout)).toMatchObject({ outcome: 'published', version: '@acme/apis/piped@1.0.0' });
  expect(await runHere(['lint', '-', '--data', 'data'], { ...given, input: '' })).toMatchObject({ code: 1 });
});

test('a check names the repository, without the password in its URL, and says which tag publishes a new resource', async () => {
  const work = join(folder, 'work');
  await mkdir(work);
  await writeFile(join(work, 'pay.yaml'), 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.0.0}\npaths: {}\n');
  const git = (...args: string[]) => execFileSync('git', ['-C', work, ...args]);
  git('init', '-q');
  const asked: unknown[] = [];
  const report = { problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false };
  const server = createServer(async (request, response) => {
    asked.push((JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString()) as object)['repository' as never]);
    const answer = { outcome: 'published', version: null, isNew: true, detail: null, tags: 'v*', report };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const check = () => runHere(['check', '--org', 'acme', '--registry', url], { cwd: work });
  expect((await check()).stderr).toBe('pay.yaml is valid; it is published when a tag v* is pushed, a new resource.\n');
  git('remote', 'add', 'origin', 'https://ci:secret@github.com/acme/contracts.git');
  await check();
  server.close();
  expect(asked).toEqual([undefined, 'https://github.com/acme/contracts.git']);
});

test('a check of a repository in which nothing would be published says so', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'stele-empty-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(empty, { recursive: true, force: true }) };
  execFileSync('git', ['init', '-q', empty]);
  const check = (...more: string[]) =>
    runHere(['check', '--org', 'acme', '--registry', 'http://127.0.0.1:9', ...more], { cwd: empty });
  const stderr = 'There is no document that a sync would publish. stele discover . shows why.\n';
  expect(await check()).toEqual({ code: 0, stdout: '', stderr });
  expect(await check('--json')).toMatchObject({ code: 0, stdout: '{"documents":[]}\n', stderr: '' });
});

test('what git refuses to list, such as a work tree whose repository is elsewhere or of another user, is no bug', async () => {
  const broken = await mkdtemp(join(tmpdir(), 'stele-broken-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(broken, { recursive: true, force: true }) };
  await writeFile(join(broken, '.git'), 'gitdir: /nowhere\n');
  const said = await runHere(['check', '--org', 'acme', '--registry', 'http://127.0.0.1:9'], { cwd: broken });
  expect(said).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^git does not list the files of \S+: fatal: /),
  });
});
