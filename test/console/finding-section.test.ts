import { expect, test } from 'vitest';
import { reportSection } from '../../src/console/run-view.ts';
import { createReport, problemAtFile } from '../../src/model/problem.ts';

test('a finding in another file names it, and its severity is a tag', () => {
  const report = createReport([
    problemAtFile('exemption-unused', 'stele.yaml', 'Unused.', 'info'),
    problemAtFile('operation-summary', 'pay.yaml', 'No summary.'),
  ]);
  expect(reportSection('pay.yaml', report).rows?.map(({ cells }) => cells)).toMatchObject([
    [{ text: 'error', tag: 'bad' }, { text: 'operation-summary' }, { text: 'No summary.' }, { more: 'line 1' }],
    [{ text: 'info', tag: '' }, { text: 'exemption-unused' }, { text: 'Unused.' }, { more: 'stele.yaml, line 1' }],
  ]);
});
