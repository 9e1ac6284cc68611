import type { ErrorCode, RegistryError } from '../model/errors.ts';

/** The exit codes of all commands (design §12). The documentation and the manual page list them from here. */
export const exitMeanings: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'rejected or breaking: a document, a change or what is stored did not pass; the report or the reason is printed',
  2: 'usage and files: the arguments or the configuration are wrong, or name what is not there',
  3: 'registry or key: a registry, a repository or the store does not answer, or does not take the key',
  70: 'a bug in Stele',
  75: 'could not be checked: reading the document took too long here, or its process was lost; try again',
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

/** The exit code of a command that failed with an error of this code. `extra`: of the error. */
export function exitCodeOf(code: ErrorCode | 'internal', extra: RegistryError['extra'] = {}): number {
  return extra['sandbox'] === 'lost' ? notChecked : (codes[code] ?? 1);
}

/** The exit code where a document could not be checked (`isSandboxLost`). Also where a registry says so. */
export const notChecked = 75;
