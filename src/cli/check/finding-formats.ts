import { type Change, type Comparison, type Verdict, isAtLeast, mergeAlike } from '../../model/comparison.ts';
import { httpsUrl, escapeXml, visible } from '../../model/escape.ts';
import { type Exempted, type Problem, type Report, type Severity, formatProblem } from '../../model/problem.ts';
import { createHash } from 'node:crypto';
import { plain, code } from '../../sync/checks.ts';
import { formatJson, formatReport, formatTotals } from '../output.ts';
import type { CollectedFile } from '../../compile/compile.ts';
import { codeFrame } from '../../site/code-frame.ts';
import { comparisonMarkdown, comparisonTitle } from '../../sync/describe-changes.ts';

/** What a check found, as tools that show findings take it. */
export interface Finding {
  level: 'error' | 'warning' | 'note';
  rule: string;
  message: string;
  /** The file, as a path with slashes. */
  file: string;
  /** JSON Pointer (RFC 6901) into the document. */
  pointer: string;
  /** 1-based. Null: only the pointer is known. */
  place: { line: number; column: number } | null;
  /** Where the rule is explained: a URL with https. */
  url: string | null;
  /** Why somebody accepted it. Null: nobody did. */
  accepted: string | null;
}

const levels: Readonly<Record<Severity, Finding['level']>> = { error: 'error', warning: 'warning', info: 'note' };

/** The findings of a report, with those that exemptions accept at the end. */
export function findingsInReport({ problems, exempted = [] }: Report): Finding[] {
  return [
    ...problems.map((problem) => ({ ...findingOf(problem), accepted: null })),
    ...exempted.map((problem) => ({ ...findingOf(problem), accepted: reasonOf(problem) })),
  ];
}

function findingOf(problem: Problem): Omit<Finding, 'accepted'> {
  const { severity, rule, message, file, pointer, line, column, documentationUrl } = problem;
  const url = httpsUrl(documentationUrl);
  return { level: levels[severity], rule, message, file, pointer, place: { line, column }, url };
}

function reasonOf({ exemption: { reason, owner, expires, at } }: Exempted): string {
  const more = [...(owner === undefined ? [] : [owner]), ...(expires === undefined ? [] : [`until ${expires}`]), at];
  return `${reason} (${more.join(', ')})`;
}

const levelsOfVerdicts: Readonly<Record<Verdict, Finding['level']>> = {
  breaking: 'error',
  unknown: 'warning',
  risky: 'warning',
  safe: 'note',
  docs: 'note',
};

/** The changes of a comparison, placed in the file of the new document: a removal at the part that lost it. */
function findingsInComparison({ changes, reason }: Comparison, file: string): Finding[] {
  const bare = { file, url: null, accepted: null };
  if (reason !== null)
    return [{ ...bare, level: 'warning', rule: 'not-compared', message: reason, pointer: '', place: null }];
  return changes.map(({ verdict, code: rule, pointers, place = null, ...change }) => {
    const pointer = pointers.after ?? pointers.before ?? '';
    return { ...bare, level: levelsOfVerdicts[verdict], rule, message: sentenceOf(change), pointer, place };
  });
}

function sentenceOf({ message, operations, reach }: Pick<Change, 'message' | 'operations' | 'reach'>): string {
  const more = reach > 1 ? ` and ${reach - 1} more` : '';
  return operations.length > 0 ? `${message} [${operations[0]}${more}]` : message;
}

/** The formats of findings for tools, the same in every command. */
export const toolFormats = ['github', 'gitlab', 'sarif', 'junit', 'markdown'] as const;
export type ToolFormat = (typeof toolFormats)[number];

/** Formats findings for a tool. `name`: the document that was checked, for formats that name it although nothing was found. */
export function formatFindings(format: ToolFormat, findings: readonly Finding[], name: string): string {
  if (format === 'sarif') return formatSarif(findings);
  const counted = findings.filter(({ accepted }) => accepted === null);
  if (format === 'junit') return formatJunit(counted, name);
  return { github: formatGithub, gitlab: formatGitlab, markdown: formatMarkdown }[format](counted);
}

const severities: Readonly<Record<Finding['level'], string>> = { error: 'major', warning: 'minor', note: 'info' };

/** GitLab's report of code quality. A fingerprint stays the same while lines move. */
function formatGitlab(findings: readonly Finding[]): string {
  const seen = new Map<string, number>();
  const issues = findings.map(({ level, rule, message, file, pointer, place }) => {
    const what = JSON.stringify([rule, file, pointer, message]);
    const number = seen.get(what) ?? 0;
    seen.set(what, number + 1);
    const fingerprint = createHash('sha256').update(`${what} ${number}`).digest('hex');
    const location = { path: file, lines: { begin: place?.line ?? 1 } };
    return { description: message, check_name: rule, fingerprint, severity: severities[level], location };
  });
  return formatJson(issues, 2);
}

function formatMarkdown(findings: readonly Finding[]): string {
  const rows = findings.map(({ level, rule, message, file, place }) => {
    const where = place === null ? file : `${file}:${place.line}:${place.column}`;
    return `| ${level} | ${plain(rule)} | ${plain(message)} | ${plain(where)} |`;
  });
  if (rows.length === 0) return 'No findings.';
  return ['| level | rule | finding | place |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

const commands: Readonly<Record<Finding['level'], string>> = { error: 'error', warning: 'warning', note: 'notice' };

/**
 * GitHub Actions workflow commands, one a line. Values are escaped, so that a document cannot
 * inject another command.
 */
function formatGithub(findings: readonly Finding[]): string {
  const data = (text: string) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return findings
    .map(({ level, rule, message, file, place }) => {
      const where = place === null ? '' : `,line=${place.line},col=${place.column}`;
      return `::${commands[level]} file=${property(file)}${where},title=${property(rule)}::${data(message)}`;
    })
    .join('\n');
}

/** SARIF 2.1.0. Exempted findings are suppressed results. */
function formatSarif(findings: readonly Finding[]): string {
  const rules = new Map(findings.map(({ rule, url }) => [rule, url]));
  const results = findings.map(({ rule, level, message, file, pointer, place, accepted }) => ({
    ruleId: rule,
    level,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
          ...(place !== null && { region: { startLine: place.line, startColumn: place.column } }),
        },
        ...(pointer !== '' && { logicalLocations: [{ fullyQualifiedName: pointer }] }),
      },
    ],
    ...(accepted !== null && { suppressions: [{ kind: 'external', justification: accepted }] }),
  }));
  const described = [...rules].map(([id, url]) => ({ id, ...(url !== null && { helpUri: url }) }));
  const run = { tool: { driver: { name: 'stele', rules: described } }, columnKind: 'utf16CodeUnits', results };
  return formatJson({ $schema: 'https://json.schemastore.org/sarif-2.1.0.json', version: '2.1.0', runs: [run] }, 2);
}

/**
 * JUnit XML: a test suite for each file, a test case for each finding. Errors are failures; warnings
 * and notes pass, with their text as output. A file without findings passes.
 */
function formatJunit(findings: readonly Finding[], name: string): string {
  const files = Map.groupBy(findings, ({ file }) => file);
  const suites = [...files].map(([file, found]) => suiteOf(file, found));
  if (suites.length === 0) suites.push(suiteOf(name, []));
  const failures = findings.filter(({ level }) => level === 'error').length;
  const head = `<testsuites name="stele" tests="${Math.max(1, findings.length)}" failures="${failures}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...suites, '</testsuites>'].join('\n');
}

function suiteOf(file: string, findings: readonly Finding[]): string {
  const failures = findings.filter(({ level }) => level === 'error').length;
  const tests = Math.max(1, findings.length);
  const suite = `  <testsuite name="${xml(file)}" tests="${tests}" failures="${failures}">`;
  const cases = findings.length === 0 ? [`    <testcase classname="${xml(file)}" name="no findings"/>`] : [];
  return [suite, ...cases, ...findings.map(caseOf), '  </testsuite>'].join('\n');
}

function caseOf({ level, rule, message, file, pointer, place }: Finding): string {
  const where = place === null ? pointer : `${place.line}:${place.column}`;
  const open = `    <testcase classname="${xml(file)}" name="${xml(`${rule} ${where}`.trim())}">`;
  const text = xml(`${file}${where === '' ? '' : `:${where}`} ${message}`);
  const body =
    level === 'error'
      ? `<failure type="${xml(rule)}" message="${xml(message)}">${text}</failure>`
      : `<system-out>${level}: ${text}</system-out>`;
  return `${open}${body}</testcase>`;
}

/** Escapes text for XML. Line breaks stay what they are in attributes, too. */
function xml(text: string): string {
  return escapeXml(text).replace(/[\t\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}

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

export const diffFormats = ['text', 'json', ...toolFormats] as const;
export type DiffFormat = (typeof diffFormats)[number];

/** The two documents in words (the same: who asks knows which); and of the new one its file (default: `after`) with its text. */
export interface ComparedNames {
  before: string;
  after: string;
  file?: string;
  /** The file in which the places are. Absent: its lines are not shown. */
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

function formatText(comparison: Comparison, { before, after, file = after, text }: ComparedNames): string {
  const { changes, reason, truncated } = comparison;
  const rest = truncated ? ['Only the first changes are shown, the worst first.'] : [];
  const compared = before === after ? [] : [`From ${before} to ${after}:`];
  const lines = text?.replace(/\n$/, '').split('\n') ?? [];
  const shown = mergeAlike(changes).flatMap((change) => [
    `${change.verdict.padEnd(8)}  ${sentenceOf(change)} (${change.code})`,
    ...placeLines(change, file, lines),
  ]);
  return [...shown, ...rest, ...compared, reason ?? `${comparisonTitle(comparison)}.`].join('\n');
}

/** Where a change is, with its lines if it may break somebody. */
function placeLines({ place, verdict }: Change, file: string, lines: readonly string[]): string[] {
  if (place === undefined) return [];
  const frame = isAtLeast(verdict, 'risky') ? codeFrame(lines, place) : '';
  return [`  ${file}:${place.line}:${place.column}`, ...(frame === '' ? [] : [frame])];
}
