import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRounds } from '../../src/scheduling/waiting.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

/** Work that counts its rounds, each of which takes so long. */
function worker(milliseconds: number) {
  const begun: number[] = [];
  const work = async () => {
    begun.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
  };
  return { begun, work };
}

test('rounds follow each other with a pause after the end of each, or sooner when somebody wakes them', async () => {
  const { begun, work } = worker(10);
  const start = performance.now();
  const rounds = openRounds({ first: 100, pause: 1000 }, work, () => undefined);
  await pass(1200);
  rounds.wake(50);
  rounds.wake(500);
  await pass(100);
  expect(begun.map((at) => at - start)).toEqual([100, 1110, 1250]);
  await rounds.close();
});

test('a change while a round runs gets a round of its own', async () => {
  const { begun, work } = worker(1000);
  const start = performance.now();
  const rounds = openRounds({ first: 0, pause: 60_000 }, work, () => undefined);
  await pass(200);
  rounds.wake(300);
  await pass(900);
  rounds.wake(1500);
  await pass(3000);
  expect(begun.map((at) => at - start)).toEqual([0, 1001, 2600]);
  await rounds.close();
});

test('long rounds get no more than their share of the time, however often somebody wakes them', async () => {
  const { begun, work } = worker(1000);
  const start = performance.now();
  const rounds = openRounds({ first: 0, pause: 100, share: 0.1 }, work, () => undefined);
  for (let time = 0; time < 25_000; time += 100) {
    await pass(100);
    rounds.wake(0);
  }
  expect(begun.map((at) => at - start)).toEqual([0, 11_000, 22_000]);
  await rounds.close();
});

test('what fails is told and tried again, but nothing is told after the end', async () => {
  const told: unknown[] = [];
  const work = async (signal: AbortSignal) => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    throw new Error(signal.aborted ? 'left' : 'failed');
  };
  const rounds = openRounds({ first: 0, pause: 100 }, work, (error) => void told.push(String(error)));
  await pass(350);
  expect(told).toEqual(['Error: failed', 'Error: failed']);
  await pass(100);
  const closing = rounds.close();
  await pass(1000);
  await closing;
  expect(told).toEqual(['Error: failed', 'Error: failed']);
  expect(vi.getTimerCount()).toBe(0);
});
