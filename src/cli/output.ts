import type { Ora } from 'ora';
import { countText, formatProblem, type Report } from '../model/problem.ts';
import { shownState, type Tone } from '../model/states.ts';
import { realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { styleText } from 'node:util';
import { isUrlPath } from '../model/address.ts';
import { visible } from '../model/escape.ts';
import { own } from '../model/json.ts';

/** Writes data to stdout, with control characters escaped. Of what a CI would carry out, only our findings stay (`formatGithub`). */
export function print(text: string): void {
  process.stdout.write(`${paint(harmless(text, /^\s*:(?=:(?!(?:error|warning|notice) file=))/gm), process.stdout)}\n`);
}

/** Text of several lines without commands of a CI (`::add-path::`, `##[…]`, `##vso[…]`): a registry may be hostile, or what it quotes. */
function harmless(text: string, start: RegExp): string {
  return visible(text, { lines: true })
    .replace(start, (found) => found.replace(':', '\\u{3a}'))
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

const command = /^\s*:(?=:)/gm;

/** Writes a message for people to stderr, with control characters escaped. */
export function complain(text: string): void {
  process.stderr.write(`${paint(harmless(text, command), process.stderr)}\n`);
}

/** Writes the message of an error to stderr, red where there is colour. */
export function complainError(text: string): void {
  process.stderr.write(`${styleText('red', harmless(text, command), { stream: process.stderr })}\n`);
}

const colors = { good: 'green', wait: 'blue', warn: 'yellow', bad: 'red', '': 'dim' } as const;

const toned: Readonly<Record<string, Tone>> = {
  error: 'bad',
  errors: 'bad',
  breaking: 'bad',
  warning: 'warn',
  warnings: 'warn',
  risky: 'warn',
  unknown: 'warn',
  safe: 'good',
  info: '',
};

/** Where a line has such a word: at its start, after the place of a finding, and in counts. */
const word = /^((?:\S.*?:\d+:\d+ |\d+ )?)([a-z]+(?: for approval)?)(?=[\s,:]|$)/;

function paint(text: string, stream: NodeJS.WriteStream): string {
  const painted = text.split('\n').map((line) => {
    const [, before = '', said = ''] = word.exec(line) ?? [];
    const state = said === shownState('waiting').text ? 'waiting' : said;
    const tone = own(toned, said) ?? shownState(state).tone;
    if (said !== '' && (tone !== '' || said === 'info'))
      return before + styleText(colors[tone], said, { stream }) + line.slice(before.length + said.length);
    return line.replace(/^ {2}[ >]? *\d* \|/, (frame) => styleText('dim', frame, { stream }));
  });
  return painted.join('\n');
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

/** A report, and the files that it is about, with paths from the working folder, where they lead somewhere. `root`: what they begin at. */
export function seenFromHere<F extends { path: string }>(
  root: string,
  report: Report,
  files: readonly F[] = [],
): { report: Report; files: F[] } {
  const here = realpathSync('.');
  const pathOf = (path: string) => (isUrlPath(path) ? path : relative(here, join(root, path)).replaceAll('\\', '/'));
  return {
    report: { ...report, problems: report.problems.map((problem) => ({ ...problem, file: pathOf(problem.file) })) },
    files: files.map((file) => ({ ...file, path: pathOf(file.path) })),
  };
}

/** The last lines of a report: how many problems there are. None if there are none. */
export function formatTotals({ problems, counts, truncated, exempted = [] }: Report): string[] {
  const cut = truncated ? [`… showing only the first ${problems.length} problems`] : [];
  if (problems.length === 0 && exempted.length === 0) return cut;
  const accepted = exempted.length === 0 ? [] : [`${exempted.length} exempted`];
  const { error, warning, info } = counts;
  const counted = [countText(error, 'error'), countText(warning, 'warning'), countText(info, 'note'), ...accepted];
  return [...cut, counted.join(', ')];
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
