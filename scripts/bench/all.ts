/**
 * All benchmarks whose peers are installed with Stele or the machine, one after the other; each prints its table, and appends it with its commit to
 * `history.jsonl`. Takes about half an hour. Run it where nothing else runs.
 *
 *   npm run bench [-- --only read,lists]
 *
 * Those that need peers of their own are run by name: `registries.ts`, `lint.ts`, `site.ts`, `pages.ts`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { argv } from 'zx';

const benchmarks: Readonly<Record<string, readonly string[]>> = {
  read: ['read.ts', '--seconds', '1'],
  cold: ['cold.ts'],
  lists: ['lists.ts'],
  stalls: ['stalls.ts'],
  log: ['log.ts'],
  clients: ['clients.ts'],
  publish: ['publish.ts'],
  push: ['push.ts'],
  build: ['build.ts'],
};
const only = argv['only'] === undefined ? Object.keys(benchmarks) : String(argv['only']).split(',');

const failed: string[] = [];
for (const name of only) {
  const [script, ...args] = benchmarks[name] ?? [];
  if (script === undefined)
    throw new Error(`There is no benchmark ${name}. There are: ${Object.keys(benchmarks).join(', ')}`);
  console.log(`\n${name}`);
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args, '--note'], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) failed.push(name);
}
if (failed.length > 0) throw new Error(`These benchmarks failed: ${failed.join(', ')}`);
