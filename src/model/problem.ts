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
}

/** The findings for a document. The same input gives the same report, byte for byte. */
export interface Report {
  problems: Problem[];
  /**
   * Number of findings by severity, including those not kept in `problems`. Each check stops after
   * very many.
   */
  counts: Record<Severity, number>;
  /** Whether `problems` was cut at its limit. */
  truncated: boolean;
}

const kept = 1000;
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
  return { problems: unique.slice(0, kept), counts, truncated: unique.length > kept };
}

/** Whether the report contains an error, which stops a publish. */
export function isBlocking(report: Report): boolean {
  return report.counts.error > 0;
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
