import type { IncomingMessage } from 'node:http';
import type { CookieOptions } from 'express';

/** Longest value that is looked at: browsers keep no longer cookies (RFC 6265bis §5.6), so that a longer one is nobody's. */
export const longestCookie = 4000;

/**
 * The cookies of a request, by name (RFC 6265 §5.4). A name that comes twice is left out: of two `__Host-` cookies at least one is
 * forged. So is a value that is too long.
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

/** What every cookie of ours has: only for this host, only over a secure connection, for no script, and not on others' requests. */
export const cookieOptions = { secure: true, httpOnly: true, sameSite: 'lax', path: '/' } satisfies CookieOptions;
