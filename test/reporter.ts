import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** What a run of the tests came to. */
export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

/** The one line that a person or a CI reads: `12 passed, 0 failed`, with `, 1 skipped` where some were. */
export function formatTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** Whether the run proves what it should: something ran and nothing failed; when strict, nothing was skipped either. */
export function isGood({ passed, failed, skipped }: Totals, strict: boolean): boolean {
  return passed > 0 && failed === 0 && (!strict || skipped === 0);
}

/** Whether a test or what it printed says that it did not do its work, though it passed. */
export function saysSkipped(text: string): boolean {
  return /\bskipped: /.test(text);
}

/** Why a suite did not do its work, as its name says after `skipped: `; null when it does not say. */
export function skipReason(text: string): string | null {
  return /\bskipped: ([^)\n]+)/.exec(text)?.[1] ?? null;
}

/**
 * Prints the totals as the run's last line. Before it stands a line for each file and reason that something was skipped for. A file that cannot be loaded and an error outside every test count as one failure
 * each; a test that passes but says `skipped: …`, in its name or on the console, counts as skipped. When strict, as in CI, a run
 * with anything skipped fails.
 */
export function createSummary({ strict }: { strict: boolean }): Reporter {
  const said = new Set<string>();

  function outcomeOf(test: TestCase): keyof Totals {
    const { state } = test.result();
    if (state === 'failed' || state === 'pending') return 'failed';
    return state === 'skipped' || said.has(test.id) || saysSkipped(test.fullName) ? 'skipped' : 'passed';
  }

  return {
    onUserConsoleLog({ content, taskId }) {
      if (saysSkipped(content)) said.add(taskId ?? content);
    },
    onTestRunEnd(modules: readonly TestModule[], unhandledErrors) {
      const totals: Totals = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
      const tests = new Set<string>();
      const why = new Map<string, number>();
      for (const module of modules) {
        for (const test of module.children.allTests()) {
          tests.add(test.id);
          const outcome = outcomeOf(test);
          totals[outcome]++;
          if (outcome !== 'skipped') continue;
          const line = `${module.relativeModuleId}: ${skipReason(test.fullName) ?? 'see its name or what it printed'}`;
          why.set(line, (why.get(line) ?? 0) + 1);
        }
        totals.failed += module.errors().length;
        for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
      }
      // Said outside a test: by a suite or while a file was loaded.
      totals.skipped += [...said].filter((id) => !tests.has(id)).length;
      if (!isGood(totals, strict)) process.exitCode = 1;
      for (const [line, count] of why) process.stdout.write(`\nskipped: ${line} (${count})`);
      process.stdout.write(`\n${formatTotals(totals)}\n`);
    },
  };
}
