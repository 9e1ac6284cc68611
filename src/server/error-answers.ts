import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import type { ErrorRequestHandler } from 'express';
import { isRegistryError, RegistryError, type ErrorCode } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import type { ServerContext } from './server-context.ts';
import { messagePage } from '../site/pages/message-pages.ts';
import type { Site } from '../site/site.ts';
import { pageHeaders, securityHeaders, type Fields } from './headers.ts';
import { prefersPage } from './read/negotiate.ts';
import { splitTarget } from './read/read-request.ts';
import { endResponse } from './body/request-body.ts';
import { requestIdOf } from './request-id.ts';

/** A code of a refusal, or `internal` for a bug. */
export type ProblemCode = ErrorCode | 'internal';

/** The one table: each code's status (RFC 9110 §15), its title, and what somebody who meets it should know. */
export const problemTypes: Readonly<Record<ProblemCode, { status: number; title: string; meaning: string }>> = {
  malformed: {
    status: 400,
    title: 'The request cannot be understood',
    meaning: 'The path, a parameter, a header or the body is not of the form it must have. The detail says which.',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid credential is needed',
    meaning:
      'No credential was sent where one is needed, or the one sent is malformed, unknown, expired or revoked. Send `Authorization: Bearer <key>`, Basic with the key as password, or sign in.',
  },
  forbidden: {
    status: 403,
    title: 'Your credential does not allow this',
    meaning: 'You may see the thing, but the credential lacks the scope for what was asked.',
  },
  not_found: {
    status: 404,
    title: 'Nothing here that you may read',
    meaning:
      'There is nothing at this address, or you may not read it: the two look the same on purpose. A key or signing in may help.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method does not apply here',
    meaning: 'The `Allow` header of the answer lists the methods that do.',
  },
  not_acceptable: {
    status: 406,
    title: 'There is no such representation',
    meaning:
      'No representation fits `Accept`, `Accept-Encoding` or `format`. The member `available` lists those that there are.',
  },
  conflict: {
    status: 409,
    title: 'The state of things does not allow it',
    meaning:
      'The slug or the label belongs to something else already, or something else is in the way; the detail says what. Versions never change: choose another label.',
  },
  gone: {
    status: 410,
    title: 'The version was withdrawn',
    meaning: 'It was published and then withdrawn on purpose. Its bytes are deleted and its label is never used again.',
  },
  precondition_failed: {
    status: 412,
    title: 'It has changed since you read it',
    meaning: 'The condition of the request (`If-Match`) does not hold. Read again and decide again.',
  },
  too_large: {
    status: 413,
    title: 'Too large',
    meaning: 'The request, or a document in it, is over a limit. The detail says which; GET /v1/limits lists them.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The media type is not supported',
    meaning: 'The body has another `Content-Type`, charset or `Content-Encoding` than the operation takes.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'The range lies outside the document',
    meaning: '`Content-Range` tells how many bytes there are.',
  },
  refused: {
    status: 422,
    title: 'The document was refused',
    meaning: 'It was read and did not pass. The member `problems` lists every finding with its place.',
  },
  idempotency_mismatch: {
    status: 422,
    title: 'The idempotency key was used with another request',
    meaning: 'An `Idempotency-Key` names one request. Use a new one for a request with another body.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many requests',
    meaning: 'Wait for the seconds that `Retry-After` names.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong here',
    meaning: 'A bug. It was logged under the request id in `instance`; tell that to whoever runs this registry.',
  },
  corrupt: {
    status: 500,
    title: 'Stored bytes do not match their digest',
    meaning:
      'The store lost or changed what was written. Such bytes are never served. Whoever runs this registry should run `stele fsck`.',
  },
  unreachable: {
    status: 502,
    title: 'A repository or registry does not answer',
    meaning: 'Something that this registry had to ask was unreachable, too slow, or refused its credential.',
  },
  outcome_unknown: {
    status: 503,
    title: 'It is not known whether the change was made',
    meaning:
      'The change may have been made: the disk did not confirm a write, or what belongs to a change failed after it was made. Repeat the request with the same `Idempotency-Key`, or read the thing.',
  },
  unavailable: {
    status: 503,
    title: 'Not available at the moment',
    meaning: 'The registry is starting or shutting down, or a part of it is missing. Nothing was changed.',
  },
};

/** Whether the text is a code that a problem's type can end in. */
export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(problemTypes, text);
}

/** A problem document (RFC 9457 §3). */
export interface ProblemDocument {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  [extension: string]: unknown;
}

/** What a refusal looks like to a client: the status, the header fields that go with it, and the problem document. */
function describeRefusal(
  url: string,
  requestId: string,
  error: RegistryError | null,
  signIn: string | null = null,
): { status: number; headers: Fields; document: ProblemDocument } {
  const code = error?.code ?? 'internal';
  const { status, title, meaning } = problemTypes[code];
  // RFC 9110 §11.6.1 requires the challenge with 401. Private and absent are the same 404, and either may need a credential.
  const mayNeedKey = code === 'unauthenticated' || code === 'not_found';
  const headers = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    ...securityHeaders,
    ...(mayNeedKey && { 'WWW-Authenticate': 'Bearer realm="stele"' }),
    ...(error?.retryAfter !== undefined && { 'Retry-After': String(Math.ceil(error.retryAfter)) }),
  };
  const standard = {
    type: `${url}/problems/${code}`,
    title,
    status,
    detail: error?.message ?? meaning,
    instance: `urn:uuid:${requestId}`,
  };
  const problems = error && error.problems.length > 0 ? { problems: error.problems } : {};
  const hint = signIn === null ? {} : { signIn };
  return { status, headers, document: { ...standard, ...problems, ...hint, ...error?.extra, ...standard } };
}

/** Sends a refusal as `application/problem+json`. What is no refusal is logged whole and told as `internal`, without a word of it. */
export function sendProblem(
  { registry, url, login, site }: Pick<ServerContext, 'registry' | 'url' | 'login' | 'site'>,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const requestId = requestIdOf(request);
  const refusal = asRefusal(error);
  const { path } = splitTarget(request.url!);
  if (refusal === null || problemTypes[refusal.code].status >= 500) {
    const told = { request: requestId, method: request.method, path, error: inspect(error) };
    registry.log('error', 'request failed', told);
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const mayHelp = refusal?.code === 'not_found' || refusal?.code === 'unauthenticated';
  const signIn = mayHelp ? (login?.signInUrl(request.url!) ?? null) : null;
  const { status, headers, document } = describeRefusal(url, requestId, refusal, signIn);
  // The management API answers programs alone, whatever they say they accept.
  const wantsPage = site !== undefined && !/^\/v1(?:\/|$)/.test(path) && prefersPage(request.headers.accept);
  const page = wantsPage ? refusalPage({ registry, site }, document, signIn) : null;
  const body = Buffer.from(page ?? JSON.stringify(document));
  const own: Fields = page === null ? {} : { 'Content-Type': 'text/html; charset=utf-8', ...pageHeaders() };
  for (const [name, value] of Object.entries({ ...headers, ...own })) response.setHeader(name, value);
  response.setHeader('Content-Length', body.byteLength);
  response.statusCode = status;
  endResponse(request, response, request.method === 'HEAD' ? undefined : body);
}

/** A refusal as people read it; null where an operator's template cannot be rendered, which is no reason to say nothing. */
function refusalPage(
  { registry, site }: { registry: Registry; site: Site },
  document: ProblemDocument,
  signIn: string | null,
): string | null {
  try {
    return renderRefusal(site, document, signIn);
  } catch (error) {
    registry.log('error', 'template failed', { error: inspect(error) });
    return null;
  }
}

/** What may not be read and what is absent are the same page. */
function renderRefusal(site: Site, document: ProblemDocument, signIn: string | null): string {
  const { title, detail, status, type, instance, resource } = document;
  const { links } = site;
  const actions = [{ text: 'All that you may read', href: links.path('/') }];
  if (signIn !== null) actions.unshift({ text: 'Sign in', href: links.path(signIn) });
  if (typeof resource === 'string') actions.unshift({ text: 'The versions that there are', href: resource });
  return messagePage(site, {
    title,
    text: detail,
    status,
    actions,
    about: links.path(type.slice(site.url.length)),
    ...(status >= 500 && { reference: instance }),
  });
}

/** The last handler of the application. */
export function createErrorHandler(
  context: Pick<ServerContext, 'registry' | 'url' | 'login' | 'site'>,
): ErrorRequestHandler {
  return (error, request, response, _next) => sendProblem(context, request, response, error);
}

const codesByStatus = new Map<number, ErrorCode>([
  [400, 'malformed'],
  [413, 'too_large'],
  [414, 'malformed'],
  [415, 'unsupported_media_type'],
]);

/** The refusal in what was thrown: ours, or what Express and its body parsers say about a request. Null for anything else. */
function asRefusal(error: unknown): RegistryError | null {
  if (isRegistryError(error)) return error;
  if (lacksDescriptors(error))
    return new RegistryError('unavailable', outOfDescriptors, { retryAfter: 1, cause: error });
  if (!(error instanceof Error) || !('status' in error)) return null;
  const code = codesByStatus.get(Number(error.status));
  return code === undefined ? null : new RegistryError(code, explain(error, code));
}

const outOfDescriptors = 'The server has no file descriptors left. Try again.';

/** Whether this process, or the whole machine, has as many files open as it may. */
function lacksDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' || lacksDescriptors(error.cause);
}

const explanations: Partial<Record<ErrorCode, string>> = {
  malformed: 'The request cannot be understood.',
  too_large: 'The body is over the limit.',
  unsupported_media_type: 'The body has a content type, charset or coding that is not taken here.',
};

function explain(error: Error, code: ErrorCode): string {
  if ('type' in error && error.type === 'entity.parse.failed') return 'The body is not valid JSON.';
  if (error instanceof URIError) return 'The URL is not properly percent-encoded.';
  return explanations[code]!;
}
