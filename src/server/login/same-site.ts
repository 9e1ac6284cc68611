import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { forbidden } from '../../model/errors.ts';
import { type SignedIn, basePathOf, belowBase } from '../server-context.ts';

/**
 * Whether another site may have caused the request: `Sec-Fetch-Site` is neither `same-origin` nor
 * `none` (Fetch Metadata §2.3), or, in browsers that do not send it, `Origin` is not the registry's
 * own.
 */
export function isCrossSite({ headers }: Pick<IncomingMessage, 'headers'>, url: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return headers.origin !== new URL(url).origin;
}

/**
 * Throws `forbidden` for a change that a session asks for, unless one of its own pages does: the
 * browser says so, and the request has the session's token.
 */
export function assertOwnPage(
  request: Pick<IncomingMessage, 'headers' | 'method'>,
  url: string,
  session: SignedIn,
  token: string | undefined,
): void {
  if (isSafe(request)) return;
  if (isSameSecret(token ?? '', session.token) && !isCrossSite(request, url)) return;
  throw forbidden(onlyOwnPages);
}

const onlyOwnPages = 'With a session, changes are allowed only from the pages of this registry. Use an API key.';

/** Whether two texts are the same, in the same time whatever they have in common. */
export function isSameSecret(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function isSafe({ method }: Pick<IncomingMessage, 'method'>): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method!);
}

/**
 * Throws `forbidden` for a request with cookies that another site may have caused (CSRF). Requests
 * with safe methods, with an `Authorization` header or without a cookie pass: browsers add only
 * cookies by themselves. `always`: also without a cookie, where the change is a session.
 */
export function refuseCrossSite(url: string, { always = false } = {}): RequestHandler {
  return (request, _response, next) => {
    const { authorization, cookie } = request.headers;
    const isOfBrowser = authorization === undefined && (always || cookie !== undefined);
    if (!isSafe(request) && isOfBrowser && isCrossSite(request, url)) throw forbidden(onlyOwnPages);
    next();
  };
}

const longest = 2048;

/**
 * Returns the absolute URL of a path of this registry to return to after sign-in. Null for anything
 * that might be elsewhere: paths that are not below the registry's, other origins in any form (`//host`, `/\host`, `https:`), control
 * characters, escapes that become these when decoded twice, and the sign-in pages. The URL is
 * absolute so that browsers have nothing left to resolve.
 */
export function resolveReturnTo(text: string, url: string): string | null {
  // Printable ASCII without the backslash: URL parsers drop tabs and line ends, and treat `\` as
  // `/`.
  if (text.length > longest || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null;
  const base = new URL(url);
  const target = URL.parse(text, base);
  if (target === null || target.origin !== base.origin || target.username !== '' || target.password !== '') return null;
  const { pathname } = target;
  if (text.startsWith('//') || pathname.startsWith('//') || /%(?:2f|5c|25|[01][0-9a-f]|7f)/i.test(pathname))
    return null;
  const below = belowBase(pathname, basePathOf(url));
  if (!pathname.startsWith(basePathOf(url)) || below === null || /^\/log(?:in|out)(?:\/|$)/.test(below)) return null;
  return `${base.origin}${pathname}${target.search}`;
}

/** The path of an absolute URL of this registry. */
export function pathOf(target: string, url: string): string {
  return target.slice(new URL(url).origin.length);
}

/** The path of a page for signing in that leads to this path then, if that is one to return to (`resolveReturnTo`). */
export function pageReturningTo(page: '/login' | '/account', returnTo: string, url: string): string {
  const target = resolveReturnTo(returnTo, url);
  const query = target === null ? '' : `?returnTo=${encodeURIComponent(pathOf(target, url))}`;
  return `${basePathOf(url)}${page}${query}`;
}

/**
 * Whether a host name is this machine: `localhost` and names below it (RFC 6761 §6.3), 127.0.0.0/8,
 * `[::1]`.
 */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Whether secrets may be sent to the URL: it uses https, or http on this machine. */
export function isSecureUrl(url: string): boolean {
  const parsed = URL.parse(url);
  if (parsed === null) return false;
  return parsed.protocol === 'https:' || (parsed.protocol === 'http:' && isLoopback(parsed.hostname));
}

/** Whether the URL is one of this machine only. */
export function isOnThisMachine(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && isLoopback(parsed.hostname);
}
