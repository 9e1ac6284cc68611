/**
 * What it costs to follow a large repository over HTTP, beside git itself: asking for its tip beside `git ls-remote`, its first file beside a
 * blobless clone, one changed file beside `git fetch` in such a clone. By the clock, in alternating rounds.
 *
 *   node scripts/bench/poll.ts [--rounds 7] [--files 20000] [--bars poll,one-file]
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { argv } from 'zx';
import { openSource } from '../../src/source/mirror.ts';
import { createFixtureRepository } from '../../test/servers/fixture-repository.ts';
import { openGitServer } from '../../test/servers/git-http.ts';
import { quantile } from '../load/quantile.ts';
import type { BarName } from './bars.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';

const rounds = Number(argv['rounds'] ?? 7);
const files = Number(argv['files'] ?? 20_000);
const run = promisify(execFile);
const root = await mkdtemp(join(tmpdir(), 'stele-poll-'));
const results: Measured[] = [];
let serial = 0;

try {
  await using server = await openGitServer({ root });
  const repository = createFixtureRepository(join(root, 'large.git'));
  const code = Array.from({ length: files }, (_, n) => [`src/m${n % 200}/f${n}.ts`, `export const n${n} = ${n};\n`]);
  repository.commit({ files: Object.fromEntries(code) as Record<string, string> });
  change();
  repository.git('repack', '-adq', '--window=5');
  const remote = { url: `${server.url}/large.git`, ref: 'refs/heads/main', credential: null };
  const open = () =>
    openSource({
      folder: join(root, `cache-${++serial}`),
      timeLimit: 120,
      sizeLimit: 1e9,
      limits: { fileBytes: 1e7, entries: 100_000 },
      allowLocalRepositories: false,
      hosts: [server.url],
    });
  const read = async (source: ReturnType<typeof openSource>) => {
    const tip = await source.tip(remote);
    if (!tip.found) throw new Error(tip.detail);
    await (await source.snapshot(remote, tip.commit)).read(['openapi.json']);
  };
  const clone = (to: string) => run('git', ['clone', '--quiet', '--bare', '--filter=blob:none', remote.url, to]);

  const source = open();
  const mirror = join(root, 'clone.git');
  await read(source);
  await clone(mirror);
  if (isAsked('poll'))
    await race('poll', [() => source.tip(remote), () => run('git', ['ls-remote', remote.url, remote.ref])]);
  if (isAsked('first-file'))
    await race('first-file', [() => read(open()), () => clone(join(root, `clone-${++serial}.git`))]);
  if (isAsked('one-file'))
    await race(
      'one-file',
      [() => read(source), () => run('git', ['fetch', '--quiet', 'origin', '+main:main'], { cwd: mirror })],
      change,
    );

  /** Commits another edition of the document. */
  function change(): void {
    const info = { title: 'Large', version: `1.0.${++serial}` };
    repository.commit({ files: { 'openapi.json': JSON.stringify({ openapi: '3.1.0', info, paths: {} }) } });
  }
} finally {
  await rm(root, { recursive: true, force: true });
}
await reportResults(results);

async function race(
  row: BarName,
  [ours, git]: [() => Promise<unknown>, () => Promise<unknown>],
  before: () => void = () => undefined,
): Promise<void> {
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    before();
    for (const [at, work] of [ours, git].entries()) {
      const startedAt = performance.now();
      await work();
      times[at]!.push(performance.now() - startedAt);
    }
  }
  const [its, gits] = times.map((each) => quantile(each, 0.5)) as [number, number];
  results.push({ row, value: its / gits, seen: `${its.toFixed(0)} ms, git ${gits.toFixed(0)} ms` });
}
