import { countText } from '../model/problem.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import { problemTypes } from '../server/error-answers.ts';
import { sendCheckedForm, type CheckResult, sendPage, viewPage } from './show.ts';
import { faultsIn, type Field, type Typed } from './fields.ts';
import { findingSection } from './run-view.ts';
import type { Row, Section } from './pages.ts';
import { documentField, reportOf } from './publish-page.ts';
import { perform, here, may, subjectOf, type ConsoleRequest, type Answered } from './console-request.ts';

export const replayPath = '/:type/:slug/replay';

type Replay = Answered<'replayRuleset'>;
type Replayed = Replay['items'][number];

async function fieldsFor(request: ConsoleRequest): Promise<Field[]> {
  const query = { limit: '50' };
  const { body } = await perform(request, 'list{one}Versions', { query });
  return [
    {
      ...documentField('a ruleset'),
      label: 'Candidate',
      hint: 'The ruleset as you would publish it. It is not published.',
    },
    {
      name: '/version',
      label: 'Or a published version',
      kind: 'select',
      options: [
        { value: '', text: 'the candidate above' },
        ...body.items.map(({ version }) => ({ value: version, text: version })),
      ],
    },
  ];
}

/** Shows the form that checks what a ruleset would reject. */
export async function showReplay(
  request: ConsoleRequest,
  typed: Typed | null = null,
  error: string | null = null,
): Promise<void> {
  await perform({ ...request, type: 'rulesets' }, 'get{one}');
  if (!may(request, 'publish')) throw new RegistryError('forbidden', 'Only who may publish the ruleset may do this.');
  await send(request, typed, { error });
}

/** Checks the documents of the organization against a candidate, and shows which it would reject. */
export async function submitReplay(request: ConsoleRequest, typed: Typed): Promise<void> {
  const version = typed['/version']?.[0] ?? '';
  const text = typed['/document']?.[0] ?? '';
  const cursor = typed['cursor']?.[0];
  try {
    const { body } = await perform(request, 'replayRuleset', {
      query: { limit: '100', ...(cursor && { cursor }) },
      ...(version === '' ? { body: { document: '-' }, document: Buffer.from(text) } : { body: { version } }),
    });
    showResult(request, body, version === '' ? 'the candidate' : version);
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    const faults = faultsIn(error, await fieldsFor(request));
    await send(request, typed, {
      error: error.message,
      faults,
      report: reportOf(error),
      status: problemTypes[error.code].status,
    });
  }
}

function showResult(request: ConsoleRequest, { items, totals, next }: Replay, candidate: string): void {
  const { checked, newlyBlocked, unblocked, others } = totals;
  const counted = `${checked} checked, ${newlyBlocked} rejected that are accepted now, ${unblocked} accepted that are rejected now.`;
  const hidden = others > 0 ? ` ${others} more use it, which you may not read.` : '';
  const rest = next === null ? '' : ' Time was up before all were checked: stele replay goes through all of them.';
  sendPage(
    request.response,
    viewPage(request, {
      eyebrow: subjectOf(request),
      title: newlyBlocked === 0 ? 'Nothing new would be rejected' : `${newlyBlocked} would be rejected`,
      lead: `With ${candidate}: ${counted}${hidden}${rest}`,
      tags: [newlyBlocked === 0 ? { text: 'safe', tag: 'good' } : { text: 'blocks', tag: 'bad' }],
      actions: [
        { text: 'Try another', href: here(request, replayPath) },
        { text: 'To the ruleset', href: here(request, '/:type/:slug') },
      ],
      sections: [
        {
          title: 'Latest versions that it checks',
          columns: ['Version', 'Then', 'Now', 'Would be', 'Findings'],
          rows: items.toSorted((a, b) => Number(b.newlyBlocked) - Number(a.newlyBlocked)).map(rowOf),
          empty: 'No resource that you may read uses this ruleset.',
        },
        ...items
          .filter(({ problems }) => problems.length > 0)
          .slice(0, 20)
          .map(problemsOf),
      ],
    }),
  );
}

function rowOf({ version, newlyBlocked, current, proposed, added, removed }: Replayed): Row {
  return {
    cells: [
      { text: version, isCode: true },
      newlyBlocked
        ? { text: 'rejected', tag: 'bad' }
        : proposed.blocking > 0
          ? { text: 'still rejected', tag: 'warn' }
          : { text: 'accepted', tag: 'good' },
      { text: current === null ? 'its ruleset is missing' : countsText(current) },
      { text: countsText(proposed) },
      { text: `+${added} −${removed}` },
    ],
  };
}

function countsText({ error, warning }: { error: number; warning: number }): string {
  return `${countText(error, 'error')}, ${countText(warning, 'warning')}`;
}

function problemsOf({ version, problems }: Replayed): Section {
  return findingSection(`New in ${version}`, problems);
}

async function send(request: ConsoleRequest, typed: Typed | null, result: CheckResult): Promise<void> {
  const form = {
    typed,
    title: `What would ${subjectOf(request)} reject?`,
    lead: ['Checks the latest version of every resource that uses the ruleset. Nothing is stored or published.'],
    submit: 'Check them',
    check: null,
    isLive: false,
    cancel: here(request, '/:type/:slug'),
  };
  sendCheckedForm(request, await fieldsFor(request), form, result);
}
