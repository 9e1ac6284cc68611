import { concerns, readHealth, type ResourceHealth, formula } from '../../registry/estate/health.ts';
import { requestReplay } from '../../registry/estate/replay-estate.ts';
import { csvText } from '../../model/escape.ts';
import { absent } from '../error-answers.ts';
import { operationsAbout } from './call.ts';

export const csvType = 'text/csv; charset=utf-8';

export const healthOperations = {
  ...operationsAbout('part', {
    async getHealth({ registry, principal, org, path, query, asker }) {
      if (path['organization'] !== org) throw absent();
      const { rule, concern, format } = query as { rule?: string; concern?: string; format?: string };
      const { items, ...health } = await readHealth(registry, principal, org, asker.closed());
      const failing = items.filter(
        (item) =>
          (rule === undefined || item.rules.some((each) => each.rule === rule)) &&
          (concern === undefined || concerns[concern]!(item)),
      );
      if (format === 'csv') return { status: 200, text: { mediaType: csvType, text: csvOf(failing, rule) } };
      return { status: 200, body: { organization: org, ...health, formula, items: failing } };
    },
  }),
  ...operationsAbout('organization', {
    async replayEverything({ registry, org, path, author }) {
      if (path['organization'] !== org) throw absent();
      return { status: 202, body: await requestReplay(registry, org, author) };
    },
  }),
};

const columns = ['resource', 'name', 'version', 'published', 'owner', 'lifecycle', 'score'] as const;
const counted = ['errors', 'warnings', 'undated', 'behind', 'age'] as const;
const other = ['blocking', 'deprecated', 'consumers', 'uncompared', 'operations'] as const;

/** The list for spreadsheets. `rule`: with the number of its findings. */
function csvOf(items: readonly ResourceHealth[], rule: string | undefined): string {
  const head = [...columns, ...counted, ...other, ...(rule === undefined ? [] : [rule])];
  const rows = items.map(
    ({ resource, name, version, publishedAt, owner, lifecycle, score, counts, rules, ...more }) => [
      resource.slice(1),
      name,
      version,
      publishedAt.slice(0, 10),
      owner ?? '',
      lifecycle ?? '',
      score,
      ...counted.map((each) => counts[each] ?? ''),
      more.blocking,
      more.deprecated.length,
      more.consumers,
      more.uncompared,
      more.deprecated
        .map(({ operation, sunset }) => (sunset === null ? operation : `${operation} (${sunset})`))
        .join('; '),
      ...(rule === undefined
        ? []
        : [rules.filter((each) => each.rule === rule).reduce((sum, { count }) => sum + count, 0)]),
    ],
  );
  return csvText([head, ...rows]);
}
