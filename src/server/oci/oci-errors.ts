import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRegistryError, RegistryError, type ErrorCode } from '../../model/errors.ts';
import { endResponse } from '../body/request-body.ts';
import { logFailure, problemTypes } from '../error-answers.ts';
import { securityHeaders, type Fields } from '../headers.ts';
import { asRefusal } from '../refusals.ts';
import { requestIdOf } from '../request-id.ts';
import type { ServerContext } from '../server-context.ts';

/** Error codes of the OCI distribution specification. */
type OciCode =
  | 'NAME_UNKNOWN'
  | 'MANIFEST_UNKNOWN'
  | 'BLOB_UNKNOWN'
  | 'DIGEST_INVALID'
  | 'UNAUTHORIZED'
  | 'DENIED'
  | 'UNSUPPORTED'
  | 'TOOMANYREQUESTS';

const codes: Partial<Record<ErrorCode, OciCode>> = {
  unauthenticated: 'UNAUTHORIZED',
  forbidden: 'DENIED',
  not_found: 'NAME_UNKNOWN',
  gone: 'MANIFEST_UNKNOWN',
  rate_limited: 'TOOMANYREQUESTS',
};

/** An error with a code of the OCI distribution specification of its own. */
export function ociError(code: ErrorCode, oci: OciCode, message: string): RegistryError {
  return new RegistryError(code, message, { extra: { oci } });
}

/** Headers of every answer. */
export const ociHeaders: Fields = { 'Docker-Distribution-Api-Version': 'registry/2.0' };

/** Tells clients how to send a key: as the password, with any name. */
export const challenge: Fields = { 'WWW-Authenticate': 'Basic realm="stele"' };

/** Sends an error in the form of the OCI distribution specification. A bug is logged and sent without its message. */
export function sendOciError(
  { registry }: Pick<ServerContext, 'registry'>,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const refusal = asRefusal(error);
  logFailure(registry, request, refusal, error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, meaning } = problemTypes[refusal?.code ?? 'internal'];
  const code = refusal?.extra['oci'] ?? (refusal === null ? 'UNKNOWN' : (codes[refusal.code] ?? 'UNSUPPORTED'));
  const body = Buffer.from(JSON.stringify({ errors: [{ code, message: refusal?.message ?? meaning }] }));
  const mayNeedKey = isRegistryError(refusal, 'unauthenticated') || isRegistryError(refusal, 'not_found');
  const fields: Fields = {
    ...ociHeaders,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Request-Id': requestIdOf(request),
    ...securityHeaders,
    ...(mayNeedKey && challenge),
    ...(refusal?.retryAfter !== undefined && { 'Retry-After': String(Math.ceil(refusal.retryAfter)) }),
    'Content-Length': String(body.byteLength),
  };
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  response.statusCode = status;
  endResponse(request, response, request.method === 'HEAD' ? undefined : body);
}
