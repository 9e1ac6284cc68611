import { isAtLeast, mergeAlike, type Change, type Comparison } from '../../model/comparison.ts';
import { comparisonMarkdown, comparisonTitle } from '../../sync/changes/describe-changes.ts';
import { formatJson } from '../output.ts';
import { codeFrame } from '../../site/code-frame.ts';
import { findingsInComparison } from './finding.ts';
import { formatFindings, toolFormats } from './finding-formats.ts';

export const diffFormats = ['text', 'json', ...toolFormats] as const;
export type DiffFormat = (typeof diffFormats)[number];

/**
 * Formats a comparison: each change with its lines, JSON, Markdown, or findings for tools. `names`: of
 * the two documents; `text`: that of the new one's file.
 */
export function formatDiff(
  comparison: Comparison,
  format: DiffFormat,
  names: { before: string; after: string },
  text = '',
): string {
  if (format === 'json') return formatJson(comparison, 2);
  if (format === 'markdown') return `**${comparisonTitle(comparison)}**\n\n${comparisonMarkdown(comparison, Infinity)}`;
  if (format === 'text') return formatText(comparison, names.after, text);
  return formatFindings(format, findingsInComparison(comparison, names.after), names.after);
}

function formatText(comparison: Comparison, file: string, text: string): string {
  const { changes, reason, truncated } = comparison;
  const rest = truncated ? ['Only the first changes are shown, the worst first.'] : [];
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = mergeAlike(changes).flatMap((change) => [formatChange(change), ...placeOf(change, file, lines)]);
  return [...shown, ...rest, reason ?? `${comparisonTitle(comparison)}.`].join('\n');
}

/** Where a change is, with its lines if it may break somebody. */
function placeOf({ place, verdict }: Change, file: string, lines: readonly string[]): string[] {
  if (place === undefined) return [];
  const frame = isAtLeast(verdict, 'risky') ? codeFrame(lines, place) : '';
  return [`  ${file}:${place.line}:${place.column}`, ...(frame === '' ? [] : [frame])];
}

function formatChange({ verdict, code, message, operations, reach }: Change): string {
  const more = reach > 1 ? ` and ${reach - 1} more` : '';
  const where = operations.length > 0 ? ` [${operations[0]}${more}]` : '';
  return `${verdict.padEnd(8)}  ${message}${where} (${code})`;
}
