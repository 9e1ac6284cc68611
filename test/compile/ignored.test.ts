import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findIgnored } from '../../src/compile/ignored.ts';
import { createBudget } from '../../src/compile/ruleset/spectral/pattern.ts';

const paths = [
  'a.yaml',
  'internal/a.yaml',
  'apis/internal/a.yaml',
  'examples/a.yaml',
  'examples/reference/a.yaml',
  'examples/reference/old/a.yaml',
  'x.draft.yaml',
  'apis/x.draft.yaml',
  '#a.yaml',
  '!a.yaml',
  'v1/a.yaml',
  'v2/a.yaml',
  'a b/a.yaml',
  '[a]/a.yaml',
  'd/e/f/a.yaml',
];

test.each([
  ['internal/'],
  ['/internal/'],
  ['*.draft.yaml', '!apis/*.draft.yaml'],
  ['examples/', '!examples/', 'examples/*', '!examples/reference/', 'old/'],
  ['examples/', '!examples/reference/a.yaml'],
  ['# a comment', '', '\\#a.yaml', '\\!a.yaml', 'a b/'],
  ['v[0-9]/', '!v2/'],
  ['\\[a\\]/', 'd/**/a.yaml', '**/f'],
  ['*', '!*/', '!a.yaml'],
  ['[', '[z-a]', '\\'],
])('patterns exclude what git excludes by them: %j %j %j', (...patterns) => {
  const folder = mkdtempSync(join(tmpdir(), 'stele-ignored-'));
  try {
    execFileSync('git', ['init', '--quiet', folder]);
    writeFileSync(join(folder, '.gitignore'), `${patterns.join('\n')}\n`);
    const input = `${paths.join('\0')}\0`;
    const options = { cwd: folder, input, encoding: 'utf8' } as const;
    // It shows the pattern that decides for each path, also one that takes it back.
    const args = ['check-ignore', '--no-index', '--stdin', '-z', '--verbose', '--non-matching'];
    let output = '';
    try {
      output = execFileSync('git', args, options);
    } catch (error) {
      output = (error as { stdout: string }).stdout;
    }
    const cells = output.split('\0');
    const expected = paths.map((path, at) => {
      const [, line, pattern, about] = cells.slice(at * 4);
      expect(about).toBe(path);
      return line === '' || pattern!.startsWith('!') ? -1 : Number(line) - 1;
    });
    expect(findIgnored(patterns, paths)).toEqual(expected);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a pattern with many stars takes no longer for them, and too much work is counted', () => {
  const path = `x/${'a/'.repeat(300)}c`;
  const hostile = [`x/${'**/a*/'.repeat(8)}**/b`, `${'*a'.repeat(50)}*b`];
  expect(findIgnored(hostile, [path], createBudget(1_000_000))).toEqual([-1]);
  expect(findIgnored(hostile, [path], createBudget(10_000))).toBeNull();
});

test('sets in brackets are those of git, and case does not matter', () => {
  const matched = (pattern: string, ...names: string[]) =>
    names.filter((name) => findIgnored([pattern], [name])?.[0] === 0);
  expect(matched('[[:alpha:]_]*', 'a', '_b', '1', 'Z')).toEqual(['a', '_b', 'Z']);
  expect(matched('[]a-]', ']', 'a', '-', 'b')).toEqual([']', 'a', '-']);
  expect(matched('[!A-C]x', 'ax', 'Dx', 'dX')).toEqual(['Dx', 'dX']);
  expect(matched('[\\]a-', ']a-')).toEqual([]);
  expect(matched('a\\  ', 'a ', 'a')).toEqual(['a ']);
});
