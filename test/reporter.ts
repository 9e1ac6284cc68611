import { readFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';

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

/** Whether the run proves what it should: something ran, and nothing failed or, unless `-t` chose tests, was skipped. */
export function isGood({ passed, failed, skipped }: Totals, isChosen: boolean): boolean {
  return passed > 0 && failed === 0 && (isChosen || skipped === 0);
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
 * Ends the output of a run: why something was skipped, what took longest, the seconds, and the totals as the last line. A
 * file that cannot be loaded and an error outside every test count as one failure each; a test that passes but says
 * `skipped: …`, in its name or on the console, counts as skipped. A run with anything skipped fails, unless `-t` chose tests.
 */
export function createSummary(): Reporter {
  const said = new Set<string>();
  const start = performance.now();
  let isChosen = false;

  function outcomeOf(test: TestCase): keyof Totals {
    const { state } = test.result();
    if (state === 'failed' || state === 'pending') return 'failed';
    return state === 'skipped' || said.has(test.id) || saysSkipped(test.fullName) ? 'skipped' : 'passed';
  }

  return {
    onInit(vitest: Vitest) {
      isChosen = vitest.config.testNamePattern !== undefined;
    },
    onUserConsoleLog({ content, taskId }) {
      if (saysSkipped(content)) said.add(taskId ?? content);
    },
    onTestRunEnd(modules: readonly TestModule[], unhandledErrors) {
      const totals: Totals = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
      const tests = new Set<string>();
      const why = new Map<string, number>();
      const durations: [milliseconds: number, name: string][] = [];
      for (const module of modules) {
        for (const test of module.children.allTests()) {
          tests.add(test.id);
          const outcome = outcomeOf(test);
          totals[outcome]++;
          durations.push([test.diagnostic()?.duration ?? 0, `${module.relativeModuleId}: ${test.name}`]);
          if (outcome !== 'skipped' || isChosen) continue;
          const line = `${module.relativeModuleId}: ${skipReason(test.fullName) ?? 'see its name or what it printed'}`;
          why.set(line, (why.get(line) ?? 0) + 1);
        }
        totals.failed += module.errors().length;
        for (const suite of module.children.allSuites()) totals.failed += suite.errors().length;
      }
      // Said outside a test: by a suite or while a file was loaded.
      totals.skipped += [...said].filter((id) => !tests.has(id)).length;
      if (!isGood(totals, isChosen)) process.exitCode = 1;
      const longest = durations.toSorted(([a], [b]) => b - a).slice(0, 5);
      // When the workers have ended, since their processor time is known then.
      process.once('exit', () => {
        const lines = [
          ...[...why].map(([line, count]) => `skipped: ${line} (${count})`),
          'What took longest:',
          ...longest.map(([milliseconds, name]) => `${seconds(milliseconds / 1000).padStart(8)}  ${name}`),
          `${seconds((performance.now() - start) / 1000)}${processorTime()}`,
          formatTotals(totals),
        ];
        process.stdout.write(`\n${lines.join('\n')}\n`);
      });
    },
  };
}

function seconds(count: number): string {
  return `${count.toFixed(1)} s`;
}

/** Of this process and of all that it started and that ended, from proc(5); empty where the system does not tell. */
function processorTime(): string {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return `, ${seconds(ticks / 100)} of processor time`;
  } catch {
    return '';
  }
}
