import type { Problem, Report } from '../model/problem.ts';
import type { Section } from './pages.ts';

/** What is shown of a finding. */
type Shown = Pick<Problem, 'rule' | 'severity' | 'message'> & {
  file?: string;
  pointer?: string | null;
  line?: number | null;
};

const tones = { error: 'bad', warning: 'warn', info: '' } as const;

/** The most findings of one document on a page. */
const maxFindings = 50;

/** Findings as a table. `path`: the file that needs no naming. */
export function findingSection(title: string, problems: readonly Shown[], path = ''): Section {
  const left = problems.length - maxFindings;
  return {
    title,
    ...(left > 0 && { lead: `The first ${maxFindings} of ${problems.length}, errors first.` }),
    ...(problems.length > 0 && {
      columns: ['Severity', 'Rule', 'Where', 'What'],
      rows: problems.slice(0, maxFindings).map(({ rule, severity, message, file, pointer, line }) => ({
        cells: [
          { text: severity, tag: tones[severity] },
          { text: rule, isCode: true },
          { text: pointer ?? '', isCode: true, ...(typeof line === 'number' && { more: placeText(line, file, path) }) },
          { text: message },
        ],
      })),
    }),
  };
}

function placeText(line: number, file: string | undefined, path: string): string {
  return file === undefined || file === path || path === '' ? `line ${line}` : `${file}, line ${line}`;
}

/** The report of a document as a reader may see it. */
export function reportSection(path: string, { problems, hidden = 0 }: Report): Section {
  const section = findingSection(`Findings in ${path}`, problems, path);
  const more = hidden === 0 ? '' : `${hidden} of a private ruleset are not shown.`;
  return { ...section, lead: [section.lead ?? '', more].filter(Boolean).join(' ') };
}
