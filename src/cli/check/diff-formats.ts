import { isAtLeast, mergeAlike, type Change, type Comparison } from '../../model/comparison.ts';
import { code } from '../../sync/checks.ts';
import { comparisonMarkdown, comparisonTitle } from '../../sync/describe-changes.ts';
import { formatJson } from '../output.ts';
import { codeFrame } from '../../site/code-frame.ts';
import { findingsInComparison } from './finding.ts';
import { formatFindings, toolFormats } from './finding-formats.ts';

export const diffFormats = ['text', 'json', ...toolFormats] as const;
export type DiffFormat = (typeof diffFormats)[number];

/** The two documents in words (the same: who asks knows which); and of the new one its file (default: `after`) with its text. */
export interface ComparedNames {
  before: string;
  after: string;
  file?: string;
  text?: string;
}

/** Formats a comparison: each change with its lines, JSON, Markdown, or findings for tools. */
export function formatDiff(comparison: Comparison, format: DiffFormat, names: ComparedNames): string {
  const { before, after, file = after } = names;
  if (format === 'json') return formatJson(comparison, 2);
  if (format === 'markdown')
    return `**${comparisonTitle(comparison)}**, from ${code(before)} to ${code(after)}.\n\n${comparisonMarkdown(comparison, Infinity)}`;
  if (format === 'text') return formatText(comparison, names);
  return formatFindings(format, findingsInComparison(comparison, file), file);
}

function formatText(comparison: Comparison, { before, after, file = after, text = '' }: ComparedNames): string {
  const { changes, reason, truncated } = comparison;
  const rest = truncated ? ['Only the first changes are shown, the worst first.'] : [];
  const compared = before === after ? [] : [`From ${before} to ${after}:`];
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = mergeAlike(changes).flatMap((change) => [formatChange(change), ...placeOf(change, file, lines)]);
  return [...shown, ...rest, ...compared, reason ?? `${comparisonTitle(comparison)}.`].join('\n');
}

/** Where a change is, with its lines if it may break somebody. */
function placeOf({ place, verdict }: Change, file: string, lines: readonly string[]): string[] {
  if (place === undefined) return [];
  const frame = isAtLeast(verdict, 'risky') ? codeFrame(lines, place) : '';
  return [`  ${file}:${place.line}:${place.column}`, ...(frame === '' ? [] : [frame])];
}

function formatChange({ verdict, code: name, message, operations, reach }: Change): string {
  const more = reach > 1 ? ` and ${reach - 1} more` : '';
  const where = operations.length > 0 ? ` [${operations[0]}${more}]` : '';
  return `${verdict.padEnd(8)}  ${message}${where} (${name})`;
}
