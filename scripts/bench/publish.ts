/**
 * How long it takes to publish a document, as a ratio: the whole command `stele publish` against the whole command `redocly lint` on the same
 * file, in alternating rounds, each round's document changed so that nothing is known already. Prints medians.
 *
 *   node scripts/bench/publish.ts ../shared/corpus/openapi/huge/api.github.com.json.gz [--rounds 5]
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { $, argv, type ProcessPromise } from 'zx';

const file = String(argv._[0] ?? '../shared/corpus/openapi/huge/api.github.com.json.gz');
const rounds = Number(argv['rounds'] ?? 5);
const root = new URL('../..', import.meta.url).pathname;
const node = process.execPath;

const bytes = await readFile(file);
const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const name = file.includes('.json') ? 'document.json' : 'document.yaml';
const quiet = $({
  cwd: folder,
  nothrow: true,
  quiet: true,
  env: { PATH: process.env.PATH, HOME: folder, REDOCLY_TELEMETRY: 'off' },
});

const times: { publish: number[]; lint: number[] } = { publish: [], lint: [] };
try {
  for (let round = 0; round < rounds; round++) {
    await writeFile(join(folder, name), text.replace(/("?version"?: ?"?)[^",\n]+/, `$1${round + 1}.0.0`));
    const version = `${round + 1}.0.0`;
    const publish = () =>
      quiet`${node} ${root}/src/cli.ts publish ${name} @bench/apis/document --version ${version} --data data --json`;
    const lint = () =>
      quiet`${node} ${root}/node_modules/@redocly/cli/bin/cli.js lint --extends=minimal --format=summary ${name}`;
    times.publish.push(await timed(publish, '"outcome":"published"'));
    times.lint.push(await timed(lint, ''));
    console.log(
      `round ${round + 1}: publish ${seconds(times.publish.at(-1)!)}, redocly lint ${seconds(times.lint.at(-1)!)}`,
    );
  }
  const publish = median(times.publish);
  const lint = median(times.lint);
  console.log(
    `${(text.length / 1e6).toFixed(1)} MB: publish ${seconds(publish)}, redocly lint ${seconds(lint)}, ratio ${(publish / lint).toFixed(2)}`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Milliseconds from the start of a command to its end. One that fails, or does not say what it should, ends the benchmark. */
async function timed(run: () => ProcessPromise, expected: string): Promise<number> {
  const started = performance.now();
  const ended = await run();
  if (ended.exitCode !== 0 || !ended.stdout.includes(expected))
    throw new Error(`It failed: ${ended.stderr.slice(-2000)}`);
  return performance.now() - started;
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
