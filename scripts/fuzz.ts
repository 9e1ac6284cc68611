/**
 * Sends requests that are drawn from the management API's description to a server in this process, with the real compiler behind it, and
 * holds every answer against it.
 * `node scripts/fuzz.ts [count] [seed]`; by default 10,000 and the time. Exit code 1: an answer was not as described.
 */
import { availableParallelism } from 'node:os';
import { argv, echo } from 'zx';
import { openCompiler } from '../src/compile/sandbox/sandbox.ts';
import { fuzz } from '../test/server/v1/fuzz.ts';

const [count = 10_000, seed = Date.now() % 2 ** 31] = argv._.map(Number);
const compiler = openCompiler({ children: availableParallelism() });
const { statuses, breaches } = await fuzz(count, seed, compiler);
await compiler.close();
echo(`${count} requests, seed ${seed}: ${breaches.length} answers that are not described`);
for (const [status, number] of Object.entries(statuses).sort()) echo(`${status}\t${number}`);
for (const breach of breaches.slice(0, 20)) echo(`\n${breach}`);
process.exitCode = breaches.length > 0 ? 1 : 0;
