/**
 * How fast `stele build` is with 1,000 documents: pages in a second, peak memory, and a second build in which nothing, and one in which one
 * document has changed, as ratios of the first. Pages are HTML and Markdown files, each once. The documents are those of the corpus under 200 KB, in turn, each with a title of its own.
 *
 *   node scripts/bench/build.ts [../shared/corpus/openapi] [--documents 1000] [--largest 200000]
 *
 * Publishing them takes most of the time, and is not measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'zx';
import { loadConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import { publish } from '../../src/registry/publish.ts';
import { createUpload } from '../../src/source/upload.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';

const corpus = String(argv._[0] ?? '../shared/corpus/openapi');
const count = Number(argv['documents'] ?? 1000);
const largest = Number(argv['largest'] ?? 200_000);
const cli = new URL('../../src/cli.ts', import.meta.url).pathname;

interface Run {
  seconds: number;
  /** Seconds of processor time of the command itself, without its sandboxes: what is left where the machine is busy with other things. */
  own: number;
  /** Peak memory of the command itself, in MB; its sandboxes have their own limit. */
  megabytes: number;
  built: { outcome: string; files: number; bytes: number; made: number };
}

const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const data = join(folder, 'data');
const config = join(folder, 'config.mjs');
await writeFile(config, `export default { url: 'https://bench.test' };`);
try {
  const started = performance.now();
  const published = await publishAll(0, count);
  console.log(`${published} documents published in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  const first = await build();
  const pages = await countPages(join(folder, 'site'));
  tell('first', first);
  const again = await build();
  tell('nothing changed', again);
  await publishAll(count, count + 1);
  const little = await build();
  tell('one more document', little);
  const seen = `${pages} pages in ${first.seconds.toFixed(1)} s; nothing changed ${again.seconds.toFixed(1)} s, one more ${little.seconds.toFixed(1)} s`;
  const results: Measured[] = [
    { row: 'build', value: pages / first.seconds, seen },
    { row: 'build-more', value: little.seconds / first.seconds, seen },
  ];
  await reportResults(results.filter(({ row }) => isAsked(row as 'build' | 'build-more')));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function countPages(site: string): Promise<number> {
  const names = await readdir(site, { recursive: true });
  return names.filter((name) => /\.(?:html|md)$/.test(name)).length;
}

/** Publishes documents of the corpus in turn, from one number to another. */
async function publishAll(from: number, to: number): Promise<number> {
  const registry = await openRegistry(await loadConfig(config, data), () => undefined);
  const files = await corpusFiles();
  let published = 0;
  const one = async (index: number): Promise<void> => {
    const file = files[index % files.length]!;
    const text = await readFile(file, 'utf8');
    const title = `Document ${index}`;
    const bytes = Buffer.from(text.replace(/^(\s*"?title"?\s*:\s*).*?(,?)$/m, `$1"${title}"$2`));
    const result = await publish(registry, {
      coordinate: { org: `org${index % 10}`, type: 'apis', slug: `document-${index}` },
      snapshot: createUpload(file.endsWith('json') ? 'a.json' : 'a.yaml', bytes),
      entry: file.endsWith('json') ? 'a.json' : 'a.yaml',
      version: '1.0.0',
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { name: title, visibility: 'public', validation: 'lenient' },
      author: { actor: 'operator:bench', origin: null },
    });
    if (result.outcome === 'published') published += 1;
  };
  for (let index = from; index < to; index += 8)
    await Promise.all(Array.from({ length: Math.min(8, to - index) }, (_, n) => one(index + n)));
  await registry.close();
  return published;
}

async function corpusFiles(): Promise<string[]> {
  const entries = await readdir(corpus, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml)$/.test(entry.name) && !/traps|multi/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const small: string[] = [];
  for (const name of names) if ((await stat(name)).size <= largest) small.push(name);
  return small;
}

/** Runs the whole command, as somebody would. */
async function build(...more: string[]): Promise<Run> {
  const args = [cli, 'build', '--json', '--out', join(folder, 'site'), '--config', config, '--data', data, ...more];
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  let megabytes = 0;
  let own = 0;
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const watch = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    megabytes = Math.max(megabytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    const fields = (await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => ''))
      .replace(/^.*\) /s, '')
      .split(' ');
    own = Math.max(own, (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100);
  }, 50);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(watch);
  if (code !== 0) throw new Error(`stele build ended with ${code}`);
  return { seconds: (performance.now() - startedAt) / 1000, own, megabytes, built: JSON.parse(text) as Run['built'] };
}

function tell(name: string, { seconds, own, megabytes, built }: Run): void {
  const { outcome, files, made, bytes } = built;
  const size = `${files} files, ${(bytes / 1e6).toFixed(0)} MB, ${made} made`;
  console.log(
    `${name}: ${outcome} in ${seconds.toFixed(1)} s (${own.toFixed(1)} s of its own), peak ${megabytes.toFixed(0)} MB, ${size}`,
  );
}
