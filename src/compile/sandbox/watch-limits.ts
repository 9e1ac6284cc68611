import type { CompileLimits } from '../compile.ts';
import { isInCall } from '../ruleset/rule-at-work.ts';
import { readTitle, readUsage, type Usage } from './process-usage.ts';

/**
 * The limit that a job exceeded. `rule`: the one for calls of rules that can be neither counted nor
 * interrupted. `stalled`: it neither used CPU time nor ended.
 */
export type Breach = 'processor' | 'rule' | 'memory' | 'stalled';

const lookMilliseconds = 200;
/** A job that does nothing is ended after this many times its CPU time. */
const patience = 10;
/**
 * A job that uses a smaller share of a processor counts as idle. A working one gets more even if
 * everything else has priority.
 */
const smallestPart = 0.0005;
/** Seconds of CPU time of a job before its current rule is read: most jobs have ended by then. */
const firstLook = 1;
/**
 * Seconds of CPU time that a job may spend inside long calls of rules, as far as looks can tell. What is
 * counted there ends in a tenth of it (docs/development.md#limits).
 */
export const ruleSeconds = 60;

/**
 * Watches a process while it starts or does one job, and reports the first limit that it exceeds. The
 * limit of seconds is one of CPU time, so that a busy machine stops nothing that goes on. A process that
 * has hardly used any after ten times as many seconds counts as stalled. On systems that do not report
 * CPU time (macOS, Windows), elapsed time counts instead, and only V8's heap is limited. `pidOf`: the
 * process, which bwrap may report late. `exceeded` is called once, with the first limit that it exceeds; `used` at
 * each look, with the seconds of CPU time that it has used.
 */
export function watchLimits(
  pidOf: () => number | undefined,
  { seconds, memoryMegabytes }: Pick<CompileLimits, 'seconds' | 'memoryMegabytes'>,
  { exceeded, used: note }: { exceeded: (breach: Breach) => void; used?: (seconds: number) => void },
  usageOf: (pid: number) => Usage | null = readUsage,
  titleOf: (pid: number) => string = readTitle,
) {
  const atStart = usageOf(pidOf() ?? 0);
  let before = 0;
  let inRules = 0;
  let passed = 0;
  let since: number | null = performance.now();
  const timer = setInterval(look, lookMilliseconds).unref();

  /** Stops the clock while the sandbox waits for the parent. */
  function pause(): void {
    if (since !== null) passed += performance.now() - since;
    since = null;
  }

  function look(): void {
    const breach = findBreach();
    if (breach === null) return;
    clearInterval(timer);
    exceeded(breach);
  }

  function findBreach(): Breach | null {
    const elapsed = (passed + (since === null ? 0 : performance.now() - since)) / 1000;
    if (atStart === null) return elapsed > seconds ? 'processor' : null;
    const pid = pidOf() ?? 0;
    const usage = usageOf(pid);
    if (usage === null) return null;
    if (usage.residentBytes > memoryMegabytes * 1024 * 1024) return 'memory';
    const used = usage.processorSeconds - atStart.processorSeconds;
    note?.(used);
    if (used > seconds) return 'processor';
    if (used > firstLook && isInCall(titleOf(pid))) inRules += used - before;
    before = used;
    if (inRules > ruleSeconds) return 'rule';
    return elapsed > patience * seconds && used < elapsed * smallestPart ? 'stalled' : null;
  }

  return { pause, resume: () => void (since ??= performance.now()), end: () => clearInterval(timer) };
}
