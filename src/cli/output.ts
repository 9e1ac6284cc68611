import type { Ora } from 'ora';
import { formatProblem, type Report } from '../model/problem.ts';
import { visible } from '../model/escape.ts';

/** Writes data to stdout, with control characters escaped. Of what a CI would carry out, only our findings stay (`formatGithub`). */
export function print(text: string): void {
  process.stdout.write(`${harmless(text, /^\s*:(?=:(?!(?:error|warning|notice) file=))/gm)}\n`);
}

/** Text of several lines without commands of a CI (`::add-path::`, `##[…]`, `##vso[…]`): a registry may be hostile, or what it quotes. */
function harmless(text: string, command: RegExp): string {
  return visible(text, { lines: true })
    .replace(command, (start) => start.replace(':', '\\u{3a}'))
    .replace(/##(?=\[|vso\[)/gi, '#\\u{23}');
}

/**
 * Writes one JSON value on one line to stdout, with control characters escaped. With `--json`, a
 * command prints nothing else there.
 */
export function printJson(value: unknown): void {
  process.stdout.write(`${formatJson(value)}\n`);
}

/** Writes an error as a problem document (RFC 9457) to stderr, on one line. */
export function complainJson(problem: { type: string; detail: string; [member: string]: unknown }): void {
  process.stderr.write(`${formatJson(problem)}\n`);
}

/** Returns JSON with control characters escaped. */
export function formatJson(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent).replace(/[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Writes a message for people to stderr, with control characters escaped. */
export function complain(text: string): void {
  process.stderr.write(`${harmless(text, /^\s*:(?=:)/gm)}\n`);
}

// Milliseconds between two lines of progress where there is no terminal.
const linesApart = 5000;

/**
 * Runs the work and shows progress on a terminal once it takes longer than a second. A terminal of
 * unknown width gets one line: a spinner could not clear itself and would print a line per step. A
 * file or pipe gets a line every five seconds, of what `say` was last given.
 */
export async function withProgress<T>(
  text: string,
  work: (say: (text: string) => void) => Promise<T>,
  stream: NodeJS.WriteStream = process.stderr,
): Promise<T> {
  let shown = text;
  let spinner = null as Ora | null;
  let isDone = false;
  const start = (): void => {
    import('ora')
      .then(({ default: ora }) => {
        if (!isDone) spinner = ora({ text: visible(shown), stream, isEnabled: stream.columns > 0 }).start();
      })
      .catch(() => undefined);
  };
  const timer = stream.isTTY ? setTimeout(start, 1000) : undefined;
  let writtenAt = performance.now();
  try {
    return await work((next) => {
      shown = next;
      if (spinner !== null) spinner.text = visible(next);
      if (stream.isTTY || performance.now() - writtenAt < linesApart) return;
      writtenAt = performance.now();
      stream.write(`${visible(next)}\n`);
    });
  } finally {
    isDone = true;
    clearTimeout(timer);
    spinner?.stop();
  }
}

/** As `withProgress`, unless the command prints JSON: then it shows nothing. */
export function withProgressUnless<T>(
  isJson: boolean | undefined,
  text: string,
  work: (say: (text: string) => void) => Promise<T>,
): Promise<T> {
  return isJson ? work(() => undefined) : withProgress(text, work);
}

/** Formats progress as a bar and figures: `━━━━╌╌╌╌ 120 of 240`. */
export function formatProgress({ done, total }: { done: number; total: number }, width = 24): string {
  const filled = total === 0 ? width : Math.floor((width * done) / total);
  return `${'━'.repeat(filled)}${'╌'.repeat(width - filled)} ${done} of ${total}`;
}

/** Formats a report as text: one line per problem, then the counts. */
export function formatReport(report: Report): string {
  return [...report.problems.map((problem) => visible(formatProblem(problem))), ...formatTotals(report)].join('\n');
}

/** The last lines of a report: how many problems there are. None if there are none. */
export function formatTotals({ problems, counts, truncated, exempted = [] }: Report): string[] {
  const cut = truncated ? [`… showing only the first ${problems.length} problems`] : [];
  if (problems.length === 0 && exempted.length === 0) return cut;
  const accepted = exempted.length === 0 ? [] : [`${exempted.length} exempted`];
  const { error, warning, info } = counts;
  const counted = [countOf(error, 'error'), countOf(warning, 'warning'), countOf(info, 'note'), ...accepted];
  return [...cut, counted.join(', ')];
}

/** `1 error`, `2 errors` */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Says how to have files outside the document's folder read. Without a git repository, only that folder
 * is.
 */
export function adviseRepository(file: string, { problems }: Pick<Report, 'problems'>, isRepository: boolean): void {
  const outside = problems.find(({ rule, message }) => rule === 'ref-outside-tree' && message.includes('outside'));
  if (isRepository || outside === undefined) return;
  complain(
    `${file} is not in a git repository, so only its folder is read. To read files beside the folder, run "git init" in the folder that holds them all.`,
  );
}
