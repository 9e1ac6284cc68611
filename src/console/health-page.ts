import { perform, here, type ConsoleRequest, type Answered } from './console-request.ts';
import { linksFrom, timeCell, type Cell, type Page, type Row, type Tone } from './pages.ts';

type Health = Answered<'getHealth'>;

const maxRules = 3;

const concerns: [string, string][] = [
  ['', 'all'],
  ['blocked', 'its ruleset would reject it now'],
  ['deprecated-in-use', 'deprecated operations, and consumers'],
  ['undated', 'deprecated without a sunset'],
  ['uncompared', 'versions without a list of changes'],
  ['behind', 'consumers behind'],
  ['owner', 'nobody is the owner'],
  ['lifecycle', 'no lifecycle'],
];

/** How all resources of the organization are doing. */
export const healthPage: Page = {
  path: '/health',
  async show(request) {
    const rule = request.query.get('rule')?.trim() ?? '';
    const asked = request.query.get('concern');
    const [concern] = concerns.find(([name]) => name === asked) ?? concerns[0]!;
    const { org } = request;
    const query = { ...(rule !== '' && { rule }), ...(concern !== '' && { concern }) };
    const { body } = await perform(request, 'getHealth', { query });
    const { score, trend, items, formula, truncated, replay } = body;
    const points = trend.flatMap((week) => (week.score === null ? [] : [week.score]));
    return {
      title: 'Health',
      lead: 'How the latest version of each API, schema and ruleset is doing. The worst come first.',
      actions: linksFrom(request, '/health', ['Check everything', '/replay', 'publish', { post: true }]),
      sections: [
        {
          title: 'Score',
          facts: [
            { name: 'All resources', value: scoreCell(score, null) },
            { name: 'Checked again', value: replayCell(replay) },
          ],
          ...(points.length > 1 && { chart: { label: `The last weeks: ${points.join(', ')}`, points } }),
        },
        {
          title: 'Resources',
          ...(truncated && { lead: 'Only the first 1,000 were looked at.' }),
          filters: [
            { name: 'rule', label: 'Fails the rule', value: rule, hint: 'operation-summary' },
            { name: 'concern', label: 'Concern', value: concern, options: concerns },
          ],
          columns: ['Resource', 'Owner', 'Fails', 'Deprecated operations', 'Consumers behind', 'Latest', 'Score'],
          rows: items.map((item) => rowOf(request, item, formula.parts)),
          empty:
            rule !== ''
              ? 'No latest version fails this rule.'
              : concern === ''
                ? 'Nothing is published yet.'
                : 'Nothing has this concern.',
        },
        {
          title: 'How the score is counted',
          lead: formula.description,
          columns: ['What is counted', 'Weight', 'Limit'],
          rows: formula.parts.map(({ says, weight, most }) => ({
            cells: [{ text: says }, { text: String(weight) }, { text: String(most) }],
          })),
        },
        {
          title: 'For spreadsheets',
          snippet: `curl -H "Authorization: Bearer $STELE_KEY" "${request.site.url ?? ''}/v1/organizations/${org}/health?${new URLSearchParams({ ...query, format: 'csv' })}"`,
        },
      ],
    };
  },
};

function rowOf(request: ConsoleRequest, item: Health['items'][number], parts: Health['formula']['parts']): Row {
  const { resource, name, owner, rules, deprecated, undated, counts, version, publishedAt, score } = item;
  const [, type = '', slug = ''] = resource.split('/');
  const failed = rules.filter(({ severity }) => severity !== 'info');
  const named = failed.slice(0, maxRules).map(({ rule, count }) => `${rule} (${count})`);
  const left = failed.length - named.length;
  const cells: Cell[] = [
    { text: name, more: resource, href: here(request, `/${type}/${slug}`) },
    owner === null ? { text: 'nobody', tag: 'warn' } : { text: owner },
    {
      text: `${named.join(', ') || 'nothing'}${left > 0 ? ` and ${left} more` : ''}`,
      ...(item.blocking > 0 && { more: 'would be rejected now' }),
    },
    {
      text: deprecated.length === 0 ? '' : String(deprecated.length),
      ...(undated[0] !== undefined && { more: `${undated.length} without a sunset, such as ${undated[0]}` }),
    },
    { text: `${counts.behind ?? 0} of ${item.consumers}` },
    { ...timeCell(publishedAt), more: version },
    scoreCell(score, parts.map(({ name: part, says }) => `${counts[part] ?? 'not counted'}: ${says}`).join('\n')),
  ];
  return { cells };
}

function replayCell({ requestedAt, startedAt, endedAt }: Health['replay']): Cell {
  if (requestedAt !== null && requestedAt > (startedAt ?? '')) return { text: 'waits', tag: '' };
  if (startedAt !== null && endedAt === null)
    return { text: 'runs', tag: '', more: `since ${timeCell(startedAt).text}` };
  return timeCell(endedAt);
}

function scoreCell(score: number | null, title: string | null): Cell {
  if (score === null) return { text: 'none' };
  const tag: Tone = score >= 80 ? 'good' : score >= 50 ? 'warn' : 'bad';
  return { text: String(score), tag, ...(title !== null && { title }) };
}
