import { expect, test } from 'vitest';
import { createReport, type Problem } from '../../../src/model/problem.ts';
import { commitLinks } from '../../../src/site/pages/describe-version.ts';
import { describeReport } from '../../../src/site/pages/version-pages.ts';

interface Described {
  summary: string;
  total: number;
  groups: {
    rule: string;
    severity: string;
    href: string | null;
    count: number;
    first: { place: string; href: string | null }[];
    folded: object[];
  }[];
}

function found(rule: string, severity: Problem['severity'], count: number): Problem[] {
  return Array.from({ length: count }, (_, index) => ({
    rule,
    severity,
    message: 'No.',
    file: 'a.yaml',
    pointer: '/x',
    line: index + 1,
    column: 1,
  }));
}

test('a report is grouped by rule, the worst first, and folds beyond fifty', () => {
  const report = createReport([
    ...found('summary', 'warning', 60),
    ...found('struct', 'error', 1),
    ...found('hint', 'info', 5),
  ]);
  const { summary, total, groups } = describeReport(report, null) as Described;
  expect({ summary, total }).toEqual({ summary: '1 error, 60 warnings, 5 notes', total: 66 });
  expect(groups.map(({ rule, count, first, folded }) => [rule, count, first.length, folded.length])).toEqual([
    ['struct', 1, 1, 0],
    ['summary', 60, 49, 11],
    ['hint', 5, 0, 5],
  ]);
});

test('each place leads to its line where the host shows it', () => {
  const pages = commitLinks('https://github.com/acme/apis', '0123456789abcdef0123456789abcdef01234567');
  const { groups } = describeReport(createReport(found('struct', 'error', 1)), pages) as Described;
  expect(groups[0]!.first[0]).toMatchObject({
    place: 'a.yaml:1:1',
    href: 'https://github.com/acme/apis/blob/0123456789abcdef0123456789abcdef01234567/a.yaml#L1',
  });
});

test('nothing found is said', () => {
  expect(describeReport(createReport([]), null)).toMatchObject({ summary: 'nothing found', total: 0, groups: [] });
});

test('a rule links to its documentation, where that is a safe URL with https', () => {
  const linked = (documentationUrl: string) => {
    const report = createReport([{ ...found('summary', 'error', 1)[0]!, documentationUrl }]);
    return (describeReport(report, null) as Described).groups[0]!.href;
  };
  expect(linked('https://style.acme.example/summary#why')).toBe('https://style.acme.example/summary#why');
  for (const url of ['http://acme.example/', 'javascript:alert(1)', 'https://a:b@acme.example/', '/x', ''])
    expect(linked(url)).toBeNull();
});
