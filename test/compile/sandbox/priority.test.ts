import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';
import { limits } from '../limits.ts';

const hasSessions = existsSync('/proc/self/autogroup');

test.skipIf(!hasSessions)(
  hasSessions
    ? 'the session of a sandbox gives way to the registry, and more beside another job of its organization'
    : 'skipped: this system shares the processor among processes, not sessions',
  async () => {
    const child = startChild(512, await findIsolation('auto'));
    const job = { type: 'ignored', patterns: [], paths: [] } as const;
    const niceBeside = async (isMore: boolean) => {
      await child.run(job, { seconds: limits.seconds, load: async () => [], signal: undefined, isMore });
      return /nice (-?\d+)/.exec(readFileSync(`/proc/${child.pid}/autogroup`, 'utf8'))?.[1];
    };
    // The kernel may refuse changes that follow each other within 100 ms.
    for (const [isMore, nice] of [
      [false, '5'],
      [true, '10'],
      [false, '5'],
    ] as const)
      // prettier-ignore
      await expect.poll(() => niceBeside(isMore), { timeout: 20_000, interval: 150 }).toBe(nice);
    child.kill();
  },
);
