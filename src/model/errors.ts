import type { Problem } from './problem.ts';

/** Every way in which Stele refuses. Closed: `server/error-answers.ts` and `cli.ts` map each to a status and an exit code. */
export type ErrorCode =
  | 'malformed' // the request, file or argument cannot be understood
  | 'unauthenticated' // a credential is needed, or the one given is not valid
  | 'forbidden' // the credential is valid and may see the thing, but not do this
  | 'not_found' // absent, or private to someone else: nobody can tell which
  | 'gone' // withdrawn on purpose; its label is never used again
  | 'method_not_allowed'
  | 'not_acceptable' // no representation fits what was asked for
  | 'conflict' // the name or the label is taken by something else
  | 'precondition_failed' // someone else changed it first (If-Match)
  | 'too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'refused' // the document was read and did not pass; the report says why
  | 'idempotency_mismatch' // the key was used with another body
  | 'rate_limited'
  | 'unreachable' // a repository or a registry does not answer
  | 'outcome_unknown' // a write was sent and its fate cannot be read back
  | 'corrupt' // stored bytes do not match their digest; they are not served
  | 'unavailable'; // shutting down, or a part that is needed does not answer

export interface ErrorDetails {
  /** For refused documents: every finding. */
  problems?: readonly Problem[];
  /** Seconds after which to try again. */
  retryAfter?: number;
  /** More members for the problem document: JSON values that hold no secret. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** A refusal: expected, explained to the caller, and never a bug. Its message is shown to users. */
export class RegistryError extends Error {
  readonly code: ErrorCode;
  readonly problems: readonly Problem[];
  readonly retryAfter: number | undefined;
  readonly extra: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'RegistryError';
    this.code = code;
    this.problems = details.problems ?? [];
    this.retryAfter = details.retryAfter;
    this.extra = details.extra ?? {};
  }
}

/** Whether a caught value is a refusal of this code (of any code, when none is named). */
export function isRegistryError(error: unknown, code?: ErrorCode): error is RegistryError {
  return error instanceof RegistryError && (code === undefined || error.code === code);
}
