import { countText } from '../model/problem.ts';
import { forbidden } from '../model/errors.ts';
import type { FormPage } from './form-page.ts';
import type { Field } from '../server/v1/described-field.ts';
import { firstOf } from './fields.ts';
import { findingSection } from './run-view.ts';
import type { Row, View } from './pages.ts';
import { documentField } from './publish-page.ts';
import { perform, here, may, subjectOf, type ConsoleRequest, type Answered } from './console-request.ts';

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

/** Checks the documents of the organization against a candidate, and shows which it would reject. */
export const replayPage: FormPage = {
  path: '/:type/:slug/replay',
  async open(request) {
    await perform({ ...request, type: 'rulesets' }, 'get{one}');
    if (!may(request, 'publish')) throw forbidden('Only who may publish the ruleset may do this.');
    return {};
  },
  fields: fieldsFor,
  form: (request) => ({
    title: `What would ${subjectOf(request)} reject?`,
    lead: ['Checks the latest version of every resource that uses the ruleset. Nothing is stored or published.'],
    submit: 'Check them',
    cancel: here(request, '/:type/:slug'),
  }),
  async submit(request, typed) {
    const version = firstOf(typed, '/version');
    const { body } = await perform(request, 'replayRuleset', {
      query: { limit: '100' },
      ...(version === ''
        ? { body: { document: '-' }, document: Buffer.from(firstOf(typed, '/document')) }
        : { body: { version } }),
    });
    return resultView(request, body, version === '' ? 'the candidate' : version);
  },
};

function resultView(request: ConsoleRequest, { items, totals, next }: Replay, candidate: string): View {
  const { checked, newlyBlocked, unblocked, others } = totals;
  const counted = `${checked} checked, ${newlyBlocked} rejected that are accepted now, ${unblocked} accepted that are rejected now.`;
  const hidden = others > 0 ? ` ${others} more use it, which you may not read.` : '';
  const rest = next === null ? '' : ' Time was up before all were checked: stele replay goes through all of them.';
  return {
    eyebrow: subjectOf(request),
    title: newlyBlocked === 0 ? 'Nothing new would be rejected' : `${newlyBlocked} would be rejected`,
    lead: `With ${candidate}: ${counted}${hidden}${rest}`,
    tags: [newlyBlocked === 0 ? { text: 'safe', tag: 'good' } : { text: 'blocks', tag: 'bad' }],
    actions: [
      { text: 'Try another', href: here(request, replayPage.path) },
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
        .map(({ version, problems }) => findingSection(`New in ${version}`, problems)),
    ],
  };
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
