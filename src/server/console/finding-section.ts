import type { Problem, Report } from '../../model/problem.ts';
import type { Section } from './pages.ts';

/** What is shown of a finding. */
type Shown = Pick<Problem, 'rule' | 'severity' | 'message'> & { pointer?: string | null; line?: number | null };

/** The most findings of one document on a page. */
const mostFindings = 50;

/** Findings as a table. */
export function findingSection(title: string, problems: readonly Shown[]): Section {
  const left = problems.length - mostFindings;
  return {
    title,
    ...(left > 0 && { lead: `The first ${mostFindings} of ${problems.length}, errors first.` }),
    ...(problems.length > 0 && {
      columns: ['Rule', 'Where', 'What'],
      rows: problems.slice(0, mostFindings).map(({ rule, severity, message, pointer, line }) => ({
        cells: [
          { text: rule, isCode: true, more: severity },
          { text: pointer ?? '', isCode: true, ...(line !== undefined && line !== null && { more: `line ${line}` }) },
          { text: message },
        ],
      })),
    }),
  };
}

/** The report of a document as a reader may see it. */
export function reportSection(path: string, { problems, hidden = 0 }: Report): Section {
  const section = findingSection(`Findings in ${path}`, problems);
  const more = hidden === 0 ? '' : `${hidden} of a private ruleset are not shown.`;
  return { ...section, lead: [section.lead ?? '', more].filter(Boolean).join(' ') };
}
