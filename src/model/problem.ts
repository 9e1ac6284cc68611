import type { Digest } from './digest.ts';

/**
 * Whether a document that fails its specification's schema is rejected (`strict`) or published with
 * warnings (design §6).
 */
export type Validation = 'strict' | 'lenient';

export type Severity = 'error' | 'warning' | 'info';

/** One finding about a document. */
export interface Problem {
  /**
   * The rule's name: one of Stele's (`yaml-syntax`, `ref-outside-tree`, …), `schema`, or a linter's
   * (`struct`, `operation-summary`).
   */
  rule: string;
  severity: Severity;
  message: string;
  /** Path of the file in its repository, or the name of the uploaded file. */
  file: string;
  /** JSON Pointer (RFC 6901) into that file. `''` is its root. */
  pointer: string;
  /** 1-based. Columns count UTF-16 code units. Line 1, column 1 when the place is unknown. */
  line: number;
  column: number;
  /** Where the rule is explained: the URL in the ruleset. */
  documentationUrl?: string;
  /** Whether an attached ruleset found it. */
  ofRuleset?: boolean;
  /** Whether the latest version has it too, so that it does not block (`ratchet`). */
  known?: boolean;
}

/** Which findings of a ruleset reject a document. */
export const blockOns = ['error', 'warn', 'none'] as const;
export type BlockOn = (typeof blockOns)[number];

/** A finding that somebody decided to accept. Reviewed like code: it is a part of the repository. */
export interface Exemption {
  /** Name of the rule; `*` matches any characters. */
  rule: string;
  /** JSON Pointer into the document, or a pattern as in `glob.ts`. Absent: everywhere. */
  pointer?: string;
  /** Path of the file, if it is for one file only. Then the pointer is not a pattern. */
  file?: string;
  reason: string;
  owner?: string;
  /** The last day on which it holds: `2026-12-31`. */
  expires?: string;
  /** Where it is written. */
  at: Pick<Problem, 'file' | 'pointer' | 'line' | 'column'>;
}

/** A finding that an exemption accepts. */
export interface Exempted extends Problem {
  exemption: Pick<Exemption, 'reason' | 'owner' | 'expires'> & { at: string };
}

/** What a document had to pass. Stored in its report, so that the report can be made again. */
export interface ReportedGate {
  /** The ruleset at the version that checked the document. */
  ruleset: { name: string; digest: Digest };
  /** The manifests of the rulesets that it extends, by coordinate as written. Absent if none. */
  extended?: Record<string, Digest>;
  blockOn: BlockOn;
  exemptions?: Exemption[];
  /** The day on which exemptions were judged. */
  today?: string;
  /** Manifest of the version whose findings do not block. */
  ratchet?: Digest;
}

/** The findings for a document. The same input gives the same report, byte for byte. */
export interface Report {
  problems: Problem[];
  /** Number of findings by severity, including those not kept in `problems`. Each check stops after very many. */
  counts: Record<Severity, number>;
  /** Whether `problems` was cut at its limit. */
  truncated: boolean;
  /** Number of findings that block. Absent: those with the severity `error`. */
  blocking?: number;
  /** What the document had to pass. Absent if no ruleset checked it. */
  gate?: ReportedGate;
  /** Findings that an exemption accepts. They are neither counted nor in `problems`. */
  exempted?: Exempted[];
  /** Keys of all findings of the ruleset, where they were asked for. Never stored. */
  known?: string[];
  /** Number of findings that are not shown to this reader, who may not read the ruleset. */
  hidden?: number;
}

const maxProblems = 1000;
const rank: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/**
 * Creates a report: errors first, then by file and place. Repeated findings appear once, at their
 * highest severity. At most 1,000 are kept. The order of the input does not matter.
 */
export function createReport(problems: readonly Problem[]): Report {
  const seen = new Set<string>();
  const unique = problems.toSorted(compareProblems).filter((problem) => {
    const key = JSON.stringify([
      problem.rule,
      problem.file,
      problem.pointer,
      problem.line,
      problem.column,
      problem.message,
    ]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const counts = { error: 0, warning: 0, info: 0 };
  for (const problem of unique) counts[problem.severity]++;
  return { problems: unique.slice(0, maxProblems), counts, truncated: unique.length > maxProblems };
}

/** The report with problems that block nothing. */
export function addProblems(report: Report, more: readonly Problem[]): Report {
  if (more.length === 0) return report;
  const { problems, truncated } = createReport([...report.problems, ...more]);
  const counts = { ...report.counts };
  for (const { severity } of more) counts[severity]++;
  return { ...report, problems, counts, truncated: report.truncated || truncated };
}

/** The number of findings that stop a publish: errors, unless a gate decides otherwise. */
export function blockingIn({ blocking, counts }: Pick<Report, 'blocking' | 'counts'>): number {
  return blocking ?? counts.error;
}

/** Whether a finding of a ruleset stops a publish, by its severity. */
export function blocks({ severity }: Pick<Problem, 'severity'>, blockOn: BlockOn): boolean {
  if (blockOn === 'none') return false;
  return severity === 'error' || (blockOn === 'warn' && severity === 'warning');
}

/** The findings that stop a publish, of those that the report has. */
export function blockersIn({ problems, gate }: Report): Problem[] {
  return problems.filter((problem) => {
    if (problem.ofRuleset !== true) return problem.severity === 'error';
    return problem.known !== true && blocks(problem, gate?.blockOn ?? 'error');
  });
}

/** The problem to name where there is room for one. */
export function firstBlocker(report: Report): Problem | undefined {
  return blockersIn(report)[0] ?? report.problems[0];
}

/** What to do about changes that break clients; null where none stop a publish. */
export function adviceIn({ problems }: Report): string | null {
  return problems.find(({ rule }) => rule === 'compatibility' || rule === 'impact')?.message ?? null;
}

/** What holds a version: it waits for approval, or somebody rejected its changes. Null: nothing does. */
export function holdIn({ problems }: Report): Problem | null {
  return problems.find(({ rule }) => rule === 'approval-required' || rule === 'approval-refused') ?? null;
}

/** What becomes of a document that is not published: it waits for approval, or it is rejected. */
export function outcomeIn(report: Pick<Report, 'problems'>): 'waiting' | 'rejected' {
  return report.problems.some(({ rule }) => rule === 'approval-required') ? 'waiting' : 'rejected';
}

/** Says what to do, how many findings stop a publish, and how many of them the reader does not see. */
export function describeBlocking(report: Report, what: 'document' | 'site' = 'document'): string {
  const held = holdIn(report);
  if (held !== null) return held.message;
  const count = blockingIn(report);
  const noun = count === report.counts.error ? 'error' : 'finding';
  const counted = `The ${what} has ${countText(count, noun)}${noun === 'error' ? '' : ' that its gate rejects'}.`;
  const advice = adviceIn(report);
  const text = advice === null ? counted : `${advice} ${counted}`;
  if (!report.hidden) return text;
  return `${text} Findings of a private ruleset are not shown: ${report.hidden}. Ask somebody who may read the ruleset.`;
}

/** A number with its noun: `1 error`, `3 errors`. */
export function countText(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Whether the report stops a publish. */
export function isBlocking(report: Report): boolean {
  return blockingIn(report) > 0;
}

/** A problem at an unknown place in a file. It points to the start of the file. */
export function problemAtFile(rule: string, file: string, message: string, severity: Severity = 'error'): Problem {
  return { rule, severity, message, file, pointer: '', line: 1, column: 1 };
}

/** One line for a terminal or a log: `file:line:column severity rule message`. */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.column} ${problem.severity} ${problem.rule}: ${problem.message}`;
}

function compareProblems(a: Problem, b: Problem): number {
  return (
    rank[a.severity] - rank[b.severity] ||
    compareText(a.file, b.file) ||
    a.line - b.line ||
    a.column - b.column ||
    compareText(a.rule, b.rule) ||
    compareText(a.message, b.message) ||
    compareText(a.pointer, b.pointer)
  );
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
