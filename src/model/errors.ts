import { describeBlocking, type Problem, type Report } from './problem.ts';

/**
 * Every kind of failure. `server/error-answers.ts` maps each to an HTTP status, `cli/process-end.ts` to
 * an exit code.
 */
export type ErrorCode =
  | 'malformed' // the request, file or argument cannot be understood
  | 'unauthenticated' // a credential is needed, or the one given is not valid
  | 'forbidden' // the credential is valid and may see the thing, but not do this
  | 'not_found' // absent, or private: the caller cannot tell which
  | 'gone' // withdrawn on purpose; its label is never reused
  | 'method_not_allowed'
  | 'not_acceptable' // no representation matches the request
  | 'conflict' // the name or the label is already used
  | 'precondition_failed' // another caller changed it first (If-Match)
  | 'too_large'
  | 'unsupported_media_type'
  | 'range_not_satisfiable'
  | 'refused' // the document failed its checks; the report says why
  | 'idempotency_mismatch' // the key was already used with another body
  | 'rate_limited'
  | 'quota_exceeded' // the organization has as much as it may have
  | 'unreachable' // a repository or a registry does not answer
  | 'outcome_unknown' // a write was sent and it is not known whether it succeeded
  | 'corrupt' // stored bytes do not match their digest; they are never served
  | 'unavailable'; // shutting down, or a component does not answer

export interface ErrorDetails {
  /** Every finding, for a rejected document. */
  problems?: readonly Problem[];
  /** Seconds to wait before a retry. */
  retryAfter?: number;
  /** Additional members of the problem document. JSON values, no secrets. */
  extra?: Record<string, unknown>;
  cause?: unknown;
}

/** An expected failure, not a bug. Its message is shown to users. */
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

// One for each code that is thrown in several places: `throw malformed('…')`. What a code means
// says `problemTypes`.
const ofKind = (code: ErrorCode) => (message: string, details?: ErrorDetails) =>
  new RegistryError(code, message, details);

export const malformed = ofKind('malformed');
export const forbidden = ofKind('forbidden');
export const notFound = ofKind('not_found');
export const conflict = ofKind('conflict');
export const refused = ofKind('refused');
export const unreachable = ofKind('unreachable');
export const unavailable = ofKind('unavailable');
export const notAcceptable = ofKind('not_acceptable');
export const rateLimited = ofKind('rate_limited');
export const gone = ofKind('gone');
export const quotaExceeded = ofKind('quota_exceeded');
export const unauthenticated = ofKind('unauthenticated');
export const tooLarge = ofKind('too_large');

/** The error for one member of a body. `detail`: the rest of a sentence that begins with its pointer, without a period. */
export function invalidMember(pointer: string, detail: string, errors = [{ pointer, detail }]): RegistryError {
  return malformed(`The body is invalid: ${pointer} ${detail}.`, { extra: { errors } });
}

/** The error for a document that cannot be published, with its report. */
export function refusedBy(report: Report): RegistryError {
  const { problems, ...extra } = report;
  return refused(describeBlocking(report), { problems, extra });
}

/** Whether a caught value is a RegistryError, with this code if one is given. */
export function isRegistryError(error: unknown, code?: ErrorCode): error is RegistryError {
  return error instanceof RegistryError && (code === undefined || error.code === code);
}

/** For `catch`: what becomes of an error with this code; null: of any refusal. Others are thrown again. */
export function onRefusal<T>(code: ErrorCode | null, answer: (error: RegistryError) => T): (error: unknown) => T {
  return (error) => {
    if (isRegistryError(error, code ?? undefined)) return answer(error);
    throw error;
  };
}

/** For `catch`: the value in place of an error with this code. Any other is thrown again. */
export function insteadOf<T>(code: ErrorCode, value: T): (error: unknown) => T {
  return onRefusal(code, () => value);
}

/** Returns the system error code, such as `ENOENT`; empty for any other error. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

/** Returns a handler for `catch` that turns errors with these codes into null. */
export function ignoring(...codes: string[]): (error: unknown) => null {
  return (error) => {
    if (codes.includes(codeOf(error))) return null;
    throw error;
  };
}

/** The message of the error of this kind that a function throws. Null: it throws none. Other errors are thrown again. */
export function messageThrown(run: () => unknown, kind: new () => Error = Error): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    return error.message;
  }
}

/** Texts with commas between them; of more than ten the first three, and how many others there are. */
export function someOf(texts: readonly string[]): string {
  return texts.length > 10 ? `${texts.slice(0, 3).join(', ')} and ${texts.length - 3} more` : texts.join(', ');
}

/** ` Did you mean "x"?` if one of the names is similar, else the empty string. */
export function closest(written: string, names: Iterable<string>): string {
  const limit = Math.min(3, Math.floor(written.length / 3));
  let best: { name: string; distance: number } | null = null;
  for (const name of names) {
    if (Math.abs(name.length - written.length) > limit) continue;
    const distanceToName = distance(written.toLowerCase(), name.toLowerCase());
    if (distanceToName <= limit && (best === null || distanceToName < best.distance))
      best = { name, distance: distanceToName };
  }
  return best === null ? '' : ` Did you mean ${JSON.stringify(best.name)}?`;
}

/** The Levenshtein distance. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
