/**
 * Shuffled, tripled and forged hooks on two processes over one store. Exit 1 unless the tips are published, and each commit once.
 *
 *   node scripts/shuffle.ts --repositories 10 --events 1000
 */
import { argv } from 'zx';
import { shuffleEvents } from '../test/e2e/shuffle.ts';

const started = Date.now();
const result = await shuffleEvents({
  repositories: Number(argv['repositories'] ?? 10),
  events: Number(argv['events'] ?? 1000),
});
console.log(JSON.stringify(result, null, 2));
console.log(`${((Date.now() - started) / 1000).toFixed(0)} s`);
const isGood = result.behind.length + result.twice.length + result.wrong.length === 0;
console.log(isGood ? 'The tips are published, each commit once.' : 'Not as promised.');
process.exitCode = isGood ? 0 : 1;
