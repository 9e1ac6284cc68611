import type { Change, Comparison, Verdict } from '../../model/comparison.ts';
import { httpsUrl } from '../../model/escape.ts';
import type { Exempted, Problem, Report, Severity } from '../../model/problem.ts';

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
export function findingsInComparison({ changes, reason }: Comparison, file: string): Finding[] {
  const bare = { url: null, accepted: null };
  if (reason !== null) {
    const unknown = { level: 'warning', rule: 'not-compared', message: reason } as const;
    return [{ ...unknown, file, pointer: '', place: null, ...bare }];
  }
  return changes.map((change) => ({ ...placeOf(change, file), ...bare }));
}

function placeOf({ verdict, code, message, operations, reach, pointers, place }: Change, file: string) {
  const more = reach > 1 ? ` and ${reach - 1} more` : '';
  const where = operations.length > 0 ? ` [${operations[0]}${more}]` : '';
  return {
    level: levelsOfVerdicts[verdict],
    rule: code,
    message: message + where,
    file,
    pointer: pointers.after ?? pointers.before ?? '',
    place: place ?? null,
  };
}
