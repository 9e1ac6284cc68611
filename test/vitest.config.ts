import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';
import { createSummary } from './reporter.ts';

/**
 * `npm test` runs `suite`: it needs git and nothing else, and is the same on every machine. `npm run test:thorough` runs
 * `thorough`, which needs what `thorough-needs.ts` names: browsers, web servers, S3 gateways, corpora, time.
 */
const suite = ['test/**/*.test.ts'];
const thorough = ['test/**/*.thorough.test.ts'];

/** They look at their whole process, such as its memory, replace a module, or leave gigabytes: each has a process of its own. */
const alone = [
  'test/compile/sandbox/priority.test.ts',
  'test/compile/sandbox/spare*.test.ts',
  'test/lives/*.test.ts',
  'test/server/read/page-keeping.test.ts',
  'test/source/command.test.ts',
  'test/store/turns.test.ts',
];

/** Two projects of the same files: those that share a worker, which keeps what it has loaded for its next file, and the others. */
function projects(name: string, include: string[], exclude: string[], setup: object): TestProjectConfiguration[] {
  const isolated = alone.map((file) => (name === 'thorough' ? file.replace('.test.ts', '.thorough.test.ts') : file));
  return [
    { extends: true, test: { name, include, exclude: [...exclude, ...isolated], isolate: false, ...setup } },
    { extends: true, test: { name: `${name}-alone`, include: isolated, exclude } },
  ];
}

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], createSummary()],
    // A line a file: what took longest stands at the end.
    slowTestThreshold: Infinity,
    // Where a test is marked so, the others count as skipped, and the run fails, on every machine.
    allowOnly: true,
    // More than the two cores, because half of the time a file waits: for git, for a server, or for a clock.
    maxWorkers: 4,
    // Collecting short-lived garbage took a fifth of all processor time with the usual 16 MB.
    execArgv: ['--max-semi-space-size=64'],
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/setup.ts'],
    // These end what hangs. They are so long because a machine that is busy with something else takes ten times as long.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    projects: [
      ...projects('suite', suite, thorough, {}),
      ...projects('thorough', thorough, [], { globalSetup: ['test/thorough-needs.ts'] }),
    ],
  },
});
