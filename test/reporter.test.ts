import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatTotals, isGood, saysSkipped, skipReason } from './reporter.ts';
import { sampleOf } from './thorough.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

describe('the end of a test run', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stele-reporter-'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const name of ['setup.ts', 'free-memory.ts', 'reporter.ts', 'longest-first.ts', 'vitest.config.ts']) {
      await cp(join(root, 'test', name), join(folder, 'test', name));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs a file of tests as the project's own tests are run: its last line and exit code. */
  async function runTests(text: string, ci: boolean): Promise<[string, number | null]> {
    await writeFile(join(folder, 'test', 'a.test.ts'), `import { describe, expect, test } from 'vitest';\n${text}`);
    const { CI: _, ...environment } = process.env;
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts'],
      { cwd: folder, encoding: 'utf8', env: ci ? { ...environment, CI: 'true' } : environment },
    );
    return [stdout.trimEnd().split('\n').at(-1)!, status];
  }

  const passing = `test('a', () => expect(1).toBe(1));`;
  const skipping = `${passing}
    test.skip('b', () => {});
    test('c', () => { console.log('skipped: no corpus'); });
    test('skipped: d', () => {});
    console.log('skipped: all');`;
  const failing = `${passing}
    test('b', () => expect(1).toBe(2));
    test('it reaches out', () => fetch('http://192.0.2.1/'));
    setTimeout(() => { throw new Error('late'); });`;

  // A run takes a second: one for all the ways to skip, and one for all the ways to fail. `npm test` does every third.
  const ends: [string, string, boolean, string, number][] = [
    ['all is well', passing, true, '1 passed, 0 failed', 0],
    ['some are skipped', skipping, false, '1 passed, 0 failed, 4 skipped', 0],
    ['some are skipped in CI', skipping, true, '1 passed, 0 failed, 4 skipped', 1],
    ['some fail', failing, false, '1 passed, 3 failed', 1],
    ['all are skipped', `test.skip('b', () => {});`, false, '0 passed, 0 failed, 1 skipped', 1],
    ['a file cannot be loaded', `throw new Error('broken');`, false, '0 passed, 1 failed', 1],
  ];
  test.each(sampleOf(ends, 3))('is printed when %s', async (_, text, ci, line, code) => {
    expect(await runTests(text, ci)).toEqual([line, code]);
  });
});

test('a suite says why it was skipped', () => {
  expect(skipReason('signs in (skipped: there is no Chromium) > a person')).toBe('there is no Chromium');
  expect(skipReason('skipped: the corpus is not there')).toBe('the corpus is not there');
  expect(skipReason('the yanked version is skipped')).toBeNull();
});

test('totals are one line', () => {
  expect(formatTotals({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
  expect(formatTotals({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});

test('a run is good when something ran and nothing failed', () => {
  expect(isGood({ passed: 1, failed: 0, skipped: 0 }, true)).toBe(true);
  expect(isGood({ passed: 1, failed: 0, skipped: 1 }, false)).toBe(true);
  expect(isGood({ passed: 1, failed: 0, skipped: 1 }, true)).toBe(false);
  expect(isGood({ passed: 0, failed: 0, skipped: 0 }, false)).toBe(false);
  expect(isGood({ passed: 9, failed: 1, skipped: 0 }, false)).toBe(false);
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
