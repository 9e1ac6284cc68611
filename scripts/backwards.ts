/**
 * Runs the tests of `npm test`, or those that are named, each file from its last test to its first (`test/backwards.ts`).
 *
 *   node scripts/backwards.ts [test/cli …]
 */
import { startVitest } from 'vitest/node';

const config = new URL('../test/vitest.config.ts', import.meta.url).pathname;
const runner = new URL('../test/backwards.ts', import.meta.url).pathname;
const vitest = await startVitest(
  'test',
  process.argv.slice(2),
  { config, project: ['suite*'], watch: false },
  { test: { runner } },
);
await vitest.close();
