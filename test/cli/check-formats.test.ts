import { expect, test } from 'vitest';
import { codeFrame } from '../../src/site/code-frame.ts';
import { formatDiff, formatLint } from '../../src/cli/check/finding-formats.ts';
import { createReport, type Problem, type Report } from '../../src/model/problem.ts';
import { compare, taking } from '../diff/given.ts';

const text = 'openapi: 3.1.0\ninfo:\n  title: <b>\npaths: {}\n';
const files = [{ path: 'apis/a.yaml', blob: null, bytes: Buffer.from(text) }];

function problem(over: Partial<Problem>): Problem {
  const place = { file: 'apis/a.yaml', pointer: '/info/title', line: 3, column: 10 };
  return { rule: 'title', severity: 'error', message: 'No "<b>" in titles.', ...place, ...over };
}

const report: Report = {
  ...createReport([
    problem({ documentationUrl: 'https://style.acme.example/title' }),
    problem({ rule: 'late', severity: 'warning', line: 99 }),
  ]),
  exempted: [
    { ...problem({ rule: 'contact' }), exemption: { reason: 'None yet', owner: 'ann', at: 'stele.yaml:4:7' } },
  ],
};

test('each problem is shown with its lines, and a mark under its place', () => {
  expect(formatLint(report, 'text', files).split('\n')).toEqual([
    'apis/a.yaml:3:10 error title: No "<b>" in titles.',
    '    2 | info:',
    '  > 3 |   title: <b>',
    '      |          ^',
    '    4 | paths: {}',
    '  https://style.acme.example/title',
    'apis/a.yaml:99:10 warning late: No "<b>" in titles.',
    '1 error, 1 warning, 0 notes, 1 exempted',
  ]);
});

test('a long line is cut around the place, and what it holds cannot act on the terminal', () => {
  const line = `${'a'.repeat(1000)}!${'b'.repeat(1000)}`;
  expect(codeFrame([line], { line: 1, column: 1001 })).toBe(
    [`  > 1 | …${'a'.repeat(34)}!${'b'.repeat(33)}…`, `      | ${' '.repeat(35)}^`].join('\n'),
  );
  const escape = [{ path: 'apis/a.yaml', blob: null, bytes: Buffer.from('\n\n\u001b[2J') }];
  const shown = formatLint(createReport([problem({ column: 1 })]), 'text', escape);
  expect(shown).toContain('> 3 | \\u{1b}[2J');
});

test('SARIF names rules with their documentation, and what an exemption accepts is suppressed', () => {
  const [run] = (JSON.parse(formatLint(report, 'sarif', files)) as { runs: [Sarif] }).runs;
  expect(run.tool.driver.rules).toContainEqual({ id: 'title', helpUri: 'https://style.acme.example/title' });
  expect(run.results.map(({ ruleId, suppressions }) => [ruleId, suppressions?.[0]?.justification])).toEqual([
    ['title', undefined],
    ['late', undefined],
    ['contact', 'None yet (ann, stele.yaml:4:7)'],
  ]);
  expect(run.results[0]!.locations).toEqual([
    {
      physicalLocation: { artifactLocation: { uri: 'apis/a.yaml' }, region: { startLine: 3, startColumn: 10 } },
      logicalLocations: [{ fullyQualifiedName: '/info/title' }],
    },
  ]);
});

interface Sarif {
  tool: { driver: { rules: unknown[] } };
  columnKind: string;
  results: { ruleId: string; suppressions?: { justification: string }[]; locations: unknown }[];
}

test('JUnit: errors fail, warnings pass with their text, and nothing breaks out of the XML', () => {
  expect(formatLint(report, 'junit', files)).toBe(
    [
      '<?xml version="1.0" encoding="UTF-8"?>',
      '<testsuites name="stele" tests="2" failures="1">',
      '  <testsuite name="apis/a.yaml" tests="2" failures="1">',
      '    <testcase classname="apis/a.yaml" name="title 3:10"><failure type="title" message="No &quot;&lt;b&gt;&quot; in titles.">apis/a.yaml:3:10 No &quot;&lt;b&gt;&quot; in titles.</failure></testcase>',
      '    <testcase classname="apis/a.yaml" name="late 99:10"><system-out>warning: apis/a.yaml:99:10 No &quot;&lt;b&gt;&quot; in titles.</system-out></testcase>',
      '  </testsuite>',
      '</testsuites>',
    ].join('\n'),
  );
  const hostile = createReport([problem({ message: '\u0000\ud800]]>\n' })]);
  expect(formatLint(hostile, 'junit', files)).toContain('message="\ufffd\ufffd]]&gt;&#10;"');
  expect(formatLint(createReport([]), 'junit', files)).toContain(
    '<testsuite name="apis/a.yaml" tests="1" failures="0">\n    <testcase classname="apis/a.yaml" name="no findings"/>',
  );
});

test('what is gone is a finding in the new file, also where the old one is a version of a registry', () => {
  const [change] = compare(taking({ type: 'string' }), taking({ type: 'string', maxLength: 5 })).changes;
  const gone = { ...change!, code: 'gone', pointers: { before: '/a/b', after: null }, place: { line: 3, column: 1 } };
  const changed = { ...compare(taking({}), taking({})), verdict: 'breaking' as const, changes: [gone] };
  const names = { before: '@acme/apis/pay', after: 'new.yaml' };
  expect(formatDiff(changed, 'github', names)).toMatch(/^::error file=new\.yaml,line=3,col=1,title=gone::/);
  expect(formatDiff(changed, 'sarif', names)).toContain('"uri": "new.yaml"');
});

test('changes as findings: what breaks is an error, in the file that has it', () => {
  const changed = compare(
    taking({ type: 'string', maxLength: 9 }),
    taking({ type: 'string', maxLength: 5, title: 'T' }),
  );
  const names = { before: 'old.yaml', after: 'new.yaml' };
  expect(formatDiff(changed, 'github', names).split('\n')).toEqual([
    '::error file=new.yaml,title=request-body-max-length-decreased::The request body has maxLength 5 instead of 9. [POST /things]',
    expect.stringMatching(/^::notice file=new\.yaml,title=body-title-/) as string,
  ]);
  expect(formatDiff(changed, 'junit', names)).toContain('failures="1"');
  expect(formatDiff(changed, 'sarif', names)).toContain('"ruleId": "request-body-max-length-decreased"');
});
