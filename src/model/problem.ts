/** Whether a document that its specification's schema refuses is refused (design §6). */
export type Validation = 'strict' | 'lenient';

export type Severity = 'error' | 'warning' | 'info';

/** One finding about one document: what, how bad, and where. */
export interface Problem {
  /** The rule's name: one of ours (`yaml-syntax`, `ref-outside-tree`, …), `schema`, or a linter's (`struct`, `operation-summary`). */
  rule: string;
  severity: Severity;
  message: string;
  /** Path of the file in its repository's tree, or the uploaded file's name. */
  file: string;
  /** JSON Pointer (RFC 6901) into that file; `''` is its root. */
  pointer: string;
  /** 1-based. Columns count UTF-16 code units. Line 1, column 1 where no place is known. */
  line: number;
  column: number;
}

/** What compiling a document found. The same input gives the same report, byte for byte. */
export interface Report {
  problems: Problem[];
  /** Findings by severity, over all of them, also those beyond the cap of what is kept. */
  counts: Record<Severity, number>;
  /** The most problems kept in `problems`; counts go on. */
  truncated: boolean;
}

const kept = 1000;
const rank: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/**
 * Makes a report: errors first, then by file and place; repeated findings once, as the worst that they were; at most 1,000 kept. The
 * order in which they were found does not matter.
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

/** Whether the report holds a finding that stops a publish. */
export function isBlocking(report: Report): boolean {
  return report.counts.error > 0;
}

/** A problem whose place in the file is not known: it points at the file's beginning. */
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
