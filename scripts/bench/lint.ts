/**
 * How long it takes to check documents, as ratios of medians over alternating rounds in one run:
 *
 *   - the five largest documents of the corpus with Redocly's recommended rules: the whole command
 *     `stele lint` against the whole command `redocly lint` (goal ≤ 1.1), and a compile in a warm
 *     sandbox against it (goal ≤ 0.6), with the codings that a publish writes and without,
 *   - a Spectral ruleset: `stele lint` against `spectral lint` (goal ≤ 0.1), and a warm sandbox,
 *   - the comparison of the two largest adjacent versions in the git bundles (goal ≤ 1 s).
 *
 *   node scripts/bench/lint.ts ../shared/corpus [--rounds 3] [--peers FOLDER] [--only redocly,spectral,diff] [--document PART-OF-ITS-NAME]
 *
 * FOLDER: where `npm install @stoplight/spectral-cli` was run. Redocly is the one of this project.
 * `stele` is the build (`npm run build`), as people install it. Times are those of the clock and, in
 * parentheses, of the processors. Those of `stele lint` leave its sandbox out, for which a command does
 * not wait: only the clock of a machine without other work tells how long it takes.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { $, argv } from 'zx';
import { openLocalCompiler } from '../../src/compile/sandbox/local-compiler.ts';
import type { GivenRuleset } from '../../src/compile/compile.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { publishedAs } from '../../src/registry/compare-versions.ts';
import { usualRules } from '../../src/model/comparison.ts';
import { digestOf } from '../../src/model/digest.ts';
import { createUpload } from '../../src/source/upload.ts';
import { reportResults } from './results.ts';
import { waitForSnapshots } from './wait-for-snapshot.ts';

const corpus = resolve(String(argv._[0] ?? '../shared/corpus'));
const rounds = Number(argv['rounds'] ?? 3);
const only = String(argv['only'] ?? 'redocly,spectral,diff').split(',');
const peers = argv['peers'] === undefined ? null : resolve(String(argv['peers']));
const root = new URL('../..', import.meta.url).pathname;

const largest = [
  'openapi/huge/api.github.com.json.gz',
  'openapi/company/freee-accounting-api-schema.json',
  'openapi/company/twilio/twilio_api_v2010.yaml',
  'openapi/apis-guru/vercelcom.yaml',
  'openapi/apis-guru/amazonawscompinpoint.yaml',
];
const documents = largest.filter((path) => argv['document'] === undefined || path.includes(String(argv['document'])));
/** A company's Spectral ruleset, the largest that Spectral itself can apply to these documents. */
const spectralRuleset = 'rulesets/spectral/SPSCommerce__sps-api-standards/sps-api-standards.spectral.yml';

const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const config = await loadConfig(null, join(folder, 'data'), '');
const limits = { ...config.limits, seconds: 120 };
const built = join(root, 'dist/cli.js');
if (!existsSync(built)) throw new Error('There is no build. Run npm run build first.');
const compiler = openLocalCompiler('node');
const quiet = $({
  cwd: folder,
  nothrow: true,
  quiet: true,
  env: { PATH: process.env['PATH'], HOME: folder, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
});
const stele = (name: string, ruleset: string) =>
  timed`${process.execPath} ${built} lint ${name} --ruleset ${ruleset} --format lines --config limits.config.mjs`;

/** Runs a command and returns its times. Exit code 1 says that it found something. */
async function timed(pieces: TemplateStringsArray, ...values: readonly string[]): Promise<Times> {
  const command = pieces.map((piece, at) => piece + (values[at] ?? '')).join('');
  const from = performance.now();
  const script = `TIMEFORMAT='%U %S'; time (${command} >/dev/null 2>error.txt)`;
  const { exitCode, stderr } = await quiet`bash -c ${script}`;
  const wall = performance.now() - from;
  if (exitCode !== 0 && exitCode !== 1)
    throw new Error(
      `${command} ended with ${exitCode}: ${(await readFile(join(folder, 'error.txt'), 'utf8')).slice(-2000)}`,
    );
  const cpu = stderr
    .trim()
    .split(/\s+/)
    .slice(-2)
    .reduce((sum, part) => sum + Number(part) * 1000, 0);
  return { wall, cpu };
}

interface Times {
  wall: number;
  cpu: number;
}

try {
  await writeFile(join(folder, 'limits.config.mjs'), "export default { limits: { seconds: 120 }, sandbox: 'node' };\n");
  await writeFile(join(folder, 'small.yaml'), 'openapi: 3.1.0\ninfo: { title: Small, version: 1.0.0 }\npaths: {}\n');
  await quiet`${process.execPath} ${built} lint small.yaml`;
  await waitForSnapshots(folder, ['all']);
  if (only.includes('redocly')) await againstRedocly();
  if (only.includes('spectral')) await againstSpectral();
  if (only.includes('diff')) await diffs();
} finally {
  await compiler.close();
  await rm(folder, { recursive: true, force: true });
}

async function againstRedocly(): Promise<void> {
  await writeFile(join(folder, 'recommended.yaml'), 'extends: [recommended]\n');
  const ruleset = await rulesetAt('recommended.yaml');
  for (const path of documents) {
    const name = await copyOf(path);
    const redocly = () =>
      timed`${process.execPath} ${root}/node_modules/@redocly/cli/bin/cli.js lint --extends=recommended --format=summary --max-problems=100000 ${name}`;
    await race(name, { stele: () => stele(name, 'recommended.yaml'), redocly }, ruleset);
  }
}

async function againstSpectral(): Promise<void> {
  const bin = peers && join(peers, 'node_modules/.bin/spectral');
  if (bin === null || !existsSync(bin)) return console.log('spectral: skipped. Give --peers FOLDER.');
  await writeFile(join(folder, 'style.yaml'), await readFile(join(corpus, spectralRuleset)));
  const ruleset = await rulesetAt('style.yaml');
  for (const path of documents.filter((one) => one !== largest[0])) {
    const name = await copyOf(path);
    const spectral = () => timed`${bin} lint ${name} --ruleset style.yaml --format json --quiet`;
    await race(name, { stele: () => stele(name, 'style.yaml'), spectral }, ruleset);
  }
}

/** Runs two commands in turns, and jobs in a warm sandbox, and prints their ratios. */
async function race(
  name: string,
  commands: Record<string, () => Promise<Times>>,
  ruleset: GivenRuleset,
): Promise<void> {
  const times: Record<string, Times[]> = {};
  await warm(name, ruleset, false);
  for (let round = 0; round < rounds; round++) {
    for (const [key, run] of Object.entries(commands)) (times[key] ??= []).push(await run());
    (times['warm'] ??= []).push(await timedHere(() => warm(name, ruleset, false)));
    (times['report'] ??= []).push(await timedHere(() => warm(name, ruleset, true)));
  }
  const [, peer] = Object.keys(commands) as [string, string];
  const of = (key: string, clock: keyof Times) => median(times[key]!.map((each) => each[clock]));
  const told = (key: string) =>
    `${seconds(of(key, 'wall'))} (${seconds(of(key, 'cpu'))} CPU)${key === peer ? '' : `, ratio ${(of(key, 'wall') / of(peer, 'wall')).toFixed(2)} (${(of(key, 'cpu') / of(peer, 'cpu')).toFixed(2)})`}`;
  console.log(
    `${name}: ${peer} ${told(peer)}; stele lint ${told('stele')}; warm sandbox ${told('warm')}; the report alone ${told('report')}`,
  );
  if (peer === 'redocly' && largest[0]!.includes(name))
    await reportResults([
      {
        row: 'lint-warm',
        value: of('warm', 'wall') / of(peer, 'wall'),
        seen: `${told('warm')}, redocly ${told(peer)}, stele lint ${told('stele')}`,
      },
    ]);
}

/** Times a job of this process and its sandboxes. */
async function timedHere(job: () => Promise<void>): Promise<Times> {
  const from = { wall: performance.now(), cpu: cpuOf(process.pid) };
  await job();
  return { wall: performance.now() - from.wall, cpu: cpuOf(process.pid) - from.cpu };
}

/** Milliseconds of CPU of a process and those below it that run. */
function cpuOf(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    const below = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
    return (Number(fields[11]) + Number(fields[12])) * 10 + below.reduce((sum, one) => sum + cpuOf(Number(one)), 0);
  } catch {
    return 0;
  }
}

/** `reportOnly`: as for `stele lint` and checks, which encode nothing. */
async function warm(name: string, ruleset: GivenRuleset, reportOnly: boolean): Promise<void> {
  const snapshot = createUpload(name, await readFile(join(folder, name)));
  const input = { type: null, entry: name, validation: 'strict', ruleset, limits, reportOnly } as const;
  await compiler.compile(input, (paths) => snapshot.read(paths));
}

async function rulesetAt(name: string): Promise<GivenRuleset> {
  const snapshot = createUpload(name, await readFile(join(folder, name)));
  const input = { type: 'rulesets', entry: name, validation: 'strict', ruleset: null, limits } as const;
  const { artifact, report } = await compiler.compile(input, (paths) => snapshot.read(paths));
  if (artifact === null) throw new Error(JSON.stringify(report.problems.slice(0, 3)));
  const { json } = publishedAs(artifact);
  return { digest: digestOf(json), name, json: Buffer.from(json).toString() };
}

async function copyOf(path: string): Promise<string> {
  const name = basename(path).replace(/\.gz$/, '');
  const bytes = await readFile(join(corpus, path));
  await writeFile(join(folder, name), path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
  return name;
}

/** Compares adjacent commits of the largest document in the bundles. */
async function diffs(): Promise<void> {
  const bundles = execFileSync('ls', [join(corpus, 'git')])
    .toString()
    .trim()
    .split('\n');
  let newest: { size: number; name: string; path: string; before: string; after: string; git: string } | null = null;
  for (const bundle of bundles) {
    const git = join(folder, bundle);
    execFileSync('git', ['clone', '--quiet', '--bare', join(corpus, 'git', bundle), git]);
    const lines = execFileSync('git', ['-C', git, 'log', '--raw', '--no-abbrev', '--format=', '--diff-filter=M']);
    for (const line of lines.toString().split('\n')) {
      const [, , before, after, , path] = line.split(/[ \t]/);
      if (path === undefined || !/(?:openapi|swagger|spec|museum|train|dist).*\.(?:ya?ml|json)$/i.test(path)) continue;
      const size = Number(execFileSync('git', ['-C', git, 'cat-file', '-s', after!]).toString());
      if (newest === null || size > newest.size)
        newest = { size, name: bundle, path, before: before!, after: after!, git };
    }
  }
  if (newest === null) return console.log('diff: no document in the bundles');
  const { git, path, name, size } = newest;
  const [before, after] = await Promise.all(
    [newest.before, newest.after].map(async (id) => {
      const bytes = execFileSync('git', ['-C', git, 'cat-file', 'blob', id], { maxBuffer: 1e9 });
      const snapshot = createUpload(basename(path), bytes);
      const input = { type: null, entry: basename(path), validation: 'lenient', ruleset: null, limits } as const;
      const { artifact, report } = await compiler.compile(input, (paths) => snapshot.read(paths));
      if (artifact === null) throw new Error(JSON.stringify(report.problems.slice(0, 3)));
      return publishedAs(artifact);
    }),
  );
  const times: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const from = performance.now();
    const { counts } = await compiler.compare(before!, after!, limits, usualRules);
    if (round > 0) times.push(performance.now() - from);
    if (round === rounds)
      console.log(
        `diff of ${name}:${path}, ${(size / 1e6).toFixed(1)} MB, ${JSON.stringify(counts)}: ${seconds(median(times))}`,
      );
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
