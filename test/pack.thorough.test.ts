import { execFile, fork, spawn, type ExecFileException } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as isolation from '../src/compile/sandbox/isolation.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Starts twenty sandboxes one after the other, each as after a start of the program, and prints how each job ended. */
const starts = `
import { setTimeout } from 'node:timers/promises';
import { startChild } from './child.js';
import { findIsolation } from './isolation.js';
import { openStartSnapshot } from './start-snapshot.js';
const isolation = await findIsolation('auto');
const load = async (paths) => paths.map((path) => ({ path, bytes: Buffer.from('openapi: 3.1.0\\ninfo: {title: Pets, version: "1"}\\npaths: {}\\n') }));
const limits = { fileBytes: 1e6, bundleBytes: 1e6, files: 10, depth: 100, aliases: 10, nodes: 1000, seconds: 600, memoryMegabytes: 512 };
const input = { type: 'apis', entry: 'a.yaml', validation: 'strict', ruleset: null, limits };
const find = () => openStartSnapshot(process.argv[2], { makesNow: false, trade: 'all' }).find();
await openStartSnapshot(process.argv[2], { makesNow: true, trade: 'all' }).find();
for (let start = 0; start < 20; start++) {
  // Half of them while the snapshots are made, and half from these.
  for (let waits = 0; start === 10 && waits < 600 && (await find()) === null; waits++) await setTimeout(100);
  const snapshot = await find();
  const child = startChild(512, isolation, { snapshot });
  const outcome = await child.run({ type: 'compile', input }, { seconds: 600, load, signal: undefined });
  console.log('answer' in outcome ? (start < 10 || snapshot !== null ? 'done' : 'no snapshot') : JSON.stringify(outcome));
  child.kill();
}
`;
const run = promisify(execFile);

/** What a finished command printed, and its exit code. */
interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * The tarball that `npm pack` makes, installed by npm into an empty folder without a network: the packages that it depends on, and
 * no others, lie there already, as npm itself would have put them. Building and installing it takes long.
 */
describe(`the tarball`, () => {
  let home: string;
  let folder: string;
  let files: string[];
  let kept: string;
  let unused: string;
  let beside: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'stele-pack-'));
    folder = join(home, 'project');
    kept = join(home, '.cache', 'stele', 'code', 'sandbox');
    unused = join(kept, 'all-0123456789abcdef.blob');
    beside = join(kept, 'all-0123456789abcdee.blob');
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    // Packed from a copy: building leaves nothing in the working tree, nor meets another build there.
    const source = join(home, 'source');
    await mkdir(source);
    for (const name of await readdir(root)) {
      if (/^(?:\..*|node_modules|dist|coverage|test)$/.test(name)) continue;
      cpSync(join(root, name), join(source, name), { recursive: true });
    }
    await symlink(join(root, 'node_modules'), join(source, 'node_modules'));
    const packed = await npm(source, 'pack', '--json', '--pack-destination', home);
    const [report] = readPackReport(packed.stdout);
    files = report.files.map(({ path }) => path);
    // At once: file by file it takes four times as long.
    for (const path of [...(await readProductionPackages()), 'node_modules/.bin']) {
      cpSync(join(root, path), join(folder, path), { recursive: true, verbatimSymlinks: true });
    }
    await writeFile(join(folder, 'package.json'), '{}');
    await npm(folder, 'install', '--offline', '--ignore-scripts', join(home, report.filename));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  async function npm(cwd: string, command: string, ...args: string[]): Promise<Outcome> {
    const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--cache', join(home, 'cache')];
    const outcome = await start('npm', [command, ...quiet, ...args], cwd);
    if (outcome.code !== 0) throw new Error(`npm ${command} failed:\n${outcome.stdout}\n${outcome.stderr}`);
    return outcome;
  }

  function stele(...args: string[]): Promise<Outcome> {
    return start(join(folder, 'node_modules', '.bin', 'stele'), args, folder);
  }

  async function start(file: string, args: string[], cwd: string): Promise<Outcome> {
    const own = { HOME: home, NODE_COMPILE_CACHE: undefined };
    const env = { ...process.env, ...own, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` };
    return run(file, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: ExecFileException) => ({
        code: typeof error.code === 'number' ? error.code : -1,
        stdout: String(error.stdout ?? ''),
        stderr: String(error.stderr ?? error),
      }),
    );
  }

  test('holds JavaScript, its types, and what the program reads; no source and no test', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        'CHANGELOG.md',
        'deploy/stele.service',
        'docs/design.md',
        'dist/cli.js',
        'dist/config.js',
        'dist/config.d.ts',
        'dist/stele.1',
      ]),
    );
    expect(
      files.filter(
        (path) =>
          !/^(?:dist|content|templates|deploy|docs)\/|^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/.test(path),
      ),
    ).toEqual([]);
    expect(files.filter((path) => !path.startsWith('deploy/') && /(?<!\.d)\.ts$|\.test\./.test(path))).toEqual([]);
  });

  test('has its manual page in a list: npm links no other one', async () => {
    expect(await readManifest()).toMatchObject({ man: ['dist/stele.1'] });
  });

  test('has a stele that says its version', async () => {
    const { version } = await readManifest();
    expect(await stele('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('has a stele that checks a document in its sandbox', async () => {
    await mkdir(kept, { recursive: true, mode: 0o700 });
    for (const path of [unused, beside]) await writeFile(path, '');
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    await utimes(unused, longAgo, longAgo);
    const good = { openapi: '3.1.0', info: { title: 'Good', version: '1.0.0' }, paths: {} };
    await writeFile(join(folder, 'good.json'), JSON.stringify(good));
    await writeFile(join(folder, 'bad.yaml'), 'openapi: 3.1.0\ninfo:\n  title: 7\n');
    expect(await stele('lint', 'good.json')).toMatchObject({ code: 0 });
    const bad = await stele('lint', '--json', 'bad.yaml');
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.stdout).toContain('bad.yaml');
  });

  test('has a sandbox that starts from a snapshot after the first time, unless another user can write it', async () => {
    const blobs = async () => (await readdir(kept)).filter((name) => /^all-.*\.blob$/.test(name));
    // One that no program has used for an hour leaves, and one of another program that runs beside this one stays.
    await expect.poll(blobs, { timeout: 300_000, interval: 200 }).not.toContain(basename(unused));
    const own = (await blobs()).filter((name) => name !== basename(beside));
    expect([own.length, existsSync(beside)]).toEqual([1, true]);
    const blob = join(kept, own[0]!);
    expect((await stat(blob)).mode & 0o777).toBe(0o600);
    const before = await stele('lint', '--json', 'bad.yaml');
    expect(before).toMatchObject({ code: 1, stdout: expect.stringContaining('/info') as string });

    // What is not a snapshot: a sandbox that starts from it is lost, and the document is checked in another.
    await writeFile(blob, 'no snapshot');
    expect(await stele('lint', '--json', 'bad.yaml')).toEqual(before);
    await chmod(blob, 0o666);
    expect(await stele('lint', '--json', 'bad.yaml')).toEqual(before);
  });

  test('starts sandboxes beside another build of it on a busy machine, and loses none', async () => {
    const installed = join(folder, 'node_modules');
    const others = join(home, 'other', 'node_modules');
    await mkdir(join(others, '@stele-registry'), { recursive: true });
    for (const name of (await readdir(installed)).filter((each) => each !== '@stele-registry'))
      await symlink(join(installed, name), join(others, name));
    cpSync(join(installed, '@stele-registry'), join(others, '@stele-registry'), { recursive: true });
    const cache = join(home, 'shared');
    const startAll = async (modules: string) => {
      const script = join(modules, '@stele-registry', 'stele', 'dist', 'compile', 'sandbox', 'starts.js');
      await writeFile(script, starts);
      return (await start(process.execPath, [script, cache], home)).stdout.trim().split('\n');
    };
    const busy = Array.from({ length: 3 * availableParallelism() }, () =>
      spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
    );
    try {
      const done = Array<string>(20).fill('done');
      expect(await Promise.all([installed, others].map(startAll))).toEqual([done, done]);
    } finally {
      for (const each of busy) each.kill('SIGKILL');
    }
  });

  test.each(['worker', 'code-worker'])(
    'has a %s in which not even the bundle loads anything once it is closed',
    async (name) => {
      const sandbox = join(folder, 'node_modules', '@stele-registry', 'stele', 'dist', 'compile', 'sandbox');
      const probe = await readFile(join(root, 'test', 'fixtures', 'compile', 'bundle-probe.cjs'), 'utf8');
      const bundle = await readFile(join(sandbox, `${name}.cjs`), 'utf8');
      const script = join(sandbox, `${name}-probe.cjs`);
      await writeFile(
        script,
        bundle.replace('var __create', () => `${probe}var __create`),
      );
      const { languageArguments, sandboxCommand } = (await import(join(sandbox, 'isolation.js'))) as typeof isolation;
      const snapshot = join(home, `${name}.blob`);
      const build = [...languageArguments, '--snapshot-blob', snapshot, '--build-snapshot', script];
      await run(process.execPath, build, { cwd: '/', env: {} });
      for (const from of [null, snapshot]) {
        const command = sandboxCommand({ kind: 'node', reason: '' }, 1000, { also: [script], snapshot: from });
        const child = fork(script, [], { ...command, cwd: sandbox, env: {}, serialization: 'advanced', silent: true });
        const opened = await new Promise((resolve, reject) => {
          child.once('exit', () => reject(new Error('It ended before it said anything.')));
          child.on('message', (message: { type?: string }) => message.type === 'opened' && resolve(message));
        });
        child.kill('SIGKILL');
        expect(opened).toEqual({ type: 'opened', opened: [], chdir: false });
      }
    },
  );

  test('publishes into a store and reads its history', async () => {
    expect(await stele('publish', 'good.json', '@acme/apis/good')).toMatchObject({ code: 0 });
    const log = await stele('log', '@acme/apis/good');
    expect(log).toMatchObject({ code: 0 });
    expect(log.stdout).toContain('1.0.0');
    expect(await stele('fsck')).toMatchObject({ code: 0 });
  });

  test('gives other modules its defineConfig', async () => {
    await writeFile(
      join(folder, 'try.mjs'),
      `import { defineConfig } from '@stele-registry/stele'; console.log(typeof defineConfig({}));`,
    );
    expect(await start(process.execPath, ['try.mjs'], folder)).toEqual({ code: 0, stdout: 'object\n', stderr: '' });
  });

  test('takes a configuration in a folder where nothing is installed', async () => {
    const away = join(home, 'away');
    await mkdir(away);
    for (const name of ['@stele-registry/stele', 'stele']) {
      const text = `import { defineConfig } from '${name}';\nexport default defineConfig({ urls: 'a' });\n`;
      await writeFile(join(away, 'registry.config.ts'), text);
      const ended = await start(join(folder, 'node_modules', '.bin', 'stele'), ['keys', 'list', '--org', 'acme'], away);
      expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('urls is not expected here') as string });
    }
  });
});

async function readManifest(): Promise<{ version: string }> {
  return JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Awaited<ReturnType<typeof readManifest>>;
}

/** Where the packages lie that the project needs to run, by its lock. What another lies in is copied with that one. */
async function readProductionPackages(): Promise<string[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev }]) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path) && !dev && existsSync(join(root, path)),
    )
    .map(([path]) => path);
}

/** npm tells what it packed as a list, or, since npm 12, by name. */
function readPackReport(json: string): [{ filename: string; files: { path: string }[] }] {
  return Object.values(JSON.parse(json.slice(json.search(/^[[{]/m))) as object) as ReturnType<typeof readPackReport>;
}
