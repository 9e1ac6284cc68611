import { mergeAlike, type Change, type Comparison } from '../../model/comparison.ts';
import { comparisonMarkdown, comparisonTitle } from '../../sync/changes/describe-changes.ts';
import { formatJson } from '../output.ts';
import { findingsInComparison } from './finding.ts';
import { formatGithub, formatJunit, formatSarif } from './finding-formats.ts';

export const diffFormats = ['text', 'json', 'markdown', 'github', 'sarif', 'junit'] as const;
export type DiffFormat = (typeof diffFormats)[number];

/**
 * Formats a comparison: one line for each change, JSON, Markdown, or findings for tools. `names`: of
 * the two documents.
 */
export function formatDiff(
  comparison: Comparison,
  format: DiffFormat,
  names: { before: string; after: string },
): string {
  if (format === 'json') return formatJson(comparison, 2);
  if (format === 'markdown') return `**${comparisonTitle(comparison)}**\n\n${comparisonMarkdown(comparison, Infinity)}`;
  if (format === 'text') return formatText(comparison);
  const findings = findingsInComparison(comparison, names);
  if (format === 'github') return formatGithub(findings);
  return format === 'sarif' ? formatSarif(findings) : formatJunit(findings, names.after);
}

function formatText(comparison: Comparison): string {
  const { changes, reason, truncated } = comparison;
  const rest = truncated ? ['Only the first changes are shown, the worst first.'] : [];
  return [...mergeAlike(changes).map(formatChange), ...rest, reason ?? `${comparisonTitle(comparison)}.`].join('\n');
}

function formatChange({ verdict, code, message, operations, reach }: Change): string {
  const more = reach > 1 ? ` and ${reach - 1} more` : '';
  const where = operations.length > 0 ? ` [${operations[0]}${more}]` : '';
  return `${verdict.padEnd(8)}  ${message}${where} (${code})`;
}
