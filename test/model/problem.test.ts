import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReport, formatProblem, isBlocking, problemAtFile, type Problem } from '../../src/model/problem.ts';

const problems: fc.Arbitrary<Problem> = fc.record({
  rule: fc.constantFrom('schema', 'struct', 'yaml-syntax'),
  severity: fc.constantFrom('error', 'warning', 'info'),
  message: fc.constantFrom('a', 'b', 'Ä'),
  file: fc.constantFrom('a.yaml', 'b.yaml', 'B.yaml'),
  pointer: fc.constantFrom('', '/a', '/b'),
  line: fc.integer({ min: 1, max: 3 }),
  column: fc.integer({ min: 1, max: 3 }),
});

describe('a report', () => {
  test('does not depend on the order in which things were found', () => {
    fc.assert(
      fc.property(
        fc
          .array(problems, { maxLength: 40 })
          .chain((some) => fc.tuple(fc.constant(some), fc.shuffledSubarray(some, { minLength: some.length }))),
        ([some, shuffled]) => {
          expect(createReport(shuffled)).toEqual(createReport(some));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('has the worst first, then the order of the files and their lines', () => {
    fc.assert(
      fc.property(fc.array(problems, { maxLength: 40 }), (some) => {
        const keys = createReport(some).problems.map(
          ({ severity, file, line, column }) =>
            `${['error', 'warning', 'info'].indexOf(severity)} ${file} ${line} ${column}`,
        );
        expect(keys).toEqual([...keys].sort());
      }),
    );
  });

  test('says each thing once, and never hides an error behind a warning', () => {
    const warning = problemAtFile('schema', 'a.yaml', 'wrong', 'warning');
    const error = problemAtFile('schema', 'a.yaml', 'wrong');
    for (const some of [
      [warning, error],
      [error, warning, error, warning],
    ]) {
      expect(createReport(some)).toEqual({
        problems: [error],
        counts: { error: 1, warning: 0, info: 0 },
        truncated: false,
      });
    }
    fc.assert(
      fc.property(fc.array(problems), (some) => {
        expect(isBlocking(createReport(some))).toBe(some.some(({ severity }) => severity === 'error'));
      }),
    );
  });

  test('keeps 1,000 problems, the worst of them, and counts all', () => {
    const some = Array.from({ length: 1500 }, (_, index) =>
      problemAtFile('schema', 'a.yaml', `problem ${index}`, index === 1499 ? 'error' : 'info'),
    );
    const report = createReport(some);
    expect(report.problems).toHaveLength(1000);
    expect(report.problems[0]).toMatchObject({ severity: 'error', message: 'problem 1499' });
    expect(report.counts).toEqual({ error: 1, warning: 0, info: 1499 });
    expect(report.truncated).toBe(true);
    expect(createReport(some.slice(0, 1000)).truncated).toBe(false);
  });

  test('of nothing blocks nothing', () => {
    expect(createReport([])).toEqual({ problems: [], counts: { error: 0, warning: 0, info: 0 }, truncated: false });
    expect(isBlocking(createReport([problemAtFile('a', 'b', 'c', 'warning')]))).toBe(false);
  });

  test('leaves what it was given as it was', () => {
    const given = Object.freeze([problemAtFile('b', 'b', 'b'), problemAtFile('a', 'a', 'a')]);
    createReport(given);
    expect(given.map(({ rule }) => rule)).toEqual(['b', 'a']);
  });
});

test('a problem is one line that an editor can follow', () => {
  expect(formatProblem({ ...problemAtFile('schema', 'apis/a.yaml', 'Wrong.'), line: 7, column: 3 })).toBe(
    'apis/a.yaml:7:3 error schema: Wrong.',
  );
});
