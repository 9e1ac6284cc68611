import type { EstateHealth } from '../registry/estate/health.ts';
import type { ScorePart } from '../registry/estate/score.ts';
import { perform, here, type ConsoleRequest } from './console-request.ts';
import { timeCell, type Cell, type Page, type Row, type Tone } from './pages.ts';

type Health = EstateHealth & { formula: { description: string; parts: readonly ScorePart[] } };

/** The most rules that a row names. */
const maxRules = 3;

/** How all resources of the organization are doing. */
export const healthPage: Page = {
  path: '/health',
  async show(request) {
    const rule = request.query.get('rule')?.trim() ?? '';
    const { org } = request;
    const inOrganization = { ...request, params: { ...request.params, organization: org } };
    const query = rule === '' ? {} : { rule };
    const { body } = await perform<Health>(inOrganization, 'getHealth', { query });
    const { score, trend, items, formula, truncated } = body;
    const points = trend.flatMap((week) => (week.score === null ? [] : [week.score]));
    return {
      eyebrow: `@${org}`,
      title: 'Health',
      lead: 'How the latest version of each API, schema and ruleset is doing. The worst come first.',
      sections: [
        {
          title: 'Score',
          lead: `${formula.description} ${formula.parts.map(({ weight, says }) => `${weight}: ${says}`).join('; ')}.`,
          facts: [{ name: 'All resources', value: scoreCell(score, null) }],
          ...(points.length > 1 && { chart: { label: `The last weeks: ${points.join(', ')}`, points } }),
        },
        {
          title: 'Resources',
          ...(truncated && { lead: 'Only the first 1,000 were looked at.' }),
          filters: [{ name: 'rule', label: 'Fails the rule', value: rule, hint: 'operation-summary' }],
          columns: ['Resource', 'Owner', 'Fails', 'Deprecated without a sunset', 'Consumers behind', 'Latest', 'Score'],
          rows: items.map((item) => rowOf(request, item, formula.parts)),
          empty: rule === '' ? 'Nothing is published yet.' : 'No latest version fails this rule.',
        },
        {
          title: 'For spreadsheets',
          snippet: `curl -H "Authorization: Bearer $STELE_KEY" "${request.site.url ?? ''}/v1/organizations/${org}/health?format=csv"`,
        },
      ],
    };
  },
};

function rowOf(request: ConsoleRequest, item: Health['items'][number], parts: readonly ScorePart[]): Row {
  const { resource, name, owner, rules, undated, counts, version, publishedAt, score } = item;
  const [, type = '', slug = ''] = resource.split('/');
  const failed = rules.filter(({ severity }) => severity !== 'info');
  const named = failed.slice(0, maxRules).map(({ rule, count }) => `${rule} (${count})`);
  const left = failed.length - named.length;
  const cells: Cell[] = [
    { text: name, more: resource, href: here(request, `/${type}/${slug}`) },
    owner === null ? { text: 'nobody', tag: 'warn' } : { text: owner },
    { text: `${named.join(', ') || 'nothing'}${left > 0 ? ` and ${left} more` : ''}` },
    { text: undated.length === 0 ? '' : String(undated.length), ...(undated[0] !== undefined && { more: undated[0] }) },
    { text: String(counts.behind ?? 0) },
    { ...timeCell(publishedAt), more: version },
    {
      ...scoreCell(score, parts.map(({ name: part, says }) => `${counts[part] ?? 'not counted'}: ${says}`).join('\n')),
    },
  ];
  return { cells };
}

function scoreCell(score: number | null, title: string | null): Cell {
  if (score === null) return { text: 'none' };
  const tag: Tone = score >= 80 ? 'good' : score >= 50 ? 'warn' : 'bad';
  return { text: String(score), tag, ...(title !== null && { title }) };
}
