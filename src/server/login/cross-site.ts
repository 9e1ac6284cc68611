import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { RegistryError } from '../../model/errors.ts';
import type { SignedIn } from '../server-context.ts';

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
  const given = Buffer.from(token ?? '');
  const expected = Buffer.from(session.token);
  const isProven = given.length === expected.length && timingSafeEqual(given, expected);
  if (isProven && !isCrossSite(request, url)) return;
  throw new RegistryError(
    'forbidden',
    'With a session, changes are allowed only from the pages of this registry. Use an API key.',
  );
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
    if (
      !isSafe(request) &&
      authorization === undefined &&
      (always || cookie !== undefined) &&
      isCrossSite(request, url)
    ) {
      throw new RegistryError(
        'forbidden',
        'With a session, changes are allowed only from the pages of this registry. Use an API key.',
      );
    }
    next();
  };
}
