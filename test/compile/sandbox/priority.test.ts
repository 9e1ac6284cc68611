import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { startChild, type Job } from '../../../src/compile/sandbox/child.ts';
import { findIsolation } from '../../../src/compile/sandbox/isolation.ts';
import { giveWay } from '../../../src/compile/sandbox/process-usage.ts';
import { usualRules } from '../../../src/model/comparison.ts';
import { limits } from '../limits.ts';

vi.mock('../../../src/compile/sandbox/process-usage.ts', { spy: true });

const short: Job = { type: 'ignored', patterns: [], paths: [] };
const published = { kind: 'openapi', json: Buffer.alloc(200_000, ' ') } as const;
const long: Job = { type: 'compare', before: published, after: published, limits, rules: usualRules };
const page: Job = { type: 'render', document: published };

test('a sandbox gives way to the registry, more beside another job of its organization, most with a large document but for its page', async () => {
  vi.mocked(giveWay).mockReturnValue(true);
  const child = startChild(512, await findIsolation('auto'));
  const said: (string | undefined)[] = [];
  for (const [job, isMore] of [
    [short, false],
    [short, true],
    [short, false],
    [long, false],
    [page, false],
  ] as const) {
    await child.run(job, { seconds: limits.seconds, load: async () => [], signal: undefined, isMore });
    said.push(vi.mocked(giveWay).mock.lastCall?.[1]);
  }
  child.kill();
  vi.mocked(giveWay).mockReset();
  expect(said).toEqual(['first', 'more', 'first', 'long', 'first']);
});

/** Where the processor is shared among processes and not sessions, there is nothing to change. */
const hasSessions = existsSync('/proc/self/autogroup');

test('the session of a process has the priority that it gets', async () => {
  const { pid } = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  try {
    for (const [to, nice] of [
      ['first', 5],
      ['long', 15],
      ['more', 10],
      ['first', 5],
    ] as const) {
      // The kernel refuses changes that follow each other within 100 ms.
      await expect.poll(() => giveWay(pid, to)).toBe(hasSessions);
      if (hasSessions) expect(readFileSync(`/proc/${pid}/autogroup`, 'utf8')).toContain(` nice ${nice}`);
    }
  } finally {
    process.kill(pid!);
  }
});
