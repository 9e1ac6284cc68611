import { describe, expect, test } from 'vitest';
import { compare } from './given.ts';
import { catalogue, checks, left } from './oasdiff.ts';

/** The verdicts that say the same as a level of theirs. */
const alike = { error: ['breaking'], warning: ['unknown', 'risky'], info: ['safe', 'docs', 'none'] };

const compared = checks.map(([name, level, make, before, after, told, why]) => {
  const comparison = compare(make(before as never), make(after as never));
  const found = comparison.changes
    .filter(({ code }) => code !== 'schema-added')
    .map(({ verdict, code }) => `${verdict} ${code}`);
  return { name, found: found.sort().join('; '), told, differs: !alike[level].includes(comparison.verdict), why };
});

describe("oasdiff's catalogue", () => {
  test('each pair of documents has the verdict that the contract rule demands', () => {
    const wrong = compared.filter(({ found, told }) => found !== told);
    expect(wrong.map(({ name, found, told }) => `${name}: ${found} instead of ${told}`)).toEqual([]);
  });

  test('every difference of judgement has a reason', () => {
    const wrong = compared.filter(({ differs, why }) => differs !== (why !== undefined));
    expect(wrong.map(({ name, found }) => `${name}: ${found}`)).toEqual([]);
  });

  test('each check has one row, with a fixture or a reason', () => {
    const names = [...checks.map(([name]) => name), ...left.map(([name]) => name)];
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect([...catalogue.difference(new Set(names))]).toEqual([]);
  });
});
