import { readFileSync } from 'node:fs';
import {
  isRegistryError,
  type RegistryError,
  type ErrorCode,
  notFound,
  malformed,
  unavailable,
} from '../model/errors.ts';
import type { Selector } from '../model/address.ts';
import { isPublished, nameOf, type Resource } from '../model/resource.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { grantVersion, type Granted, type GrantedVersion } from '../registry/read.ts';
import type { Registry } from '../registry/registry.ts';
import { sessionOf } from './authenticate.ts';
import { basePathOf, type ServerContext } from './server-context.ts';
import { messagePage } from '../site/pages/message-pages.ts';
import type { Site } from '../site/site.ts';
import { pageHeaders, securityHeaders, type Fields } from './headers.ts';
import { prefersPage, splitTarget } from './read/read-request.ts';
import { endResponse } from './body/request-body.ts';
import { requestIdOf } from './request.ts';

/**
 * Returns the `RegistryError` for what was thrown by us or by the router of Express; null for a bug.
 */
export function asRefusal(error: unknown): RegistryError | null {
  if (isRegistryError(error)) return error;
  if (lacksDescriptors(error)) return unavailable(outOfDescriptors, { retryAfter: 1, cause: error });
  // Of a parameter in the path.
  return error instanceof URIError ? malformed(badEncoding) : null;
}

const badEncoding = 'The URL contains an invalid percent-encoding.';
const outOfDescriptors = 'The server has no file descriptors left. Try again.';

function lacksDescriptors(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EMFILE' || code === 'ENFILE' || lacksDescriptors(error.cause);
}

/** The message for everything that is absent or private, so that clients cannot tell which. */
export const nothingHere =
  'Nothing exists here, or you have no access. If you expected something, send a key (Authorization: Bearer <key>) or sign in.';

/** The error for everything that is absent or private. */
export function absent(): RegistryError {
  return notFound(nothingHere);
}

/** The value. Throws `not_found` where there is none. */
export function orAbsent<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw absent();
  return value;
}

/** Why a readable resource does not have such a version. */
export function explainAbsence(resource: Resource, selector: Selector): string {
  const name = nameOf(resource);
  if (selector.kind === 'latest') {
    if (resource.versions.length === 0) return `${name} has no versions yet.`;
    if (!isPublished(resource)) return `All versions of ${name} were withdrawn.`;
    return `No version of ${name} is the latest. Request a version; ${name}/versions lists them.`;
  }
  return `${name} has no version ${selector.kind === 'digest' ? selector.digest : selector.version}.`;
}

/** The version that a selector means. Throws `not_found`, and says why there is none. */
export function grantSelected(granted: Granted, selector: Selector): GrantedVersion {
  const selected = grantVersion(granted, selector);
  if (selected === null) throw notFound(explainAbsence(granted.resource, selector));
  return selected.granted;
}

/** An error code, or `internal` for a bug. */
export type ProblemCode = ErrorCode | 'internal';

/** Status (RFC 9110 §15), title and explanation of every code. The only such table, which is data: `content/problems.json`. */
export const problemTypes = JSON.parse(
  readFileSync(new URL('../../content/problems.json', import.meta.url), 'utf8'),
) as Readonly<Record<ProblemCode, { status: number; title: string; meaning: string }>>;

/** Reports whether the text is a code that a problem type can end in. */
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

/**
 * Sends an error as `application/problem+json`, or as a page to a browser. An error that is not a
 * `RegistryError` is logged in full and sent as `internal`, without its message.
 */
export function sendProblem(
  { registry, url, login, site }: Pick<ServerContext, 'registry' | 'url' | 'login' | 'site'>,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const requestId = requestIdOf(request);
  const isSignedIn = sessionOf(request) !== null;
  const refusal = isSignedIn ? forPerson(asRefusal(error)) : asRefusal(error);
  const { path } = splitTarget(request.url!);
  logFailure(registry, request, refusal, error);
  const mayNeedKey = refusal?.code === 'not_found' || refusal?.code === 'unauthenticated';
  // Where people sign in with a key, the message already says to send one.
  const signIn =
    mayNeedKey && !isSignedIn && !login?.takesKeys ? (login?.signInUrl(basePathOf(url) + request.url!) ?? null) : null;
  const code = refusal?.code ?? 'internal';
  const { status, title, meaning } = problemTypes[code];
  const standard = {
    type: `${url}/problems/${code}`,
    title,
    status,
    detail: refusal?.message ?? meaning,
    instance: `urn:uuid:${requestId}`,
  };
  const { problems = [], extra = {} } = refusal ?? {};
  const hints = { ...(problems.length > 0 && { problems }), ...(signIn !== null && { signIn }) };
  const document: ProblemDocument = { ...standard, ...hints, ...extra, ...standard };
  // The management API never sends pages, whatever the client accepts.
  const wantsPage = site !== undefined && !/^\/v1(?:\/|$)/.test(path) && prefersPage(request.headers.accept);
  const page = wantsPage ? refusalPage({ registry, site }, document, signIn) : null;
  const body = Buffer.from(page ?? JSON.stringify(document));
  // RFC 9110 §11.6.1 requires the challenge with 401. Private and absent are the same 404, and
  // either may need a credential.
  const fields = {
    'Content-Type': page === null ? 'application/problem+json' : 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    ...securityHeaders,
    ...(mayNeedKey && { 'WWW-Authenticate': 'Bearer realm="stele"' }),
    ...retryFields(refusal),
    ...(page !== null && pageHeaders()),
  };
  sendError(request, response, status, fields, body);
}

/** Sends an error; where an answer has begun, its connection ends. */
export function sendError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  fields: Fields,
  body: Buffer,
): void {
  if (response.headersSent) return void response.destroy();
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  response.setHeader('Content-Length', body.byteLength);
  response.statusCode = status;
  endResponse(request, response, request.method === 'HEAD' ? undefined : body);
}

/** Seconds after which an error may be over, as a header. */
export function retryFields(refusal: RegistryError | null): Fields {
  return refusal?.retryAfter === undefined ? {} : { 'Retry-After': String(Math.ceil(refusal.retryAfter)) };
}

/** Tells people who are signed in neither to sign in nor to send a key. */
function forPerson(refusal: RegistryError | null): RegistryError | null {
  if (refusal?.code !== 'not_found' || refusal.message !== nothingHere) return refusal;
  return notFound('Nothing exists here, or you have no access.');
}

/** Logs an error in full if the server is to blame for it. A server that is not ready or overloaded takes one line. */
export function logFailure(
  { log }: Pick<Registry, 'log'>,
  request: IncomingMessage,
  refusal: RegistryError | null,
  error: unknown,
): void {
  if (refusal !== null && problemTypes[refusal.code].status < 500) return;
  const isBusy = refusal?.code === 'unavailable' && refusal.cause === undefined;
  log(isBusy ? 'warn' : 'error', 'request failed', {
    request: requestIdOf(request),
    method: request.method,
    path: splitTarget(request.url!).path,
    error: isBusy ? refusal.message : inspect(error),
  });
}

/**
 * The error page, the same for a hidden resource and an absent one; null when an operator's template fails to render, so
 * that JSON is sent.
 */
function refusalPage(
  { registry, site }: { registry: Registry; site: Site },
  document: ProblemDocument,
  signIn: string | null,
): string | null {
  const { title, detail, status, type, instance, resource, versions } = document;
  const { links } = site;
  const actions = [{ text: 'Go to the start page', href: links.path('/') }];
  if (signIn !== null) actions.unshift({ text: 'Sign in', href: signIn });
  if (typeof resource === 'string') actions.unshift({ text: 'All versions', href: `${resource}/versions` });
  const named = Array.isArray(versions) ? versions : [];
  try {
    return messagePage(site, {
      title,
      text: detail,
      status,
      actions,
      about: links.path(type.slice(site.url.length)),
      versions: named.map((label) => ({ text: label, href: `${String(resource)}@${label}` })),
      ...(status >= 500 && { reference: instance }),
    });
  } catch (error) {
    registry.log('error', 'template failed', { error: inspect(error) });
    return null;
  }
}
