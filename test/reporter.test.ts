import { expect, test } from 'vitest';
import { formatTotals, isGood, saysSkipped, skipReason } from './reporter.ts';

test('a suite says why it was skipped', () => {
  expect(skipReason('signs in (skipped: there is no Chromium) > a person')).toBe('there is no Chromium');
  expect(skipReason('skipped: the corpus is not there')).toBe('the corpus is not there');
  expect(skipReason('the yanked version is skipped')).toBeNull();
});

test('totals are one line', () => {
  expect(formatTotals({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  expect(formatTotals({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});

test('a run is good when something ran, and nothing failed or was skipped, unless tests were chosen', () => {
  expect(isGood({ passed: 1, failed: 0, skipped: 0 }, false)).toBe(true);
  expect(isGood({ passed: 1, failed: 0, skipped: 1 }, false)).toBe(false);
  expect(isGood({ passed: 1, failed: 0, skipped: 1 }, true)).toBe(true);
  expect(isGood({ passed: 0, failed: 0, skipped: 0 }, true)).toBe(false);
  expect(isGood({ passed: 9, failed: 1, skipped: 0 }, true)).toBe(false);
});

test('only the word with its colon says that something was skipped', () => {
  expect(['skipped: no corpus', 'x\nskipped: y'].map(saysSkipped)).toEqual([true, true]);
  expect(['skipped', 'the yanked version is skipped', 'unskipped: no', 'skipped:'].map(saysSkipped)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
