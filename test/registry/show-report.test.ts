import { expect, test } from 'vitest';
import { createReport, problemAtFile } from '../../src/model/problem.ts';
import { withoutFindings } from '../../src/registry/gate/show-report.ts';

test('who may not read the ruleset sees neither its findings nor what exemptions say of them', () => {
  const own = problemAtFile('file-missing', 'a.yaml', 'There is no b.yaml.', 'warning');
  const problems = [
    own,
    { ...problemAtFile('operation-summary', 'a.yaml', 'Say what it does.', 'warning'), ofRuleset: true as const },
    problemAtFile('exemption-unused', 'stele.yaml', 'operation-tags: The exemption matches no finding.', 'info'),
    problemAtFile('exemption-expired', 'stele.yaml', 'operation-id: The exemption ended.', 'warning'),
  ];
  expect(withoutFindings(createReport(problems))).toMatchObject({ problems: [own], hidden: 3 });
});
