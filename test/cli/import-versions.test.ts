import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runHere } from './in-process.ts';
import { listen } from './lock-world.ts';

const folder = mkdtempSync(join(tmpdir(), 'stele-export-'));
afterAll(() => rmSync(folder, { recursive: true }));

const document = '{"openapi": "3.1.0", "info": {"title": "Pay", "version": "1.0.0"}, "paths": {}}';

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const run = (kind: string, from: string, env: Record<string, string> = {}) =>
  runHere(['import', '--from', kind, from, 'made'], { cwd: folder, env });

write({
  'secret.json': document,
  'link/pay/1.0.0.json': document,
  'pipe/pay/1.0.0.json': document,
  'early/pay/1.0.0.json': document,
  'plain/pay/1.0.0.json': document,
  'early/dates.tsv': 'pay/1.0.0.json\t1960-01-01\n',
  'yaml/pay/a.yaml': '{openapi: 3.1.0\n',
  'apicurio/content/1.Content.json': '{',
  'lost/content/1.Content.json': '{"contentId": 1}',
  'dated/content/1.Content.json': '{"contentId": 1}',
  'dated/content/1.Content.data': document,
  'dated/groups/g/artifacts/pay/versions/1.ArtifactVersion.json':
    '{"artifactId": "pay", "version": "1.0.0", "contentId": 1, "createdOn": "soon"}',
  'backstage/catalog-info.yaml': 'kind: API\nspec: {definition: "openapi: 3.1.0"}\n',
});
symlinkSync(join(folder, 'secret.json'), join(folder, 'link/pay/2.0.0.json'));
execFileSync('mkfifo', [join(folder, 'pipe/pay/2.0.0.json')]);

test.each([
  ['folder', 'link', 'pay/2.0.0.json is not a plain file.'],
  ['folder', 'pipe', 'pay/2.0.0.json is not a plain file.'],
  ['folder', 'early', '1960-01-01 is not a date since 1970.'],
  ['documents', 'yaml', 'pay/a.yaml cannot be read: '],
  ['apicurio', 'apicurio', 'content/1.Content.json cannot be read: '],
  ['apicurio', 'lost', 'content/1.Content.data cannot be read: '],
  ['apicurio', 'dated', 'groups/g/artifacts/pay/versions/1.ArtifactVersion.json has no date since 1970.'],
  ['backstage', 'backstage', 'catalog-info.yaml cannot be read: '],
])('what is wrong in an export is told with its file, and nothing is made: %s, %s', async (kind, from, said) => {
  expect(await run(kind, from)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
  expect(existsSync(join(folder, 'made'))).toBe(false);
});

test('a document that is in no subfolder of its own is named, and the others are imported', async () => {
  write({
    'deep/pay/1.0.0.json': document,
    'deep/team/pay/1.1.0.json': document,
    'deep/1.2.0.yaml': document,
    'deep/pay/README.md': '# Pay',
  });
  const { code, stdout, stderr } = await run('folder', 'deep');
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'made: 1 document, 1 version\n' });
  expect(stderr.trim().split('\n').toSorted()).toEqual([
    expect.stringMatching(/^Not imported: 1\.2\.0\.yaml\. It is not directly in a subfolder of deep/),
    expect.stringMatching(/^Not imported: team\/pay\/1\.1\.0\.json\./),
  ]);
  rmSync(join(folder, 'made'), { recursive: true });
});

test('whatever an export has and is not imported is named: what is hidden, linked, disabled or elsewhere', async () => {
  write({
    'stray/pay/1.0.0.json': document,
    'stray/pay/._1.0.0.json': document,
    'stray/.old/1.0.0.json': document,
    'stray/.old/deep/1.0.0.json': document,
    'old/content/1.Content.json': '{"contentId": 1}',
    'old/content/1.Content.data': document,
    ...Object.fromEntries(
      ['ENABLED', 'DISABLED'].map((state, at) => [
        `old/groups/g/artifacts/pay/versions/${at}.ArtifactVersion.json`,
        JSON.stringify({ artifactId: 'pay', version: `1.${at}.0`, contentId: 1, createdOn: 1, state }),
      ]),
    ),
    'catalog/catalog-info.yaml': [`definition: '${document}'`, 'definition: { $text: ./pay.yaml }']
      .map((spec, at) => `kind: API\nmetadata: { name: pay-${at} }\nspec:\n  ${spec}\n`)
      .join('---\n'),
  });
  symlinkSync(join(folder, 'deep/pay'), join(folder, 'stray/linked'));
  symlinkSync('.', join(folder, 'stray/self'));
  for (const [kind, from, left] of [
    [
      'folder',
      'stray',
      [
        '.old/1.0.0.json. It is hidden.',
        '.old/deep/1.0.0.json. It is hidden.',
        'linked. It is a link, which is not followed.',
        'self. It is a link, which is not followed.',
        'pay/._1.0.0.json. It is hidden.',
      ],
    ],
    ['apicurio', 'old', ['groups/g/artifacts/pay/versions/1.ArtifactVersion.json. It is disabled.']],
    [
      'backstage',
      'catalog',
      ['pay-1 in catalog-info.yaml. It has no inline definition. Follow the repository of its file.'],
    ],
  ] as const) {
    const { code, stdout, stderr } = await run(kind, from);
    expect({ code, stdout, stderr }).toMatchObject({ code: 1, stdout: 'made: 1 document, 1 version\n' });
    expect(stderr.trim().split('\n').toSorted()).toEqual(left.toSorted().map((each) => `Not imported: ${each}`));
    rmSync(join(folder, 'made'), { recursive: true });
  }
});

test('without git, or where it cannot write, nothing is made, and no bug is told', async () => {
  rmSync(join(folder, 'made'), { recursive: true, force: true });
  const without = await run('folder', 'plain', { PATH: '/nowhere' });
  expect(without).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('git cannot be run: spawnSync git ENOENT.'),
  });
  const elsewhere = await runHere(['import', '--from', 'folder', 'plain', 'secret.json/made'], { cwd: folder });
  expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('git could not make secret.json/made.') });
});

test('a host that is no SwaggerHub, or is not there, is no bug', async () => {
  const host = await listen((_request, response) => void response.end('<html>'));
  expect(await run('swaggerhub', 'acme', { SWAGGERHUB_URL: host.url })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('What SwaggerHub sent cannot be read'),
  });
  await host[Symbol.asyncDispose]();
  expect(await run('swaggerhub', 'acme', { SWAGGERHUB_URL: host.url })).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('cannot be reached'),
  });
});

test('an installation of SwaggerHub has its API below a path, and what the key may not read is named', async () => {
  const asked: string[] = [];
  const list = (type: string, ...values: string[]) => ({
    totalCount: values.length,
    apis: values.map((value) => ({ properties: [{ type, value, url: value }, { type: 'X-Created', value: '2024-01-01' }] })), // prettier-ignore
  });
  const host = await listen((request, response) => {
    asked.push(request.url!);
    if (request.url!.startsWith('/v1/apis/acme?'))
      return void response.end(JSON.stringify(list('Swagger', `${host.url}/v1/apis/acme/pay/1.0.0`)));
    if (request.url!.startsWith('/v1/apis/acme/pay?'))
      return void response.end(JSON.stringify(list('X-Version', '1.0.0', '2.0.0')));
    response.statusCode = request.url === '/v1/apis/acme/pay/1.0.0' ? 200 : 403;
    response.end(document);
  });
  rmSync(join(folder, 'made'), { recursive: true, force: true });
  expect(await run('swaggerhub', 'acme', { SWAGGERHUB_URL: `${host.url}/v1/` })).toMatchObject({
    code: 1,
    stdout: 'made: 1 document, 1 version\n',
    stderr: 'Not imported: apis/acme/pay/2.0.0. SwaggerHub answers 403 for it. The key may not read it.\n',
  });
  await host[Symbol.asyncDispose]();
});
