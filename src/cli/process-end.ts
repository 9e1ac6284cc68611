import type { ErrorCode, RegistryError } from '../model/errors.ts';
import { inspect } from 'node:util';
import type { Log } from '../registry/registry.ts';

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

/** Exits silently when the reader of the output closes the pipe (`stele log … | head`). */
export function endWithReader(): void {
  process.stdout.on('error', endOnBrokenPipe);
  process.stderr.on('error', ignoreBrokenPipe);
}

/** Keeps a long-running command going after the reader of its output has closed the pipe. */
export function outliveReader(): void {
  process.stdout.off('error', endOnBrokenPipe).on('error', ignoreBrokenPipe);
}

function endOnBrokenPipe(error: NodeJS.ErrnoException): void {
  ignoreBrokenPipe(error);
  process.exit(0);
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

const kinds = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * The last resort of a server: what nobody caught is a bug, is logged with its stack, and does not end
 * the process, because one request must not stop the registry for all. What is stored is whole at any
 * moment. Returns a function that ends this.
 */
export function outliveBugs(log: Log): () => void {
  const listeners = kinds.map((kind) => {
    const note = (error: unknown): void => log('error', 'a bug: nobody caught this', { kind, error: inspect(error) });
    process.on(kind, note);
    return () => void process.off(kind, note);
  });
  return () => {
    for (const leave of listeners) leave();
  };
}

/** The signals that stop a server in order. */
export const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
