import { execFileSync } from 'node:child_process';
import { promises } from 'node:fs';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { text as textOf } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { unwritable } from '../../src/cli/lock/open-lock.ts';
import { digestOf, hexOf } from '../../src/model/digest.ts';
import { lockName, parseLock } from '../../src/model/lock.ts';
import { listen, openConsumer, openLockWorld } from './lock-world.ts';

let world: Awaited<ReturnType<typeof openLockWorld>>;

beforeAll(async () => {
  world = await openLockWorld();
});

afterAll(() => world[Symbol.asyncDispose]());

const consumer = () => openConsumer(world.folder);

/** A consumer with @acme/schemas/money@1.4.0 in schemas/money.json, updatable to ^1. */
async function consumerOfMoney(registry = world.registry) {
  const one = await consumer();
  await one.run(`add @acme/schemas/money@1.4.0 --as schemas/money.json --registry ${registry}`);
  const text = await one.text(lockName);
  await writeFile(one.file(lockName), text.replace('range: 1.4.0', 'range: ^1'));
  return one;
}

describe.for([
  ['a server', () => world.registry],
  ['a static build on a host that only serves files', () => world.host],
] as const)('from %s', ([, registry]) => {
  test('add writes the bytes that a range means now, and one entry', async () => {
    const one = await consumer();
    const added = await one.run(`add @acme/schemas/money@^1 --as schemas/money.json --registry ${registry()}`);
    expect(added).toEqual({
      code: 0,
      stdout: 'added schemas/money.json: @acme/schemas/money@1.5.0 (^1)\n',
      stderr: '',
    });
    const served = Buffer.from(await (await fetch(`${registry()}/@acme/schemas/money@1.5.0.json`)).arrayBuffer());
    const text = await one.text('schemas/money.json');
    expect(text).toBe(served.toString());
    const { manifest } = (await (await fetch(`${world.registry}/@acme/schemas/money@1.5.0/provenance`)).json()) as {
      manifest: string;
    };
    expect(parseLock(await one.text(lockName))).toEqual([
      {
        path: 'schemas/money.json',
        contract: '@acme/schemas/money',
        range: '^1',
        version: '1.5.0',
        registry: registry(),
        sha256: hexOf(digestOf(served)),
        digest: manifest,
      },
    ]);
  });

  test('without a range, add takes the latest version and what is compatible; the ending chooses the format', async () => {
    const one = await consumer();
    const env = { STELE_REGISTRY: `${registry()}/` };
    expect(await one.run('add @acme/apis/pay --as pay.yaml', { env })).toMatchObject({
      stdout: 'added pay.yaml: @acme/apis/pay@2.0.0 (^2.0.0)\n',
    });
    expect(await one.text('pay.yaml')).toContain('openapi: "3.1.0"');
    expect(await one.run('add @acme/schemas/money')).toMatchObject({
      stdout: 'added contracts/money.json: @acme/schemas/money@2.0.0 (^2.0.0)\n',
    });
    const digest = parseLock(await one.text(lockName))[0]!.digest;
    expect(await one.run(`add @acme/schemas/money@${digest} --as exact.json`)).toMatchObject({ code: 0 });
    expect(await one.run('add @acme/schemas/money@~3 --as none.json')).toMatchObject({
      code: 2,
      stderr: `${registry()} has no @acme/schemas/money@~3. The newest are 2.0.0, 1.5.0, 1.4.0.\n`,
    });
  });

  test('outdated says what is newer in the range and beyond it, and update moves it', async () => {
    const one = await consumerOfMoney(registry());
    await one.run('add @acme/apis/pay@1.0.0 --as pay.json');
    const outdated = await one.run('outdated');
    expect(outdated).toMatchObject({
      code: 0,
      stdout: [
        'contract             current  newer  range   changes',
        '@acme/apis/pay       1.0.0    2.0.0  beyond  2 breaking, in 2 operations',
        '@acme/schemas/money  1.4.0    1.5.0  in ^1   1 safe, in 1 field',
        '@acme/schemas/money  1.4.0    2.0.0  beyond  1 breaking, in 1 field',
        '',
      ].join('\n'),
    });
    const { contracts } = JSON.parse((await one.run('outdated schemas/money.json --json')).stdout) as {
      contracts: object[];
    };
    expect(contracts).toMatchObject([
      { version: '1.4.0', inRange: { version: '1.5.0' }, beyond: { verdict: 'breaking', fields: 1 } },
    ]);
    const updated = await one.run('update @acme/schemas/money');
    expect(updated).toMatchObject({ code: 0, stderr: '' });
    expect(updated.stdout).toMatch(
      /^updated schemas\/money\.json: @acme\/schemas\/money 1\.4\.0 → 1\.5\.0 \(\^1\)\nsafe .*currency/,
    );
    expect(await one.text('schemas/money.json')).toContain('currency');
    expect(await one.run('install --frozen')).toMatchObject({ code: 0 });
    expect(await one.run('update')).toEqual({ code: 0, stdout: '', stderr: 'Everything is up to date.\n' });
  });
});

test('add says what becomes of an entry that is there already', async () => {
  const one = await consumerOfMoney();
  expect(await one.run('add @acme/schemas/money')).toEqual({
    code: 0,
    stdout: 'updated schemas/money.json: @acme/schemas/money 1.4.0 → 2.0.0 (was ^1, is ^2.0.0)\n',
    stderr: '',
  });
  expect((await one.run('add @acme/schemas/money@^2')).stdout).toBe(
    'updated schemas/money.json: @acme/schemas/money 2.0.0 → 2.0.0 (was ^2.0.0, is ^2)\n',
  );
  expect((await one.run('add @acme/schemas/money@^2')).stdout).toBe(
    'added schemas/money.json: @acme/schemas/money@2.0.0 (^2)\n',
  );
});

test.for([
  ['update', lockName],
  ['update', 'contracts/pay.json'],
  ['remove @acme/schemas/money', lockName],
  ['remove @acme/schemas/money', 'schemas/money.json'],
  ['add @acme/schemas/money@^2 --as new.json', lockName],
  ['add @acme/schemas/money@^2', 'schemas/money.json'],
] as const)('%s that cannot write %s says so, and the same again completes it', async ([command, path]) => {
  const one = await consumerOfMoney();
  await one.run('add @acme/apis/pay@1.0.0');
  await writeFile(one.file(lockName), (await one.text(lockName)).replace('range: 1.0.0', 'range: ^2'));
  const { rename, rm: remove } = promises;
  const fail = (target: unknown) => target === one.file(path) && Object.assign(new Error('no'), { code: 'EPERM' });
  const spies = [
    vi.spyOn(promises, 'rename').mockImplementation(async (from, to) => {
      const error = fail(to);
      if (error) throw error;
      await rename(from, to);
    }),
    vi.spyOn(promises, 'rm').mockImplementation(async (target, options) => {
      const error = fail(target);
      if (error) throw error;
      await remove(target, options);
    }),
  ];
  syncBuiltinESMExports();
  try {
    expect(await one.run(command)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${path} cannot be written (EPERM). Make it writable, and run the command again.\n`,
    });
  } finally {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  }
  expect(await one.run(command)).toMatchObject({ code: 0 });
  expect(await one.run('install --frozen')).toMatchObject({ code: 0 });
  if (command.startsWith('remove')) expect(await readdir(one.file('schemas'))).toEqual([]);
});

test('install restores missing files without a network, from the cache', async () => {
  await using registry = await listen((request, response) => void forward(world.registry, request.url!, response));
  const one = await consumer();
  await one.run(`add @acme/schemas/money@1.5.0 --as schemas/money.json --registry ${registry.url}`);
  await registry[Symbol.asyncDispose]();
  const before = await one.text('schemas/money.json');
  await rm(one.file('schemas'), { recursive: true });
  expect(await one.run('install')).toEqual({
    code: 0,
    stdout: 'restored schemas/money.json\n',
    stderr: '1 contract checked\n',
  });
  expect(await one.text('schemas/money.json')).toBe(before);
  await rm(one.file('schemas'), { recursive: true });
  await rm(one.cache, { recursive: true });
  expect(await one.run('install')).toEqual({
    code: 3,
    stdout: '',
    stderr: `${registry.url} cannot be reached: it refuses the connection.\n`,
  });
  expect(await readdir(one.path)).toEqual(['.git', lockName]);
});

test('what is damaged in the cache is fetched again', async () => {
  const one = await consumerOfMoney();
  const { sha256 } = parseLock(await one.text(lockName))[0]!;
  await writeFile(`${one.cache}/stele/contracts/sha256/${sha256.slice(0, 2)}/${sha256.slice(2)}`, 'other');
  await rm(one.file('schemas/money.json'));
  expect(await one.run('install')).toMatchObject({ code: 0, stdout: 'restored schemas/money.json\n' });
});

describe('a file in the way is told, and nothing is changed:', () => {
  test('one that was edited by hand', async () => {
    const one = await consumerOfMoney();
    const before = await one.text(lockName);
    await writeFile(one.file('schemas/money.json'), '{}');
    const edited =
      /^schemas\/money\.json was edited by hand: it is not @acme\/schemas\/money@1\.4\.0\. To have that back, delete the file and run stele install; to keep the edits, run stele remove schemas\/money\.json --keep\.\n/;
    for (const args of [
      'install',
      'install --frozen',
      'update',
      'remove schemas/money.json',
      'add @acme/schemas/money@2',
    ])
      expect(await one.run(args), args).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(edited) as string,
      });
    expect(await one.text('schemas/money.json')).toBe('{}');
    expect(await one.text(lockName)).toBe(before);
    expect((await one.run('list')).stdout).toMatch(/edited by hand\n$/);
    expect(await one.run('remove schemas/money.json --keep')).toMatchObject({ code: 0 });
    expect(await one.text('schemas/money.json')).toBe('{}');
    expect(parseLock(await one.text(lockName))).toEqual([]);
  });

  test('one that is another version than the lock says, also where only newer ones are asked for', async () => {
    const one = await consumerOfMoney();
    const other = await consumer();
    await other.run(`add @acme/schemas/money@1.5.0 --as money.json --registry ${world.registry}`);
    await writeFile(one.file('schemas/money.json'), await other.text('money.json'));
    expect((await one.run('outdated')).stdout).toContain('schemas/money.json is not this version: edited by hand\n');
    expect(JSON.parse((await one.run('outdated --json')).stdout)).toMatchObject({ contracts: [{ file: 'edited' }] });
    expect(await one.run('install')).toMatchObject({ code: 1, stderr: expect.stringContaining('edited by hand') });
  });

  test('one whose name differs in case only', async () => {
    const one = await consumer();
    await mkdir(one.file('Schemas'));
    await writeFile(one.file('Schemas/M1.json'), 'mine');
    const add = (path: string) => one.run(`add @acme/schemas/money --as ${path} --registry ${world.registry}`);
    const says = (path: string, other: string, name: string) =>
      `${path}: there is ${other}, which is the same as ${name} where case is ignored. Rename it, or choose another path.\n`;
    expect(await add('Schemas/m1.json')).toEqual({ code: 2, stdout: '', stderr: says('Schemas/m1.json', 'M1.json', 'm1.json') }); // prettier-ignore
    expect(await add('schemas/m2.json')).toEqual({ code: 2, stdout: '', stderr: says('schemas/m2.json', 'Schemas', 'schemas') }); // prettier-ignore
    expect(await readdir(one.path)).toEqual(['.git', 'Schemas']);
  });

  test('one with the line endings of another system', async () => {
    const one = await consumer();
    await one.run(`add @acme/apis/pay@1.0.0 --as pay.yaml --registry ${world.registry}`);
    await writeFile(one.file('pay.yaml'), (await one.text('pay.yaml')).replaceAll('\n', '\r\n'));
    expect(await one.run('install')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Add the line "pay.yaml -text" to .gitattributes') as string,
    });
  });

  test('one that is missing, with --frozen', async () => {
    const one = await consumerOfMoney();
    await rm(one.file('schemas/money.json'));
    expect(await one.run('install --frozen')).toMatchObject({
      code: 1,
      stderr:
        'schemas/money.json is missing. Run stele install without --frozen, and commit the file.\n1 contract checked, 1 wrong\n',
    });
    expect(JSON.parse((await one.run('install --frozen --json')).stdout)).toMatchObject({
      contracts: [{ state: 'missing' }],
    });
    expect(await readdir(one.file('schemas'))).toEqual([]);
  });

  test('one that is not in the lock', async () => {
    const one = await consumer();
    await writeFile(one.file('money.json'), 'mine');
    const ended = await one.run(`add @acme/schemas/money --as money.json --registry ${world.registry}`);
    expect(ended).toEqual({
      code: 2,
      stdout: '',
      stderr: 'money.json exists and is not in contracts.lock. Move it away, or choose another file with --as.\n',
    });
    expect(await readdir(one.path)).toEqual(['.git', 'money.json']);
  });

  test('one of another contract', async () => {
    const one = await consumerOfMoney();
    expect(await one.run('add @acme/apis/pay --as schemas/money.json')).toMatchObject({
      code: 2,
      stderr:
        'schemas/money.json is @acme/schemas/money. Choose another file with --as, or run stele remove schemas/money.json first.\n',
    });
  });

  test('symbolic links, other repositories and paths that lead out', async () => {
    const one = await consumerOfMoney();
    await mkdir(one.file('other/.git'), { recursive: true });
    await mkdir(`${one.path}-outside`);
    await symlink(`${one.path}-outside`, one.file('link'));
    await symlink('nowhere.json', one.file('link.json'));
    await mkdir(one.file('folder.json'));
    const said: Record<string, RegExp> = {
      'link/a.json': /^link\/a\.json: link is a symbolic link\. Replace it/,
      'link.json': /^link\.json is a symbolic link\. Replace it/,
      'other/a.json': /^other\/a\.json leads into another repository \(other\)/,
      '../a.json': /^The path "\.\.\/a\.json" leads out of the folder of contracts\.lock\.\n$/,
      '.git/a.json': /begins with a dot, such as \.git\.\n$/,
      'folder.json': /^folder\.json is not a file\. Replace it/,
      'schemas/money.json/a.json': /schemas\/money\.json is not a folder/,
      'a.txt': /must end in \.json, \.yaml or \.yml\.\n$/,
    };
    const before = await one.text(lockName);
    for (const [path, stderr] of Object.entries(said))
      expect(await one.run(`add @acme/apis/pay --as ${path}`), path).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(stderr) as string,
      });
    await writeFile(one.file(lockName), before.replace('schemas/money.json', 'link/money.json'));
    expect(await one.run('install')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('link is a symbolic link') as string,
    });
    expect(await readdir(`${one.path}-outside`)).toEqual([]);
    await rm(one.file(lockName));
    await symlink(`${one.path}-outside/lock`, one.file(lockName));
    expect(await one.run('install')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('contracts.lock is a symbolic link') as string,
    });
  });
});

test('a folder of a repository may have its own lock; the nearest one is used, and none outside of a repository', async () => {
  const one = await consumerOfMoney();
  await mkdir(one.file('service/src'), { recursive: true });
  const added = await one.run(`add @acme/apis/pay --as src/pay.json --lock . --registry ${world.registry}`, {
    at: 'service',
  });
  expect(added).toMatchObject({ code: 0, stdout: 'added src/pay.json: @acme/apis/pay@2.0.0 (^2.0.0)\n' });
  expect((await one.run('list', { at: 'service/src' })).stdout).toContain('src/pay.json');
  expect((await one.run('list', { at: 'schemas' })).stdout).toContain('schemas/money.json');
  expect(await one.run('remove ../schemas/money.json --lock ..', { at: 'service' })).toMatchObject({ code: 0 });
  await rm(one.file('.git'), { recursive: true });
  expect(await one.run('list', { at: 'schemas' })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'There is no contracts.lock here, nor above in this repository. stele add makes one.\n',
  });
});

describe('a registry that does not behave is told, and nothing is written:', () => {
  const layers = (sha256: string) =>
    (['json', 'yaml'] as const).map((format) => ({
      digest: `sha256:${sha256}`,
      annotations: { 'dev.stele.format': format, 'dev.stele.coding': 'identity' },
    }));
  const json = (value: object) => Buffer.from(JSON.stringify(value));
  const manifest = json({ layers: layers('a'.repeat(64)) });
  const described = { version: '1.0.0', manifest: digestOf(manifest) };
  const recordAt = (path: string): Buffer | null =>
    path.endsWith('/provenance') ? json(described) : path.endsWith('/manifest') ? manifest : null;
  const bomb = gzipSync(Buffer.alloc(64 * 2 ** 20));

  test.for<[what: string, code: number, says: RegExp, answer: (path: string) => [number, object, Buffer]]>([
    [
      'other bytes',
      1,
      /sent other bytes for @acme\/schemas\/money@1\.0\.0: expected sha256:a{64}, received sha256:[0-9a-f]{64}\. Nothing was written\./,
      (path) => [200, {}, recordAt(path) ?? Buffer.from('{}')],
    ],
    [
      'another manifest',
      1,
      /sent another manifest of @acme\/schemas\/money@1\.0\.0, which is sha256:[0-9a-f]{64}\. Nothing was written\./,
      (path) => [200, {}, path.endsWith('/provenance') ? json(described) : json({ layers: layers('c'.repeat(64)) })],
    ],
    [
      'another version than was asked for',
      1,
      /answers \/@acme\/schemas\/money@1\.0\.0\/provenance with another version, 1\.0\.1/,
      () => [200, {}, json({ ...described, version: '1.0.1' })],
    ],
    [
      'a redirect to another host',
      1,
      /redirects to http:\/\/elsewhere\.test\. Stele follows no redirects to other hosts/,
      (path) => [302, { location: `http://elsewhere.test${path}` }, Buffer.from('')],
    ],
    ['a redirect in a circle', 3, /redirects in a circle/, (path) => [307, { location: path }, Buffer.from('')]],
    ['a gzip bomb', 1, /has more than 16777216 bytes/, () => [200, { 'content-encoding': 'gzip' }, bomb]],
    [
      'a body that is no gzip',
      3,
      /could not be read to its end/,
      () => [200, { 'content-encoding': 'gzip' }, Buffer.from('no')],
    ],
    [
      'a version that is none',
      3,
      /is not what a Stele registry returns\. Check the URL\./,
      () => [200, {}, json({ ...described, version: '../../x' })],
    ],
    [
      'a record that is cut',
      3,
      /\/@acme\/schemas\/money@1\.0\.0\/provenance is not what a Stele registry returns\./,
      (path) =>
        path.endsWith('/provenance') ? [200, {}, json(described).subarray(0, 50)] : [404, {}, Buffer.from('')],
    ],
    [
      'another server',
      2,
      /has no @acme\/schemas\/money\. Check the name and this URL\. If it is private, set STELE_KEY to a key that may read it\./,
      () => [404, {}, Buffer.from('<h1>')],
    ],
    [
      'a key that it does not take',
      3,
      /does not take the key in STELE_KEY\. No\.\n$/,
      () => [401, {}, json({ detail: 'No.' })],
    ],
    ['a withdrawn version', 1, /is gone\. Leaked\.\n$/, () => [410, {}, json({ detail: 'Leaked.' })]],
    ['a failure', 3, /returned status 503\./, () => [503, {}, Buffer.from('')]],
    [
      'a version that it no longer has',
      2,
      /no longer has @acme\/schemas\/money@1\.0\.0\. .*choose another version with stele add/,
      (path) => (recordAt(path) ? [200, {}, recordAt(path)!] : [404, {}, Buffer.from('')]),
    ],
  ])('%s', async ([, code, says, answer]) => {
    await using registry = await listen((request, response) => {
      const [status, headers, bytes] = answer(request.url!);
      response.writeHead(status, headers as Record<string, string>).end(bytes);
    });
    const one = await consumer();
    const ended = await one.run(`add @acme/schemas/money@1.0.0 --as money.json --registry ${registry.url}`);
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(says) as string });
    expect(await readdir(one.path)).toEqual(['.git']);
  });

  test('other bytes for a version that is locked', async () => {
    const one = await consumerOfMoney();
    const text = await one.text(lockName);
    const { sha256 } = parseLock(text)[0]!;
    await writeFile(one.file(lockName), text.replace(sha256, 'c'.repeat(64)).replace('range: ^1', 'range: 1.4.0'));
    const both = new RegExp(`locked sha256:c{64}, there sha256:${sha256}`);
    expect(await one.run('update')).toMatchObject({ code: 1, stderr: expect.stringMatching(both) as string });
    await rm(one.file('schemas/money.json'));
    expect(await one.run('install')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`expected sha256:${'c'.repeat(64)}, received sha256:${sha256}`) as string,
    });
    expect(await readdir(one.file('schemas'))).toEqual([]);
  });

  test('the key goes to the registry that somebody named, and to no other that a lock names', async () => {
    const keys: (string | undefined)[] = [];
    await using registry = await listen((request, response) => {
      keys.push(request.headers.authorization);
      void forward(world.registry, request.url!, response);
    });
    const one = await consumer();
    const env = { STELE_KEY: 'stele_key' };
    await one.run(`add @acme/schemas/money@^1 --registry ${registry.url}`, { env });
    expect(new Set(keys)).toEqual(new Set(['Bearer stele_key']));
    keys.length = 0;
    await one.run('outdated', { env: { ...env, STELE_REGISTRY: world.registry } });
    await one.run('outdated', { env });
    expect(keys.length).toBeGreaterThan(0);
    expect(new Set(keys)).toEqual(new Set([undefined]));
  });
});

test('several registries in one lock, and --json', async () => {
  const one = await consumer();
  const { code, stdout } = await one.run(
    `add @acme/schemas/money@1.4.0 --as a.json --registry ${world.registry} --json`,
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { path: 'a.json', version: '1.4.0', registry: world.registry }]);
  expect(await one.run(`add @acme/schemas/money@1.4.0 --as b.json --registry ${world.host} --json`)).toMatchObject({
    code: 0,
  });
  const { stdout: listed } = await one.run('list --json');
  expect(JSON.parse(listed)).toMatchObject({
    contracts: [{ registry: world.registry, state: 'ok' }, { registry: world.host }],
  });
  expect(await one.run('add @acme/apis/pay')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Which registry?') as string,
  });
  expect(await one.run('add @acme/schemas/money')).toMatchObject({ code: 2 });
  expect(JSON.parse((await one.run('update --json')).stdout)).toEqual({ contracts: [] });
  expect(JSON.parse((await one.run('remove @acme/schemas/money --json')).stdout)).toMatchObject({
    contracts: [{}, {}],
  });
  expect(await readdir(one.path)).toEqual(['.git', lockName]);
  expect(await one.run('remove a.json')).toMatchObject({
    code: 2,
    stderr: 'a.json is not in contracts.lock. stele list shows what is.\n',
  });
});

test('from a folder below the lock, a file may be named as it is there or as stele list names it', async () => {
  const one = await consumerOfMoney();
  await mkdir(one.file('deep'));
  expect(await one.run('add @acme/schemas/money@1.4.0 --as money.json', { at: 'deep' })).toMatchObject({ code: 0 });
  const { contracts } = JSON.parse((await one.run('list --json')).stdout) as { contracts: { path: string }[] };
  const [other] = contracts.filter(({ path }) => path !== 'deep/money.json');
  for (const name of ['money.json', other!.path])
    expect(await one.run(`remove ${name}`, { at: 'deep' })).toMatchObject({ code: 0 });
  expect(JSON.parse((await one.run('list --json')).stdout)).toEqual({ contracts: [] });
});

test('outdated says what became of the version that is locked', async () => {
  let status: object | null = { state: 'yanked', reason: 'Wrong sums.' };
  await using registry = await listen((request, response) => {
    void fetch(world.registry + request.url!, { headers: { accept: 'application/json' } }).then(async (answer) => {
      const body = (await answer.json()) as { items?: { version: string; status: object }[] };
      const items = body.items?.flatMap((each) =>
        each.version !== '2.0.0' ? [each] : status === null ? [] : [{ ...each, status }],
      );
      response.writeHead(answer.status).end(JSON.stringify({ ...body, ...(items && { items }) }));
    });
  });
  const one = await consumer();
  await one.run(`add @acme/schemas/money@2.0.0 --registry ${world.registry}`);
  await writeFile(one.file(lockName), (await one.text(lockName)).replace(world.registry, registry.url));
  expect((await one.run('outdated')).stdout).toContain(
    '@acme/schemas/money  2.0.0                  yanked: Wrong sums.\n',
  );
  expect((await one.run(`add @acme/schemas/money@~3 --registry ${registry.url}`)).stderr).toBe(
    `${registry.url} has no @acme/schemas/money@~3. The newest are 2.0.0 (yanked), 1.5.0, 1.4.0.\n`,
  );
  // It once ended with a TypeError, and the exit code of a bug.
  for (const wrong of [
    5,
    'yanked',
    {},
    { state: 'yanked' },
    { state: 'toString', reason: 'x' },
    { state: 'yanked', reason: {} },
  ]) {
    // prettier-ignore
    status = wrong as object;
    expect(await one.run('outdated')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('is not what a Stele registry returns') as string,
    });
  }
  status = null;
  expect((await one.run('outdated')).stdout).toContain('2.0.0                  no longer in the registry\n');
  expect(await one.run('add @acme/apis/pay@1.0.0 --json')).toMatchObject({ code: 0 });
});

test('update does not go back to an older version, unless the locked one was yanked', async () => {
  let status: object = { state: 'active' };
  await using registry = await listen((request, response) => {
    const path = request.url!.replace(/@(?:%5E1|1\.5\.0)\/provenance$/, '@1.4.0/provenance');
    void fetch(world.registry + path, { headers: { accept: 'application/json' } }).then(async (answer) => {
      const body = await answer.text();
      response.writeHead(answer.status).end(
        path.endsWith('/versions') ? body.replace(/("version":\s*"1\.5\.0".*?"status":\s*)\{[^}]*\}/s, `$1${JSON.stringify(status)}`) : body, // prettier-ignore
      );
    });
  });
  const one = await consumer();
  await one.run(`add @acme/schemas/money@^1 --as money.json --registry ${world.registry}`);
  const locked = (await one.text(lockName)).replace(world.registry, registry.url);
  await writeFile(one.file(lockName), locked);
  expect(await one.run('update')).toMatchObject({
    code: 1,
    stderr: `not updated money.json: ${registry.url} says that ^1 means 1.4.0, which is older than 1.5.0. The file was not changed. For the older one: stele add @acme/schemas/money@1.4.0\n`,
  });
  expect(await one.text(lockName)).toBe(locked);
  status = { state: 'yanked', reason: 'Wrong sums.' };
  const { code, stdout } = await one.run('update');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^updated money\.json: @acme\/schemas\/money 1\.5\.0 → 1\.4\.0 \(\^1\), since 1\.5\.0 was yanked: Wrong sums\.\n/,
  );
  // The line of the new file, not of an empty one.
  expect(stdout).toMatch(/money\.json:1:1\n {2}> 1 \| \{"\$schema"/);
  expect(await one.text(lockName)).toContain('range: ^1\n    version: 1.4.0\n');
  expect(await one.run(`add @acme/schemas/money@1.4.0 --registry ${world.registry}`)).toMatchObject({ code: 0 });
  expect(await one.text(lockName)).toContain('version: 1.4.0');
});

test('a list of versions is read to its end', async () => {
  const pages = ['a', 'b', 'c'];
  const item = (version: string) => ({
    version,
    manifest: `sha256:${'b'.repeat(64)}`,
    publishedAt: '',
    status: { state: 'active' },
  });
  await using registry = await listen((request, response) => {
    const url = new URL(request.url!, 'http://registry.test');
    const at = pages.indexOf(url.searchParams.get('cursor') ?? 'a');
    if (!url.pathname.endsWith('/versions')) return response.writeHead(404).end();
    return response.end(
      JSON.stringify({ latest: '1.2.0', items: [item(`1.${2 - at}.0`)], next: pages[at + 1] ?? null }),
    );
  });
  const one = await consumer();
  expect((await one.run(`add @acme/schemas/money@^2 --registry ${registry.url}`)).stderr).toContain(
    'The newest are 1.2.0, 1.1.0, 1.0.0.',
  );
});

test('install --report tells the registry that STELE_REGISTRY names what a consumer has of it', async () => {
  const told: object[] = [];
  await using registry = await listen((request, response) => {
    if (!request.url!.startsWith('/v1/')) return void forward(world.registry, request.url!, response);
    return void textOf(request).then((body) => {
      const sent = body === '' ? null : (JSON.parse(body) as object);
      told.push([request.method, request.url, request.headers.authorization, sent]);
      response.end(JSON.stringify({ organization: 'acme' }));
    });
  });
  const one = await consumer();
  const env = { STELE_KEY: 'stele_key', STELE_REGISTRY: registry.url };
  await one.run('add @acme/schemas/money@^1', { env });
  await one.run(`add @acme/apis/pay --registry ${world.registry}`, { env });
  expect(await one.run('install --frozen --report shop', { env })).toMatchObject({ code: 0 });
  const { contract, range, version, digest } = parseLock(await one.text(lockName))[0]!;
  expect(told).toEqual([
    ['GET', '/v1/me', 'Bearer stele_key', null],
    ['PUT', '/v1/consumers/shop', 'Bearer stele_key', { contracts: [{ contract, range, version, digest }] }],
  ]);
  expect(contract).toBe('@acme/schemas/money');
  expect(await one.run('install --report shop')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Set STELE_REGISTRY') as string,
  });
  await rm(one.file('contracts'), { recursive: true });
  expect(await one.run('install --frozen --report shop', { env })).toMatchObject({ code: 1 });
  expect(told).toHaveLength(2);
});

test('two that write a lock at once: the second is told to run again', async () => {
  const one = await consumerOfMoney();
  await using registry = await listen((request, response) => {
    void writeFile(one.file(lockName), '# Written by stele add. Do not edit.\nversion: 1\ncontracts: []\n').then(() =>
      forward(world.registry, request.url!, response),
    );
  });
  expect(await one.run(`add @acme/apis/pay --registry ${registry.url}`)).toMatchObject({
    code: 1,
    stderr: 'contracts.lock was changed meanwhile. Run the command again.\n',
  });
  // The file may be what the first one wrote.
  await expect(one.text('contracts/pay.json')).rejects.toThrow('ENOENT');
});

async function forward(registry: string, path: string, response: ServerResponse): Promise<void> {
  const answer = await fetch(registry + path, { redirect: 'manual' });
  const location = answer.headers.get('location');
  response.writeHead(answer.status, location === null ? {} : { location }).end(Buffer.from(await answer.arrayBuffer()));
}

test('update leaves a version that was withdrawn, also where nobody has its bytes any more', async () => {
  await using registry = await listen((request, response) => {
    if (request.url!.includes('@1.4.0.json')) return void response.writeHead(410).end('{"detail":"Withdrawn."}');
    void fetch(world.registry + request.url!, { headers: { accept: request.headers.accept! } }).then(async (answer) =>
      response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer())),
    );
  });
  const one = await consumerOfMoney();
  await writeFile(one.file(lockName), (await one.text(lockName)).replace(world.registry, registry.url));
  await rm(one.file('schemas/money.json'));
  await rm(one.cache, { recursive: true });
  expect(await one.run('update')).toEqual({
    code: 0,
    stdout:
      'updated schemas/money.json: @acme/schemas/money 1.4.0 → 1.5.0 (^1)\nWhat changed is not known: 1.4.0 is gone.\n',
    stderr: '',
  });
});

test('outdated and update have a row for each contract, whatever one version or registry does', async () => {
  const gone = await listen((_request, response) => void response.end());
  const one = await consumerOfMoney();
  await one.run(`add @acme/apis/pay@1.0.0 --as pay.json --registry ${world.registry}`);
  await one.run(`add @acme/schemas/money@1.4.0 --as lost.json --registry ${world.registry}`);
  await gone[Symbol.asyncDispose]();
  const text = await one.text(lockName);
  // The registry of pay is gone, and so are this user's cache and the file of the locked version.
  const [, ...contracts] = text.split('- path: ');
  const moved = contracts.map((each) =>
    each.startsWith('pay.json') ? each.replace(world.registry, gone.url) : each.replace('range: 1.4.0', 'range: ^1'),
  );
  await writeFile(one.file(lockName), [text.split('- path: ')[0], ...moved].join('- path: '));
  await rm(one.cache, { recursive: true });
  await writeFile(one.file('pay.json'), '{}');
  const outdated = await one.run('outdated');
  expect(outdated.code).toBe(3);
  expect(outdated.stdout).toContain('pay.json is not this version: edited by hand');
  const rows = outdated.stdout.split('\n').filter((line) => line.includes('@acme/'));
  expect(rows.map((row) => row.split(/ {2,}/).slice(0, 4))).toEqual(
    expect.arrayContaining([
      ['@acme/apis/pay', '1.0.0', expect.stringMatching(/^not known: .*cannot be reached/)],
      ['@acme/schemas/money', '1.4.0', '1.5.0', 'in ^1'],
    ]),
  );
  const updated = await one.run('update');
  expect([updated.code, updated.stderr]).toEqual([
    3,
    expect.stringMatching(/^not updated pay\.json: .*cannot be reached/),
  ]);
  expect(updated.stdout).toContain('updated schemas/money.json: @acme/schemas/money 1.4.0 → 1.5.0 (^1)');
  expect(updated.stdout).toContain('updated lost.json: @acme/schemas/money 1.4.0 → 1.5.0 (^1)');
});

test('a pipe in place of a file has a row of its own, and outdated waits for nobody to write into it', async () => {
  const one = await consumerOfMoney();
  await one.run(`add @acme/apis/pay@1.0.0 --as pay.json --registry ${world.registry}`);
  await rm(one.file('pay.json'));
  execFileSync('mkfifo', [one.file('pay.json')]);
  const { code, stdout } = await one.run('outdated');
  expect([code, stdout]).toEqual([2, expect.stringMatching(/pay .*not known: pay\.json is not a file/)]);
  expect(stdout).toMatch(/@acme\/schemas\/money {2}1\.4\.0 +1\.5\.0/);
  execFileSync('mkfifo', [one.file('contracts.policy')]);
  expect(await one.run('install --frozen')).toMatchObject({ code: 2, stderr: expect.stringContaining('not a file') });
});

test('the key goes to no other registry of the same host', async () => {
  const keys = new Set<string>();
  await using host = await listen((request, response) => {
    const [, place] = request.url!.split('/');
    if (request.headers.authorization) keys.add(place!);
    void forward(world.registry, request.url!.slice(place!.length + 1), response);
  });
  const one = await consumer();
  const env = { STELE_KEY: 'stele_key', STELE_REGISTRY: `${host.url}/ours/` };
  await one.run('add @acme/apis/pay@1.0.0 --as ours.json', { env });
  await one.run(`add @acme/schemas/money@1.4.0 --as theirs.json --registry ${host.url}/theirs`);
  expect(await one.run('outdated', { env })).toMatchObject({ code: 0 });
  expect(keys).toEqual(new Set(['ours']));
});

test('a full disk is not a file without the right to write', () => {
  expect(unwritable('a.json', { code: 'ENOSPC' }).message).toBe(
    'a.json cannot be written (ENOSPC). The disk is full. Free some space, and run the command again.',
  );
});
