import { describe, expect, test } from 'vitest';
import { compare } from './given.ts';
import { checks, left } from './oasdiff.ts';

/** The verdicts that say the same as a level of theirs. */
const alike = { error: ['breaking'], warning: ['unknown', 'risky'], info: ['safe', 'docs', 'none'] };

describe("oasdiff's catalogue", () => {
  test.each(checks.map((check) => [check[0], check] as const))('%s', (_name, [, , make, before, after, told]) => {
    const { changes } = compare(make(before as never), make(after as never));
    const found = changes
      .filter(({ code }) => code !== 'schema-added')
      .map(({ verdict, code }) => `${verdict} ${code}`);
    expect(found.sort().join('; ')).toBe(told);
  });

  test('every difference of judgement has a reason', () => {
    const differing = checks.filter(([, level, make, before, after]) => {
      const { verdict } = compare(make(before as never), make(after as never));
      return !alike[level].includes(verdict);
    });
    expect(differing.filter((check) => check[6] === undefined).map(([name]) => name)).toEqual([]);
    expect(
      checks.filter((check) => check[6] !== undefined && !differing.includes(check)).map(([name]) => name),
    ).toEqual([]);
  });

  test('each check has one row', () => {
    const names = [...checks.map(([name]) => name), ...left.map(([name]) => name)];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(checks.length).toBeGreaterThan(250);
  });
});
