import type { CollectedFile } from '../../compile/compile.ts';
import { formatProblem, type Report } from '../../model/problem.ts';
import { visible } from '../../model/escape.ts';
import { formatJson, formatReport, formatTotals } from '../output.ts';
import { codeFrame } from '../../site/code-frame.ts';
import { findingsInReport } from './finding.ts';
import { formatFindings, toolFormats } from './finding-formats.ts';

export const lintFormats = ['text', 'lines', 'json', ...toolFormats] as const;
export type LintFormat = (typeof lintFormats)[number];

/**
 * Formats a report: `text` shows each problem with its lines of the file, `lines` is one line for
 * each, and the others are for tools. `files`: those that were read, the entry first.
 */
export function formatLint(
  report: Report,
  format: LintFormat,
  files: readonly Pick<CollectedFile, 'path' | 'bytes'>[],
): string {
  if (format === 'text') return formatFrames(report, files);
  if (format === 'lines') return formatReport(report);
  if (format === 'json') return formatJson(report, 2);
  return formatFindings(format, findingsInReport(report), files[0]?.path ?? 'document');
}

function formatFrames(report: Report, files: readonly Pick<CollectedFile, 'path' | 'bytes'>[]): string {
  const lines = new Map<string, string[]>();
  const linesOf = (path: string) => {
    const bytes = files.find((file) => file.path === path)?.bytes ?? null;
    const known =
      lines.get(path) ?? (bytes === null ? [] : new TextDecoder().decode(bytes).replace(/\n$/, '').split('\n'));
    lines.set(path, known);
    return known;
  };
  const blocks = report.problems.map((problem) => {
    const link = problem.documentationUrl === undefined ? '' : `\n  ${problem.documentationUrl}`;
    const frame = codeFrame(linesOf(problem.file), problem)
      .split('\n')
      .map((line) => visible(line))
      .join('\n');
    return (
      [visible(formatProblem(problem)), frame].filter((part) => part !== '').join('\n') + visible(link, { lines: true })
    );
  });
  return [...blocks, ...formatTotals(report)].join('\n');
}
