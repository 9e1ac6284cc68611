import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { RegistryError } from '../../model/errors.ts';

/**
 * Whether another site may have caused the request: `Sec-Fetch-Site` is neither `same-origin` nor
 * `none` (Fetch Metadata §2.3), or, in browsers that do not send it, `Origin` is not the registry's
 * own.
 */
function isCrossSite({ headers }: Pick<IncomingMessage, 'headers'>, url: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return headers.origin !== new URL(url).origin;
}

/**
 * Throws `forbidden` for a request with cookies that another site may have caused (CSRF). Requests
 * with safe methods, with an `Authorization` header or without a cookie pass: browsers add only
 * cookies by themselves.
 */
export function refuseCrossSite(url: string): RequestHandler {
  return (request, _response, next) => {
    const { authorization, cookie } = request.headers;
    const safe = ['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (!safe && authorization === undefined && cookie !== undefined && isCrossSite(request, url)) {
      throw new RegistryError(
        'forbidden',
        'With a session, changes are allowed only from the pages of this registry. Use an API key.',
      );
    }
    next();
  };
}
