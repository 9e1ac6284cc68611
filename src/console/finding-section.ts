import type { Problem, Report } from '../model/problem.ts';
import type { Cell, Section } from './pages.ts';

/** What is shown of a finding. */
type Shown = Pick<Problem, 'rule' | 'severity' | 'message'> & {
  file?: string;
  pointer?: string | null;
  line?: number | null;
};

const tones = { error: 'bad', warning: 'warn', info: '' } as const;

/** The most rows of one document on a page. */
const maxRows = 50;
/** The most places of one finding that are named. */
const maxPlaces = 5;

/** Where a file is shown at its host. */
type FileLink = (file: string, line: number) => string;

/** Findings as a table. Those that say the same are one row. `path`: the file that needs no naming. */
export function findingSection(title: string, problems: readonly Shown[], path = '', link?: FileLink): Section {
  const groups = [...Map.groupBy(problems, ({ rule, message }) => `${rule}\n${message}`).values()];
  const left = groups.length - maxRows;
  return {
    title,
    ...(left > 0 && { lead: `The first ${maxRows} of ${groups.length}, errors first.` }),
    ...(groups.length > 0 && {
      columns: ['Severity', 'Rule', 'Where', 'What'],
      rows: groups.slice(0, maxRows).map((group) => {
        const { rule, severity, message } = group[0]!;
        return {
          cells: [
            { text: severity, tag: tones[severity] },
            { text: rule, isCode: true },
            whereCell(group, path, link),
            { text: message },
          ],
        };
      }),
    }),
  };
}

/** Where a finding is: the first place in full, the lines of the others. */
function whereCell(group: readonly Shown[], path: string, link: FileLink | undefined): Cell {
  const { pointer, file = path, line } = group[0]!;
  const lines = group.flatMap((each) => (typeof each.line === 'number' ? placeText(each.line, each.file, path) : []));
  const left = group.length - maxPlaces;
  const named = lines.slice(0, maxPlaces).join('; ');
  const href = link !== undefined && typeof line === 'number' && file !== '' ? link(file, line) : null;
  const more = left > 0 ? `${named}, and ${left} more` : named;
  return { text: pointer ?? '', isCode: true, ...(href !== null && { href }), ...(more !== '' && { more }) };
}

function placeText(line: number, file: string | undefined, path: string): string {
  return file === undefined || file === path || path === '' ? `line ${line}` : `${file}, line ${line}`;
}

/** The report of a document as a reader may see it. */
export function reportSection(path: string, { problems, hidden = 0 }: Report, link?: FileLink): Section {
  const section = findingSection(`Findings in ${path}`, problems, path, link);
  const more = hidden === 0 ? '' : `${hidden} of a private ruleset are not shown.`;
  return { ...section, lead: [section.lead ?? '', more].filter(Boolean).join(' ') };
}
