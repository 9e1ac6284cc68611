import ora from 'ora';
import { formatProblem, type Report } from '../model/problem.ts';
import { visible } from '../model/visible.ts';

/** Writes data, and nothing else, to stdout. What others wrote can do nothing to a terminal. */
export function print(text: string): void {
  process.stdout.write(`${visible(text, { lines: true })}\n`);
}

/** Writes for a person to stderr, as safely. */
export function complain(text: string): void {
  process.stderr.write(`${visible(text, { lines: true })}\n`);
}

/** Runs the work; on a terminal, tells that it is running when it takes longer than a second. */
export async function withProgress<T>(text: string, work: (tell: (text: string) => void) => Promise<T>): Promise<T> {
  const spinner = ora({ text, isSilent: !process.stderr.isTTY });
  const timer = setTimeout(() => spinner.start(), 1000);
  try {
    return await work((next) => {
      spinner.text = next;
    });
  } finally {
    clearTimeout(timer);
    spinner.stop();
  }
}

/** A report for a person: a line per problem, and the counts. */
export function formatReport(report: Report): string {
  const { error, warning, info } = report.counts;
  const lines = report.problems.map((problem) => visible(formatProblem(problem)));
  if (report.truncated) lines.push(`… only the first ${report.problems.length} problems are shown`);
  if (lines.length > 0)
    lines.push([counted(error, 'error'), counted(warning, 'warning'), counted(info, 'note')].join(', '));
  return lines.join('\n');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
