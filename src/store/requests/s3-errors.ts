import { RegistryError } from '../../model/errors.ts';

/**
 * What a failed request says: `absent` (no such key), `taken` (a conditional write lost), `refused`
 * (not done, and a retry will not help), `busy` (not done, a retry may help), or `doubt` (it may
 * have been done, or may still be).
 */
export type Failure = 'absent' | 'taken' | 'refused' | 'busy' | 'doubt';

/** Codes of connections that were never made, so that nothing was sent. */
const notConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
/** S3 says with these that it did not process the request. */
const busy = new Set(['SlowDown', 'TooManyRequests', 'ThrottlingException', 'RequestTimeTooSkewed']);

const reasons = new Map([
  ['NoSuchBucket', 'its bucket does not exist'],
  ['AccessDenied', 'permission denied'],
  ['Forbidden', 'permission denied'],
  ['InvalidAccessKeyId', 'its access key is not known'],
  ['SignatureDoesNotMatch', 'its secret key is wrong'],
  ['ExpiredToken', 'its credentials have expired'],
  ['CredentialsProviderError', 'no credentials were found'],
  ['PermanentRedirect', 'its bucket is in another region'],
  ['AuthorizationHeaderMalformed', 'its bucket is in another region'],
  ['QuotaExceeded', 'its quota is used up'],
  ['XMinioStorageFull', 'no space is left'],
  ['NotImplemented', 'it does not support a needed feature of S3'],
  ['SlowDown', 'it is overloaded'],
]);

interface Thrown {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

/** Reports what an error of the SDK means for the request that failed. */
export function failureOf(error: unknown): Failure {
  const { name = '', code = '', $metadata } = error as Thrown;
  const status = $metadata?.httpStatusCode ?? 0;
  if (name === 'NoSuchKey') return 'absent';
  if (notConnected.has(code) || busy.has(name) || status === 429) return 'busy';
  if (status === 409 || status === 412) return 'taken';
  if (name === 'CredentialsProviderError' || status === 501 || status === 507) return 'refused';
  // 408, and 400 with the name RequestTimeout: the body did not arrive in time.
  if (status >= 300 && status < 500 && status !== 408 && name !== 'RequestTimeout') return 'refused';
  return 'doubt';
}

function reasonOf(error: unknown): string {
  const { name = '', $metadata } = error as Thrown;
  const reason = reasons.get(name);
  if (reason !== undefined) return reason;
  const status = $metadata?.httpStatusCode ?? 0;
  if (status === 403) return 'permission denied';
  if (status === 507) return 'no space is left';
  return status === 0 ? 'it does not answer' : `it answers with the status ${status}`;
}

/** Returns the error for a write that certainly did not happen. */
export function notWritten(cause: unknown): RegistryError {
  const message = `The store is not writable: ${reasonOf(cause)}; nothing was written.`;
  return new RegistryError('unavailable', message, { cause, retryAfter: 5 });
}

/** Returns the error for a write whose outcome could not be read back. */
export function notConfirmed(cause: unknown): RegistryError {
  const message = 'The store did not confirm the write, so it may be lost. Retry with the same Idempotency-Key.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 5 });
}

/** Returns the error for a failed read. */
export function notReadable(cause: unknown): RegistryError {
  return new RegistryError('unavailable', `The store cannot be read: ${reasonOf(cause)}.`, { cause, retryAfter: 5 });
}
