import type { ProblemKind } from '../pages/message-pages.ts';

/** A section per kind of problem, named by its code. */
export function describeProblems(kinds: readonly ProblemKind[]): string {
  return kinds.map(({ code, status, title, meaning }) => `### ${code}\n\n${status}. ${title}. ${meaning}`).join('\n\n');
}
