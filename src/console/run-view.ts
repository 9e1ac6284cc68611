import { parseCoordinate } from '../model/address.ts';
import { countText, type Report } from '../model/problem.ts';
import { reportSection } from './finding-section.ts';
import type { Trigger } from '../model/connection.ts';
import { commitLinks } from '../site/pages/commit-links.ts';
import { facts, timeCell, type Cell, type Section, type Tone, type View } from './pages.ts';
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
    outcome: string;
    version: string | null;
    detail: string | null;
    report?: Report | null;
  }[];
}

const runTone: Readonly<Record<string, Tone>> = { succeeded: 'good', failed: 'bad', running: '', queued: '' };

export function runTable(runs: readonly RunRecord[], hrefOf: (id: string) => string): Omit<Section, 'title'> {
  return {
    columns: ['Started', 'State', 'Because of', 'Documents'],
    rows: runs.map(({ id, startedAt, state, trigger, documents, detail }) => ({
      cells: [
        { ...timeCell(startedAt), href: hrefOf(id) },
        {
          text: describeRejected(documents) ?? state,
          tag: describeRejected(documents) === null ? (runTone[state] ?? '') : 'bad',
          ...(detail !== null && { more: detail }),
        },
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

function isRejected(document: Read): document is Read & { report: Report } {
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

/** What a sync did not publish, though it went through: `2 of 5 documents rejected`. Null: nothing. */
function describeRejected(documents: RunRecord['documents']): string | null {
  const rejected = documents.filter(({ outcome }) => outcome === 'rejected' || outcome === 'conflict').length;
  return rejected === 0 ? null : `${rejected} of ${countText(documents.length, 'document')} rejected`;
}

/** The page of a run. While it runs, the page follows `events`, or reloads without a script. */
export function runView(request: ConsoleRequest, run: RunRecord, events: string, back: string, again: string): View {
  const { state, trigger, repository, startedAt, finishedAt, progress, detail, documents } = run;
  const isOpen = state === 'queued' || state === 'running';
  const pages = commitLinks(repository, run.to ?? null);
  return {
    title: isOpen ? 'A sync is running' : (describeRejected(documents) ?? `Sync ${state}`),
    ...(describeRejected(documents) !== null && { tags: [{ text: 'rejected', tag: 'bad' }] }),
    eyebrow: repository,
    lead:
      detail ??
      'One reading of the repository. What is rejected here is published once its file is corrected and pushed.',
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
            {
              text: document.outcome,
              tag: outcomeTone(document.outcome),
              ...(document.detail !== null && { more: document.detail }),
            },
            { text: document.version ?? '' },
          ],
        })),
        empty: isOpen ? 'None was read yet.' : 'It read no document: nothing changed since the run before.',
      },
      ...documents
        .filter(isRejected)
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

function outcomeTone(outcome: string): Tone {
  if (outcome === 'published' || outcome === 'unchanged') return 'good';
  return outcome === 'rejected' || outcome === 'conflict' ? 'bad' : 'warn';
}
