import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Usage, readUsage } from '../../../src/compile/sandbox/process-usage.ts';
import { watchLimits, type Breach } from '../../../src/compile/sandbox/watch-limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = { seconds: 10, memoryMegabytes: 100 };

/** A watch over a process that says what a test lets it use, or, for null, of which the system tells nothing. */
function watched(usage: Usage | null, { seconds = limits.seconds, titleOf = (): string => 'stele' } = {}) {
  const told: Breach[] = [];
  const watch = watchLimits(
    () => 1,
    { ...limits, seconds },
    { exceeded: (breach) => told.push(breach) },
    () => (usage === null ? null : { ...usage }),
    titleOf,
  );
  return { told, watch };
}

test('work that has not used its CPU time goes on, however long a busy machine takes', () => {
  const usage = { processorSeconds: 500, residentBytes: 0 };
  const { told } = watched(usage);
  for (let second = 0; second < 1000; second++) {
    usage.processorSeconds += 0.001;
    vi.advanceTimersByTime(1000);
  }
  expect(told).toEqual([]);
  usage.processorSeconds = 510.5;
  vi.advanceTimersByTime(1000);
  expect(told).toEqual(['processor']);
});

/** A job of so many seconds of CPU time with such a title. */
function work(title: string, processorSeconds: number): Breach[] {
  const usage = { processorSeconds: 0, residentBytes: 0 };
  const { told } = watched(usage, { seconds: 600, titleOf: () => title });
  for (; usage.processorSeconds < processorSeconds; usage.processorSeconds += 0.2) vi.advanceTimersByTime(200);
  return told;
}

test('long calls of rules are ended after a minute of CPU time, and nothing else is', () => {
  expect(work('rule slow', 60)).toEqual([]);
  expect(work('rule slow', 63)).toEqual(['rule']);
  expect(work('rules many', 300)).toEqual([]);
  expect(work('stele', 300)).toEqual([]);
});

test('what a job does between long calls of rules does not count', () => {
  const usage = { processorSeconds: 0, residentBytes: 0 };
  let looks = 0;
  const { told } = watched(usage, { seconds: 600, titleOf: () => (looks++ % 8 === 0 ? 'rule a' : 'stele') });
  for (; usage.processorSeconds < 300; usage.processorSeconds += 0.2) vi.advanceTimersByTime(200);
  expect(told).toEqual([]);
});

test('work that does nothing is reported after ten times its CPU time', () => {
  const { told } = watched({ processorSeconds: 0, residentBytes: 0 });
  vi.advanceTimersByTime(99_000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(told).toEqual(['stalled']);
});

test('what a sandbox waits for others is not its time', () => {
  const { told, watch } = watched({ processorSeconds: 0, residentBytes: 0 });
  vi.advanceTimersByTime(60_000);
  watch.pause();
  vi.advanceTimersByTime(3_600_000);
  watch.resume();
  vi.advanceTimersByTime(39_000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(told).toEqual(['stalled']);
});

test('more memory than allowed is reported at once', () => {
  const usage = { processorSeconds: 0, residentBytes: 0 };
  const { told } = watched(usage);
  usage.residentBytes = 101 * 1024 * 1024;
  vi.advanceTimersByTime(200);
  expect(told).toEqual(['memory']);
});

test('where the system does not say how much CPU time was used, the time that passes counts', () => {
  const { told } = watched(null);
  vi.advanceTimersByTime(9000);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(2000);
  expect(told).toEqual(['processor']);
});

test.runIf(process.platform === 'linux')('the system reports the same of this process as the process itself', () => {
  const before = process.cpuUsage();
  const { processorSeconds, residentBytes } = readUsage(process.pid)!;
  const after = process.cpuUsage();
  expect(processorSeconds).toBeGreaterThan((before.user + before.system) / 1e6 - 0.1);
  expect(processorSeconds).toBeLessThan((after.user + after.system) / 1e6 + 0.1);
  expect(residentBytes).toBeGreaterThan(10 * 1024 * 1024);
});
