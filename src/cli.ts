#!/usr/bin/env node
import { CommanderError } from 'commander';
import { complain } from './cli/output.ts';
import { createProgram } from './cli/program.ts';
import { isRegistryError, type ErrorCode } from './model/errors.ts';

/** Exit codes (design §12): 0 done, 1 refused, 2 wrong usage, 3 not reachable, 70 bug. Whatever is not here is 1. */
const exitCodes: Partial<Record<ErrorCode, number>> = {
  malformed: 2,
  unreachable: 3,
  unavailable: 3,
  outcome_unknown: 3,
};

try {
  await createProgram().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  // commander has told already what is wrong with the arguments; help and version are no errors.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (isRegistryError(error)) {
    complain(error.message);
    return exitCodes[error.code] ?? 1;
  }
  complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 70;
}
