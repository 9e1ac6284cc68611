import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { createSummary } from './reporter.ts';

// Half of what a short command costs is compiling its modules: the processes that tests start keep that for each other.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/node-compile', import.meta.url));

const files = ['test/**/*.test.ts'];

/** They look at their whole process, such as its memory, replace a module, or leave gigabytes: each has a process of its own. */
const alone = [
  'test/compile/sandbox/spare.test.ts',
  'test/lives/lives.test.ts',
  'test/server/read/page-keeping.test.ts',
  'test/source/command.test.ts',
  'test/store/turns.test.ts',
];

export default defineConfig({
  test: {
    reporters: ['default', createSummary({ strict: process.env.CI === 'true' })],
    // More than the two cores, because half of the time a file waits: for git, for a server, or for a clock.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/setup.ts'],
    // These end what hangs. They are so long because a machine that is busy with something else takes ten times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    projects: [
      // A worker keeps what it has loaded for its next file: loading is half of what short files cost.
      { extends: true, test: { name: 'shared', include: files, exclude: alone, isolate: false } },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
});
