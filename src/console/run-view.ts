import { type Problem, type Report, countText } from '../model/problem.ts';
import { type Cell, type Page, type Section, facts, momentCell, stateCell, timeCell, type View } from './pages.ts';
import { parseCoordinate } from '../model/address.ts';
import type { Trigger } from '../model/connection.ts';
import { commitLinks } from '../site/pages/describe-version.ts';
import { countOutcomes, countState, shownState } from '../model/states.ts';
import { approvalLinks } from './approvals.ts';
import { type Answered, here, may, perform, type ConsoleRequest } from './console-request.ts';

type Shown = Pick<Problem, 'rule' | 'severity' | 'message'> & {
  file?: string;
  pointer?: string | null;
  line?: number | null;
};

const tones = { error: 'bad', warning: 'warn', info: '' } as const;

const maxRows = 50;
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
      columns: ['Severity', 'Rule', 'What', 'Where'],
      rows: groups.slice(0, maxRows).map((group) => {
        const { rule, severity, message } = group[0]!;
        return {
          cells: [
            { text: severity, tag: tones[severity] },
            { text: rule, isCode: true },
            { text: message },
            whereCell(group, path, link),
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
export function reportSection(path: string, { problems, hidden = 0 }: ShownReport, link?: FileLink): Section {
  const section = findingSection(`Findings in ${path}`, problems, path, link);
  const more = hidden === 0 ? '' : `${hidden} of a private ruleset are not shown.`;
  return { ...section, lead: [section.lead ?? '', more].filter(Boolean).join(' ') };
}

type ShownReport = Pick<Report, 'problems' | 'hidden'>;

type RepositoryRun = Answered<'getRepositorySync'>;
type Read = Omit<RepositoryRun['documents'][number], 'resource' | 'report'> & {
  resource?: string | null;
  report?: ShownReport | null;
};

/** A run of a resource, or of a repository. */
export type RunRecord = Omit<RepositoryRun, 'documents'> & { documents: Read[] };

/** Runs that read the repository of what has its page at `parent`. */
export function runSection(
  request: ConsoleRequest,
  title: string,
  parent: string,
  runs: readonly RunRecord[],
): Section {
  return {
    title,
    columns: ['Started', 'State', 'Because of', 'Documents'],
    rows: runs.map(({ id, startedAt, state, trigger, documents, detail }) => ({
      cells: [
        { ...momentCell(startedAt), href: here(request, `${parent}/runs/:run`, { run: id }) },
        runState(state, documents, detail),
        { text: becauseOf[trigger] },
        { text: String(documents.length) },
      ],
    })),
    empty: 'No runs yet.',
  };
}

const maxReports = 20;

const becauseOf = {
  start: 'the registry started',
  timer: 'the time had come',
  watch: 'a change in the folder',
  manual: 'somebody asked',
  hook: 'a push',
  resume: 'an interrupted sync',
  import: 'an import of history',
} as const satisfies Record<Trigger, string>;

/** What a sync did not publish, though it went through: `2 of 5 documents rejected, 1 waits for approval`. Null: nothing. */
function describeLeft(documents: RunRecord['documents']): string | null {
  const { waiting, rejected } = countOutcomes(documents);
  const all = countText(documents.length, 'document');
  const held = waiting > 0 ? [countState(waiting, 'waiting')] : [];
  if (rejected > 0) return [`${rejected} of ${all} rejected`, ...held].join(', ');
  return waiting === 0 ? null : countState(`${waiting} of ${all}`, 'waiting');
}

/** The state of a run: what it left unpublished, or how it ended. */
function runState(state: string, documents: RunRecord['documents'], detail: string | null): Cell {
  const { waiting, rejected } = countOutcomes(documents);
  const { tone } = shownState(rejected > 0 ? 'rejected' : waiting > 0 ? 'waiting' : state);
  return { ...stateCell(state, detail), text: describeLeft(documents) ?? shownState(state).text, tag: tone };
}

/** The page of a run, below that of a resource or a repository, with what it did to that. */
export function runPageBelow(parent: string, operation: 'get{one}Sync' | 'getRepositorySync'): Page {
  return {
    path: `${parent}/runs/:run`,
    show: async (request) => runView(request, parent, (await perform(request, operation)).body),
  };
}

/** What a run did. While it runs, the page looks again each second. */
async function runView(request: ConsoleRequest, parent: string, run: RunRecord): Promise<View> {
  const { state, trigger, repository, startedAt, finishedAt, progress, detail, documents } = run;
  const isOpen = state === 'queued' || state === 'running';
  const pages = commitLinks(repository, run.to ?? null);
  const left = describeLeft(documents);
  const { waiting, rejected } = countOutcomes(documents);
  const approvals = await approvalLinks(request);
  return {
    title: isOpen ? 'A sync is running' : (left ?? `Sync ${state}`),
    eyebrow: repository,
    lead:
      detail ??
      [
        'One reading of the repository.',
        ...(rejected > 0 ? ['What is rejected is published once its file is corrected and pushed.'] : []),
        ...(waiting > 0 ? ['What waits is published once somebody approves it.'] : []),
      ].join(' '),
    ...(isOpen && { reload: 1 }),
    actions: [
      ...(state === 'failed' && may(request, 'publish')
        ? [{ text: 'Try again', href: here(request, `${parent}/sync`), isMain: true, post: true }]
        : []),
      { text: 'Back', href: here(request, parent) },
    ],
    sections: [
      {
        title: 'Progress',
        facts: facts([
          ['Started', timeCell(startedAt)],
          ['Ended', finishedAt === null ? null : timeCell(finishedAt)],
          ['Because of', becauseOf[trigger]],
          ['Read', progress === null ? null : `${progress.done} of ${progress.total} documents`],
        ]),
      },
      {
        title: 'Documents',
        columns: ['File', 'Outcome', 'Version'],
        rows: documents.map((document) => ({
          cells: [
            fileCell(request, document),
            outcomeCell(document, approvals),
            { text: document.version ?? '', isCode: true },
          ],
        })),
        empty: isOpen ? 'None was read yet.' : 'It read no document: nothing changed since the run before.',
      },
      ...documents
        .flatMap(({ path, outcome, report }) => (outcome === 'rejected' && report ? [{ path, report }] : []))
        .slice(0, maxReports)
        .map(({ path, report }) => reportSection(path, report, pages?.file)),
    ],
  };
}

function fileCell(request: ConsoleRequest, { path, resource = null }: RunRecord['documents'][number]): Cell {
  const { type, slug } = (resource === null ? null : parseCoordinate(resource)?.coordinate) ?? {};
  if (type === undefined || slug === undefined) return { text: path, isCode: true };
  return { text: path, isCode: true, href: here(request, '/:type/:slug', { type, slug }), more: resource! };
}

/** What became of a document; where it waits, with a link to its approval. */
function outcomeCell(
  { outcome, detail, resource = null }: Pick<Read, 'outcome' | 'detail' | 'resource'>,
  approvals: ReadonlyMap<string, string>,
): Cell {
  const href = outcome === 'waiting' ? approvals.get(resource ?? '') : undefined;
  return href === undefined ? stateCell(outcome, detail) : { ...stateCell(outcome), href };
}
