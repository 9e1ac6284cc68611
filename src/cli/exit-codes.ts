import type { ErrorCode } from '../model/errors.ts';

/** The exit codes of all commands (design §12). The documentation and the manual page list them from here. */
export const exitMeanings: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'rejected or breaking: a document, a change or what is stored did not pass; the report or the reason is printed',
  2: 'usage and files: the arguments or the configuration are wrong, or name what is not there',
  3: 'registry or key: a registry, a repository or the store does not answer, or does not take the key',
  70: 'a bug in Stele',
};

/** By the code of an error. All others: 1. */
const codes: { [code in ErrorCode | 'internal']?: number } = {
  malformed: 2,
  not_found: 2,
  unauthenticated: 3,
  forbidden: 3,
  rate_limited: 3,
  unreachable: 3,
  unavailable: 3,
  outcome_unknown: 3,
  internal: 70,
};

/** The exit code of a command that failed with this error. */
export function exitCodeOf(code: ErrorCode | 'internal'): number {
  return codes[code] ?? 1;
}
