import { parseCoordinate } from '../model/address.ts';
import { countText, type Report } from '../model/problem.ts';
import { reportSection } from './finding-section.ts';
import type { Trigger } from '../model/connection.ts';
import { commitLinks } from '../site/pages/describe-version.ts';
import { facts, momentCell, stateCell, timeCell, type Cell, type Section, type View } from './pages.ts';
import { countOutcomes, countState, shownState, type Outcome } from '../model/states.ts';
import { approvalLinks } from './approvals.ts';
import { here, may, type ConsoleRequest } from './console-request.ts';

/** A run, as the management API describes it: of a resource, or of a repository. */
export interface RunRecord {
  id: string;
  state: string;
  trigger: Trigger;
  repository: string;
  /** The commit that it read; null until it is known. */
  to?: string | null;
  startedAt: string;
  finishedAt: string | null;
  progress: { done: number; total: number } | null;
  detail: string | null;
  documents: {
    path: string;
    resource?: string | null;
    outcome: Outcome;
    version: string | null;
    detail: string | null;
    report?: Report | null;
  }[];
}

export function runTable(runs: readonly RunRecord[], hrefOf: (id: string) => string): Omit<Section, 'title'> {
  return {
    columns: ['Started', 'State', 'Because of', 'Documents'],
    rows: runs.map(({ id, startedAt, state, trigger, documents, detail }) => ({
      cells: [
        { ...momentCell(startedAt), href: hrefOf(id) },
        runState(state, documents, detail),
        { text: becauseOf[trigger] },
        { text: String(documents.length) },
      ],
    })),
    empty: 'No runs yet.',
  };
}

/** The most rejected documents whose findings are shown. */
const maxReports = 20;

type Read = RunRecord['documents'][number];

function hasReport(document: Read): document is Read & { report: Report } {
  return document.outcome === 'rejected' && (document.report ?? null) !== null;
}

/** Why a sync ran, for people. */
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

/** The page of a run. While it runs, the page follows `events`, or reloads without a script. */
export async function runView(
  request: ConsoleRequest,
  run: RunRecord,
  events: string,
  back: string,
  again: string,
): Promise<View> {
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
    ...(isOpen && { reload: 2, events }),
    actions: [
      ...(state === 'failed' && may(request, 'publish')
        ? [{ text: 'Try again', href: again, isMain: true, post: true }]
        : []),
      { text: 'Back', href: back },
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
        .filter(hasReport)
        .slice(0, maxReports)
        .map(({ path, report }) => reportSection(path, report, pages?.file)),
    ],
  };
}

/** The file, with a link to what it became. */
function fileCell(request: ConsoleRequest, { path, resource = null }: RunRecord['documents'][number]): Cell {
  const { type, slug } = (resource === null ? null : parseCoordinate(resource)?.coordinate) ?? {};
  if (type === undefined || slug === undefined) return { text: path, isCode: true };
  return {
    text: path,
    isCode: true,
    href: here({ ...request, params: { type, slug } }, '/:type/:slug'),
    more: resource!,
  };
}

/** What became of a document; where it waits, with a link to its approval. */
function outcomeCell(
  { outcome, detail, resource = null }: Pick<Read, 'outcome' | 'detail' | 'resource'>,
  approvals: ReadonlyMap<string, string>,
): Cell {
  const href = outcome === 'waiting' ? approvals.get(resource ?? '') : undefined;
  return href === undefined ? stateCell(outcome, detail) : { ...stateCell(outcome), href };
}
