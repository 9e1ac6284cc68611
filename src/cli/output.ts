import ora from 'ora';
import { formatProblem, type Report } from '../model/problem.ts';
import { visible } from '../model/visible.ts';

/** Writes data, and nothing else, to stdout. What others wrote can do nothing to a terminal. */
export function print(text: string): void {
  process.stdout.write(`${visible(text, { lines: true })}\n`);
}

/** Writes one JSON value, on one line, to stdout: all that a command prints there with `--json`. As safe for a terminal, and valid JSON. */
export function printJson(value: unknown): void {
  process.stdout.write(`${formatJson(value)}\n`);
}

/** Writes a refusal as a problem document (RFC 9457) to stderr, on one line. */
export function complainJson(problem: { type: string; detail: string; [member: string]: unknown }): void {
  process.stderr.write(`${formatJson(problem)}\n`);
}

/** JSON in which nothing can act on a terminal. */
export function formatJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(/[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Writes for a person to stderr, as safely. */
export function complain(text: string): void {
  process.stderr.write(`${visible(text, { lines: true })}\n`);
}

/**
 * Runs the work; on a terminal, tells that it is running when it takes longer than a second. A terminal that does not say how wide it is gets
 * one line: nobody knows there what a spinner has to clear, and it would write a line for each of its steps.
 */
export async function withProgress<T>(
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<T> {
  const spinner = ora({ text, stream, isSilent: !stream.isTTY, isEnabled: stream.columns > 0 });
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
