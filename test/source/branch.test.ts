import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBranchName } from '../../src/source/branch.ts';

test('git agrees on which names a branch may have', () => {
  const pieces = [
    'a',
    'main',
    '/',
    '.',
    '..',
    '@',
    '{',
    '@{',
    '-',
    '.lock',
    ' ',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
    '\\',
    'ü',
    '\t',
    ')',
  ];
  const names = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(names, (name) => {
      const { status } = spawnSync('git', ['check-ref-format', `refs/heads/${name}`], { cwd: '/' });
      // For a branch of its own accord, git forbids a leading dash, too, and HEAD's other name.
      const isAllowed = status === 0 && !name.startsWith('-') && name !== '@';
      expect(isBranchName(name), JSON.stringify(name)).toBe(isAllowed);
    }),
    { numRuns: 300 },
  );
});

test('names that no command line can hold are none', () => {
  expect(['a\0b', '\ud800', 'x'.repeat(1001), ''].map(isBranchName)).toEqual([false, false, false, false]);
});
