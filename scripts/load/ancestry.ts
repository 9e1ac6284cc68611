/**
 * How much it costs to find out whether a commit descends from another one, through a long history: the processor time of this process and of
 * git, and the bytes that the git server sends.
 *
 *   node scripts/load/ancestry.ts [--commits 100000] [--no-filter]
 *
 * `--no-filter`: the server gives whole commits only. Exit code 1: an answer is wrong.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { argv } from 'zx';
import { openWorld } from '../../test/source/world.ts';
import { processorTime } from './processor-time.ts';

const commits = Number(argv['commits'] ?? 100_000);
await using world = await openWorld();
const repository = world.createRepository();
await generate();
if (argv['filter'] === false) repository.setConfig('uploadpack.allowFilter', 'false');
const idOf = (revision: string) => repository.git('rev-parse', revision);
const [tip, first, before] = [idOf('main'), idOf('first'), idOf('main~1')];
const amended = repository.commit({ files: { 'a.txt': 'amended' }, branch: 'amended', parent: before });
const other = repository.commit({ files: { 'a.txt': 'other' }, branch: 'other', parent: null });
const old = repository.commit({ files: { 'a.txt': 'old' }, branch: 'old', parent: first });
console.log(`${commits} commits, ${repository.git('count-objects', '-vH').match(/size-pack: (.+)/)?.[1]} packed`);

const rows = [
  ['goes on after one commit', before, 'descendant'],
  ['goes on from the first commit', first, 'descendant'],
  ['was rewritten at the end', amended, 'rewritten'],
  ['was rewritten from the first commit on', old, 'rewritten'],
  ['is another history', other, 'unrelated'],
] as const;
for (const [what, trusted, expected] of rows) {
  const source = world.openSource({ folder: `${world.cache}-${trusted}` });
  const [bytes, used] = [world.server.sent(), processorTime()];
  const answer = await source.ancestry(world.remote(), tip, trusted, new AbortController().signal);
  const megabytes = ((world.server.sent() - bytes) / 2 ** 20).toFixed(2);
  console.log(`${what}: ${answer}, ${megabytes} MB, ${(processorTime() - used).toFixed(2)} s of processor time`);
  if (answer !== expected) process.exitCode = 1;
}

/** A history of one file that changes, with a branch at its first commit. */
async function generate(): Promise<void> {
  const child = spawn('git', ['fast-import', '--quiet'], {
    cwd: repository.folder,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = once(child, 'close');
  for (let n = 1; n <= commits; n++) {
    const identity = `A <a@stele.test> ${1_700_000_000 + n} +0000`;
    const head = `commit refs/heads/main\nauthor ${identity}\ncommitter ${identity}\ndata 6\nChange\n`;
    if (!child.stdin.write(`${head}M 100644 inline a.txt\ndata ${String(n).length}\n${n}\n\n`))
      await once(child.stdin, 'drain');
    if (n === 1) child.stdin.write('reset refs/heads/first\nfrom refs/heads/main\n\n');
  }
  child.stdin.end();
  await ended;
  repository.git('repack', '-adq');
}
