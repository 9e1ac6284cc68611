/**
 * Runs the benchmarks one after the other, prints each bar with its goal, and appends the values with their commit to
 * `docs/bench/history.jsonl`. Takes some 25 minutes. Run it where nothing else runs, after `npm run build`.
 *
 *   npm run bench                              everything
 *   npm run bench -- --quick                   in some 6 minutes, with fewer rounds, and without a note in the history
 *   npm run bench -- --only 304-nginx,cold     some bars (`bars.ts`), or all of a script: --only read
 *   npm run bench -- --verdaccio FOLDER        a folder with node_modules that has Verdaccio; its bar is left out without
 *
 * A script that fails does not stop the others; the exit code says so at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { $, argv } from 'zx';
import { bars, needsCorpus, scripts, type BarName } from './bars.ts';
import { historyFile, isBar, type Measured } from './history.ts';
import { printMeasured } from './results.ts';

const names = Object.keys(bars) as BarName[];
const only = argv['only'] === undefined ? null : String(argv['only']).split(',');
for (const name of only ?? [])
  if (!Object.hasOwn(bars, name) && !Object.hasOwn(scripts, name))
    throw new Error(
      `There is no bar and no script ${name}. There are: ${[...names, ...Object.keys(scripts)].join(', ')}`,
    );
const isQuick = argv['quick'] === true;
const corpus = join(import.meta.dirname, '../../../shared/corpus');
const hasCorpus = existsSync(corpus);
if (!hasCorpus) {
  const left = names.filter(needsCorpus);
  console.log(
    `There are no documents at ${corpus}, so these bars are left out: ${left.join(', ')}. The others are measured.`,
  );
}
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const results = join(folder, 'results.jsonl');
const failed: string[] = [];
const commit = (await $({ quiet: true })`git describe --always --dirty`).stdout.trim();
const began = performance.now();

for (const [script, args] of Object.entries(scripts)) {
  const wanted = names.filter((name) => bars[name].script === script && isWanted(script, name));
  // Curves are no bars.
  const isCurves = script === 'curves' && (only === null || only.includes(script));
  if (wanted.length === 0 && !isCurves) continue;
  const startedAt = performance.now();
  console.log(`\n${script}`);
  const given = `${isQuick ? args.quick : args.full}`.split(' ').filter(Boolean);
  const peers = argv['verdaccio'] === undefined ? [] : ['--verdaccio', String(argv['verdaccio'])];
  const all = [
    `${join(import.meta.dirname, script)}.ts`,
    ...given,
    ...peers,
    '--bars',
    wanted.join(),
    '--results',
    results,
  ];
  const child = spawn(process.execPath, all, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) failed.push(script);
  console.log(`${script}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
}

const lines = (await readFile(results, 'utf8').catch(() => '')).split('\n').filter(Boolean);
await rm(folder, { recursive: true });
const measured = lines.map((line) => JSON.parse(line) as Measured);
const date = new Date().toISOString().slice(0, 10);
const processors = cpus();
const machine = `${processors.length} × ${processors[0]!.model}`;
if (!isQuick)
  await appendFile(
    historyFile,
    measured.map((one) => `${JSON.stringify({ commit, date, machine, ...one })}\n`).join(''),
  );
console.log(`\nCommit ${commit}, ${machine}, ${Math.round((performance.now() - began) / 60_000)} minutes`);
printMeasured(measured.filter(({ row }) => isBar(row)));
const missing = names.filter((name) => isWanted(bars[name].script, name) && !measured.some(({ row }) => row === name));
if (missing.length > 0) console.log(`Not measured: ${missing.join(', ')}`);
if (failed.length > 0) throw new Error(`These benchmarks failed: ${failed.join(', ')}`);

function isWanted(script: string, name: BarName): boolean {
  if (!hasCorpus && needsCorpus(name)) return false;
  return only === null || only.includes(script) || only.includes(name);
}
