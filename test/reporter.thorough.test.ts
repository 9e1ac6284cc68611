import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

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
  async function runTests(text: string, ...args: string[]): Promise<[string, number | null]> {
    await writeFile(join(folder, 'test', 'a.test.ts'), `import { describe, expect, test } from 'vitest';\n${text}`);
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/vitest.config.ts', ...args],
      { cwd: folder, encoding: 'utf8' },
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

  // A run takes a second: one for all the ways to skip, and one for all the ways to fail.
  const ends: [string, string, string[], string, number][] = [
    ['all is well', passing, [], '1 passed, 0 failed', 0],
    ['some are skipped', skipping, [], '1 passed, 0 failed, 4 skipped', 1],
    ['some were chosen', `${passing} test('b', () => {});`, ['-t', 'a'], '1 passed, 0 failed, 1 skipped', 0],
    ['some fail', failing, [], '1 passed, 3 failed', 1],
    ['all are skipped', `test.skip('b', () => {});`, [], '0 passed, 0 failed, 1 skipped', 1],
    ['a file cannot be loaded', `throw new Error('broken');`, [], '0 passed, 1 failed', 1],
  ];
  test.each(ends)('is printed when %s', async (_, text, args, line, code) => {
    expect(await runTests(text, ...args)).toEqual([line, code]);
  });
});
