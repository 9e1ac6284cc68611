import type { Change, Comparison } from '../model/comparison.ts';
import { comparisonMarkdown, comparisonTitle } from '../sync/changes/describe-changes.ts';
import { formatJson } from './output.ts';

export const diffFormats = ['text', 'json', 'markdown'] as const;
export type DiffFormat = (typeof diffFormats)[number];

/** Formats a comparison: one line for each change, JSON, or Markdown. */
export function formatDiff(comparison: Comparison, format: DiffFormat): string {
  if (format === 'json') return formatJson(comparison, 2);
  if (format === 'markdown') return `**${comparisonTitle(comparison)}**\n\n${comparisonMarkdown(comparison, Infinity)}`;
  const { changes, reason, truncated } = comparison;
  const rest = truncated ? ['Only the first changes are shown, the worst first.'] : [];
  return [...changes.map(formatChange), ...rest, reason ?? `${comparisonTitle(comparison)}.`].join('\n');
}

function formatChange({ verdict, code, message, operations, reach }: Change): string {
  const more = reach > 1 ? ` and ${reach - 1} more` : '';
  const where = operations.length > 0 ? ` [${operations[0]}${more}]` : '';
  return `${verdict.padEnd(8)}  ${message}${where} (${code})`;
}
