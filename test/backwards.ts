import { TestRunner, type RunnerTestFile, type RunnerTestSuite } from 'vitest';

/**
 * Runs the tests of each file from the last to the first, but those that go on from each other (`shuffle: false`). A test that
 * needs what one before it left fails at once, where a shuffled run needs luck. `node scripts/backwards.ts` uses it.
 */
// oxlint-disable-next-line import/no-default-export -- Vitest takes it so
export default class Backwards extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    files.forEach(turn);
  }
}

function turn(suite: RunnerTestSuite): void {
  if (suite.shuffle === false) return;
  suite.tasks.reverse();
  for (const task of suite.tasks) if (task.type === 'suite') turn(task);
}
