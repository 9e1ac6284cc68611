import type { IncomingMessage } from 'node:http';
import type { CookieOptions } from 'express';

/** Longest value to read. Browsers keep no longer cookies (RFC 6265bis §5.6). */
export const longestCookie = 4000;

/**
 * The cookies of a request by name (RFC 6265 §5.4). Leaves out a name that occurs twice, since at
 * least one of two `__Host-` cookies is forged, and a value that is too long.
 */
export function readCookies({ headers }: Pick<IncomingMessage, 'headers'>): Map<string, string> {
  const cookies = new Map<string, string>();
  const twice = new Set<string>();
  for (const pair of (headers.cookie ?? '').split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = pair.slice(0, equals).trim();
    if (cookies.has(name)) twice.add(name);
    cookies.set(name, pair.slice(equals + 1).trim());
  }
  for (const [name, value] of cookies) if (twice.has(name) || value.length > longestCookie) cookies.delete(name);
  return cookies;
}

/**
 * Every cookie: only for this host, only over a secure connection, not for scripts, not with
 * cross-site requests.
 */
export const cookieOptions = { secure: true, httpOnly: true, sameSite: 'lax', path: '/' } satisfies CookieOptions;
