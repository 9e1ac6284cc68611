import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBranchName } from '../../src/source/git-names.ts';

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
  const drawn = fc.sample(names, 300);
  // One shell for all: it is a small process, which starts others quickly.
  const script = 'for name; do git check-ref-format "refs/heads/$name" && echo valid || echo not; done';
  const said = execFileSync('/bin/sh', ['-c', script, 'sh', ...drawn], { cwd: '/', encoding: 'utf8' }).split('\n');
  // For a branch of its own accord, git forbids a leading dash, too, and HEAD's other name.
  const allowed = drawn.filter((name, at) => said[at] === 'valid' && !name.startsWith('-') && name !== '@');
  expect(allowed.length).toBeGreaterThan(0);
  expect(drawn.filter(isBranchName)).toEqual(allowed);
});

test('names that no command line can hold are none', () => {
  expect(['a\0b', '\ud800', 'x'.repeat(1001), ''].map(isBranchName)).toEqual([false, false, false, false]);
});
