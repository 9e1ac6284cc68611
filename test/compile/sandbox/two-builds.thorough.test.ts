import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = new URL('../../..', import.meta.url).pathname;
const folder = await mkdtemp(join(tmpdir(), 'stele-builds-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Starts twenty sandboxes one after the other, each as after a start of the program, and prints how each job ended. */
const program = `
import { openCodeCache } from './src/compile/sandbox/code-cache.ts';
import { startChild } from './src/compile/sandbox/child.ts';
import { findIsolation } from './src/compile/sandbox/isolation.ts';
const isolation = await findIsolation('auto');
const load = async (paths) => paths.map((path) => ({ path, bytes: Buffer.from('openapi: 3.1.0\\ninfo: {title: Pets, version: "1"}\\npaths: {}\\n') }));
const limits = { fileBytes: 1e6, bundleBytes: 1e6, files: 10, depth: 100, aliases: 10, nodes: 1000, seconds: 600, memoryMegabytes: 512 };
const input = { type: 'apis', entry: 'a.yaml', validation: 'strict', ruleset: null, limits };
for (let start = 0; start < 20; start++) {
  const cache = openCodeCache(process.argv[2], { fills: true });
  const child = startChild(512, isolation, { compiledCode: await cache.folderFor(isolation) });
  const outcome = await child.run({ type: 'compile', input }, { seconds: 600, load, signal: undefined });
  console.log('answer' in outcome ? 'done' : JSON.stringify(outcome));
  child.kill();
  cache.close();
}
`;

/** A copy of the program. Other times of its files make it another build. */
async function buildOf(name: string, changedAt: Date): Promise<string> {
  const place = join(folder, name);
  await mkdir(place);
  for (const part of ['src', 'content', 'package.json'])
    await cp(join(root, part), join(place, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(place, 'node_modules'));
  await utimes(join(place, 'src', 'cli.ts'), changedAt, changedAt);
  await writeFile(join(place, 'starts.ts'), program);
  return place;
}

async function run(place: string): Promise<string[]> {
  const child = spawn(process.execPath, ['starts.ts', join(folder, 'cache')], {
    cwd: place,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (some: Buffer) => (text += some.toString()));
  await once(child, 'close');
  return text.trim().split('\n');
}

test('two builds of the program start sandboxes beside each other on a busy machine, and lose none', async () => {
  const builds = await Promise.all([buildOf('one', new Date(1e12)), buildOf('other', new Date(2e12))]);
  const busy = Array.from({ length: 3 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { detached: true, stdio: 'ignore' }),
  );
  try {
    const done = Array<string>(20).fill('done');
    expect(await Promise.all(builds.map(run))).toEqual([done, done]);
  } finally {
    for (const { pid } of busy) process.kill(pid!, 'SIGKILL');
  }
});
