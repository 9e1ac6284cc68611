import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';
import type { Job } from '../../../src/compile/sandbox/sandbox-jobs.ts';
import { usualRules } from '../../../src/model/comparison.ts';
import { limits } from '../limits.ts';

const hasSessions = existsSync('/proc/self/autogroup');

test.skipIf(!hasSessions)(
  hasSessions
    ? 'the session of a sandbox gives way to the registry, more beside another job of its organization, most with a large document but for its page'
    : 'skipped: this system shares the processor among processes, not sessions',
  async () => {
    const child = startChild(512, await findIsolation('auto'));
    const short: Job = { type: 'ignored', patterns: [], paths: [] };
    const published = { type: 'apis', kind: 'openapi', json: Buffer.alloc(200_000, ' ') } as const;
    const long: Job = {
      type: 'compare',
      before: published,
      after: published,
      limits,
      rules: usualRules,
    };
    const page: Job = { type: 'render', document: published, limits };
    const niceBeside = async (job: Job, isMore: boolean) => {
      await child.run(job, { seconds: limits.seconds, load: async () => [], signal: undefined, isMore });
      return /nice (-?\d+)/.exec(readFileSync(`/proc/${child.pid}/autogroup`, 'utf8'))?.[1];
    };
    // The kernel may refuse changes that follow each other within 100 ms.
    for (const [job, isMore, nice] of [
      [short, false, '5'],
      [short, true, '10'],
      [short, false, '5'],
      [long, false, '15'],
      [page, false, '5'],
    ] as const)
      // prettier-ignore
      await expect.poll(() => niceBeside(job, isMore), { interval: 150, timeout: 20_000 }).toBe(nice);
    child.kill();
  },
);
