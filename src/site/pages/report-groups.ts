import { httpsUrl } from '../../model/escape.ts';
import { countText, type Problem, type Report, type Severity } from '../../model/problem.ts';
import type { CommitLinks } from './commit-links.ts';
import type { FrameOf } from './report-frames.ts';

/** The number of problems shown at first. The others are folded, and come without their lines. */
export const shown = 50;

/** Groups the problems of a report by rule, the most severe first. */
export function describeReport(
  { problems, counts, truncated }: Report,
  pages: Pick<CommitLinks, 'file'> | null,
  frameOf: FrameOf = () => null,
): object {
  const groups = new Map<string, Problem[]>();
  for (const problem of problems) {
    const key = `${problem.severity} ${problem.rule}`;
    groups.set(key, [...(groups.get(key) ?? []), problem]);
  }
  let left = shown;
  const described = [...groups.values()].map((group) => {
    const first = group.slice(0, left);
    left -= first.length;
    return {
      rule: group[0]!.rule,
      severity: group[0]!.severity,
      href: httpsUrl(group[0]!.documentationUrl),
      count: group.length,
      first: first.map((problem) => ({ ...place(problem, pages), frame: frameOf(problem) })),
      folded: group.slice(first.length).map((problem) => place(problem, pages)),
    };
  });
  const total = counts.error + counts.warning + counts.info;
  return { counts, total, summary: summaryOf(counts), truncated, groups: described };
}

function summaryOf(counts: Record<Severity, number>): string {
  const parts = (
    [
      [counts.error, 'error'],
      [counts.warning, 'warning'],
      [counts.info, 'note'],
    ] as const
  ).flatMap(([number, noun]) => (number === 0 ? [] : [countText(number, noun)]));
  return parts.length === 0 ? 'nothing found' : parts.join(', ');
}

function place(
  { message, file, pointer, line, column, known }: Problem,
  pages: Pick<CommitLinks, 'file'> | null,
): object {
  const href = pages?.file(file, line) ?? null;
  return { message, place: `${file}:${line}:${column}`, pointer, href, isKnown: known === true };
}
