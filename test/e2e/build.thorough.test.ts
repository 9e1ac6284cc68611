import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { plainHostLimits } from '../../src/site/build/rules-edge.ts';
import { runHere } from '../cli/in-process.ts';
import { filesIn, openFolder, textOf } from '../site/build/build-world.ts';
import { runStele } from './stele.ts';

/** Brotli takes most of the time of a build: `test/e2e/static.test.ts` has every coding. */
const build = ['build', '--precompressed', 'gzip'];

let folder: Awaited<ReturnType<typeof openFolder>>;
let common: string[];
const ends: (() => void)[] = [];

/** A registry with one document, its site, and what a build keeps for the next one: its assets, packed. */
let given: Awaited<ReturnType<typeof openFolder>>;

beforeAll(async () => {
  given = await openFolder();
  folder = given;
  const acme = { name: 'Acme', defaults: { visibility: 'public' } };
  const config = `export default ${JSON.stringify({ url: 'https://acme.test', organizations: { acme } })};`;
  await writeFile(join(given.path, 'config.mjs'), config);
  common = commonIn(given.path);
  await publish('1.0.0');
  await runStele([...build, '--out', join(given.path, 'site'), ...common]);
});

afterAll(() => given[Symbol.asyncDispose]());

beforeEach(async () => {
  folder = await openFolder();
  await cp(given.path, folder.path, { recursive: true });
  common = commonIn(folder.path);
});

function commonIn(path: string): string[] {
  return ['--config', join(path, 'config.mjs'), '--data', join(path, 'data')];
}

afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await folder[Symbol.asyncDispose]();
});

async function publish(version: string): Promise<void> {
  const file = join(folder.path, 'pay.json');
  await writeFile(file, JSON.stringify({ openapi: '3.1.0', info: { title: 'Pay', version }, paths: {} }));
  expect(await runHere(['publish', file, '@acme/apis/pay', ...common])).toMatchObject({ code: 0 });
}

test('stele build writes a site, says what a plain host cannot do, and does nothing twice', async () => {
  const out = join(folder.path, 'contracts');
  const first = await runHere([...build, '--out', out, '--base', '/contracts', ...common]);
  expect(first).toMatchObject({ code: 0 });
  for (const limit of plainHostLimits) expect(first.stderr).toContain(limit);
  expect(await textOf(out, 'index.html')).toContain('href="/contracts/@acme/apis/pay"');
  expect(await textOf(out, 'sitemap.xml')).toContain('https://acme.test/contracts/@acme/apis/pay');
  const second = await runHere([...build, '--out', out, '--base', '/contracts', '--json', ...common]);
  expect(JSON.parse(second.stdout)).toMatchObject({ outcome: 'unchanged', made: 0, resources: 1 });
  const moved = await runHere([...build, '--out', out, '--json', ...common]);
  expect(JSON.parse(moved.stdout)).toMatchObject({ outcome: 'built' });
  expect(await textOf(out, 'index.html')).toContain('href="/@acme/apis/pay"');
});

test('content/docs/static-build.md says what a plain host cannot do', async () => {
  const text = await readFile(new URL('../../content/docs/static-build.md', import.meta.url), 'utf8');
  const unwrapped = text.replaceAll('\n  ', ' ');
  for (const limit of plainHostLimits) expect(unwrapped).toContain(`- ${limit}\n`);
});

test('what cannot be is refused with the exit code for it', async () => {
  const other = join(folder.path, 'other');
  await mkdir(other);
  await writeFile(join(other, 'thesis.doc'), 'x');
  expect(await runHere([...build, '--out', other, ...common])).toMatchObject({ code: 1 });
  expect(await readdir(other)).toEqual(['thesis.doc']);
  expect(await runHere(['build', ...common])).toMatchObject({ code: 2 });
  expect(await runHere([...build, '--out', 'x', '--base', '/a b;c', ...common])).toMatchObject({ code: 2 });
});

test.for(['SIGTERM', 'SIGKILL'] as const)(`%s while it builds: the earlier build stands`, async (signal) => {
  const out = join(folder.path, 'site');
  const before = await filesIn(out);
  await publish('2.0.0');
  const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [cli, ...build, '--fresh', '--out', out, ...common], { stdio: 'ignore' });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const isBuilding = async () => (await readdir(folder.path)).some((name) => name.includes('.stele-new-'));
  await expect.poll(isBuilding, { interval: 20 }).toBe(true);
  child.kill(signal);
  const [code] = await ended;
  expect(code).toBe(signal === 'SIGKILL' ? null : 3);
  expect(await filesIn(out)).toEqual(before);
  if (signal !== 'SIGKILL') expect(await isBuilding()).toBe(false);
  expect(await runHere([...build, '--out', out, ...common])).toMatchObject({ code: 0 });
  expect(await isBuilding()).toBe(false);
  expect(await filesIn(out)).toContain('@acme/apis/pay@2.0.0.json');
});

test(`a disk that is full: the earlier build stands, and nothing of the new one is left`, async () => {
  const disk = join(folder.path, 'disk');
  await mkdir(disk);
  const isMounted = mountSmall(disk, 24 * 1024 * 1024);
  if (isMounted) {
    const refused = await runHere([...build, '--out', disk, ...common]);
    expect(refused).toMatchObject({ code: 3 });
    expect(refused.stderr).toContain('Choose a folder inside it');
    expect(await filesIn(disk)).toEqual([]);
  }
  const out = join(disk, 'site');
  await cp(join(folder.path, 'site'), out, { recursive: true });
  const before = await filesIn(out);
  const { bavail, bsize } = await statfs(disk);
  if (isMounted) await writeFile(join(disk, 'ballast'), Buffer.alloc(Number(bavail) * Number(bsize) - 1024 * 1024));
  const args = [...build, '--fresh', '--out', out, ...common];
  // Where nobody may mount, a limit on the size of files must do.
  const full = isMounted ? await runHere(args) : runLimited(args);
  expect(full.code).toBe(3);
  expect(full.stderr).toContain('The previous build is unchanged.');
  expect((await readdir(disk)).filter((name) => name !== 'ballast')).toEqual(['site']);
  expect(await filesIn(out)).toEqual(before);
});

/** Mounts a file system of so many bytes on the folder. False where this machine does not allow it. */
function mountSmall(path: string, bytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    return false;
  }
  ends.push(() => execFileSync('umount', ['--lazy', path]));
  return true;
}

/** Runs a command that can write no file of more than 100 KiB. */
function runLimited(args: readonly string[]): { code: number | null; stderr: string } {
  const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
  const script = 'ulimit -f 100 && exec "$0" "$@"';
  const { status, stderr } = spawnSync('bash', ['-c', script, process.execPath, cli, ...args], { encoding: 'utf8' });
  return { code: status, stderr };
}
