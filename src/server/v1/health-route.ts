import { readHealth, type ResourceHealth } from '../../registry/estate/health.ts';
import { formula } from '../../registry/estate/score.ts';
import { RegistryError } from '../../model/errors.ts';
import { nothingHere } from '../nothing-here.ts';
import type { Handler } from './call.ts';

/** How everything of the organization is doing, as JSON, or its list as CSV. */
export const getHealth: Handler = async ({ registry, principal, org, path, query, asker }) => {
  if (path['organization'] !== org) throw new RegistryError('not_found', nothingHere);
  const { rule, format } = query as { rule?: string; format?: string };
  const { items, ...health } = await readHealth(registry, principal, org, asker.closed());
  const failing = rule === undefined ? items : items.filter(({ rules }) => rules.some((each) => each.rule === rule));
  if (format === 'csv')
    return { status: 200, text: { mediaType: 'text/csv; charset=utf-8', text: csvOf(failing, rule) } };
  return { status: 200, body: { organization: org, ...health, formula, items: failing } };
};

const columns = ['resource', 'name', 'version', 'published', 'owner', 'lifecycle', 'score'] as const;
const counted = ['errors', 'warnings', 'undated', 'behind', 'age'] as const;

/** The list for spreadsheets (RFC 4180). `rule`: with the number of its findings. */
function csvOf(items: readonly ResourceHealth[], rule: string | undefined): string {
  const head = [...columns, ...counted, ...(rule === undefined ? [] : [rule])];
  const rows = items.map(({ resource, name, version, publishedAt, owner, lifecycle, score, counts, rules }) => [
    resource.slice(1),
    name,
    version,
    publishedAt.slice(0, 10),
    owner ?? '',
    lifecycle ?? '',
    score,
    ...counted.map((each) => counts[each] ?? ''),
    ...(rule === undefined
      ? []
      : [rules.filter((each) => each.rule === rule).reduce((sum, { count }) => sum + count, 0)]),
  ]);
  return [head, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

/** A value as a cell. Spreadsheets run what begins like a formula, so such a text begins with an apostrophe. */
export function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r\n|%]/.test(value) ? `'${value}` : value;
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
