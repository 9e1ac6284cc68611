import type { IncomingMessage } from 'node:http';
import type { CookieOptions, Response } from 'express';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { newId, type Author, type Registry } from '../../registry/registry.ts';
import { cookieOptions, longestCookie, readCookies } from './cookies.ts';
import type { Seal } from './sealed-cookie.ts';

/** What every session has, as stored in its cookie. */
interface SessionBasis {
  id: string;
  /** Random. `SignedIn.token` */
  token: string;
  /** ISO 8601: when to sign in again in any case. */
  expiresAt: string;
}

/** A session of a `User`. */
export type Session<User> = User & SessionBasis;

/** Value of the record that marks a session as ended early. */
interface EndedSession {
  endedAt: string;
  expiresAt: string;
}

export interface Sessions<User extends object> {
  /**
   * Begins a session and replaces the browser's previous one. Throws `forbidden` if it does not fit
   * into a cookie.
   */
  begin(response: Response, user: User): Promise<void>;
  /** The request's session; null if there is none or it is invalid, expired or ended. */
  read(request: Pick<IncomingMessage, 'headers'>): Promise<Session<User> | null>;
  /** Ends a session. Within 1 s every process rejects its cookie, including copies. */
  end(response: Response, session: Session<User>, author: Author): Promise<void>;
}

/** The cookie of sessions. */
export interface SessionCookie {
  name: string;
  options: CookieOptions;
}

const standard: SessionCookie = { name: '__Host-stele-session', options: cookieOptions };

/**
 * Sessions in sealed cookies, valid for `lifetime` seconds. Only early ends are stored. `shorten`
 * leaves out of a user what a cookie need not have.
 */
export function createSessions<User extends object>(
  registry: Pick<Registry, 'refs' | 'now' | 'expiryTime' | 'randomBytes'>,
  seal: Seal,
  lifetime: number,
  { shorten = (user) => user, cookie = standard }: { shorten?: (user: User) => User; cookie?: SessionCookie } = {},
): Sessions<User> {
  const { name: cookieName, options } = cookie;
  return {
    async begin(response, user) {
      const end = new Date(registry.expiryTime().getTime() + lifetime * 1000);
      const token = Buffer.from(registry.randomBytes(18)).toString('base64url');
      const basis: SessionBasis = { id: newId(registry), token, expiresAt: end.toISOString() };
      const sealFor = (whole: User) => seal.seal({ ...whole, ...basis } as Record<string, unknown>, end);
      let text = await sealFor(user);
      if (text.length > longestCookie) text = await sealFor(shorten(user));
      if (text.length > longestCookie) {
        const message = 'You are in too many mapped groups for a session. Ask the operator to map fewer groups.';
        throw new RegistryError('forbidden', message);
      }
      response.cookie(cookieName, text, { ...options, maxAge: lifetime * 1000 });
    },
    async read(request) {
      const text = readCookies(request).get(cookieName);
      const session = text === undefined ? null : ((await seal.open(text)) as Session<User> | null);
      // A session of an older version has no token.
      if (session === null || typeof session.token !== 'string') return null;
      // If the store cannot be read, the session counts as ended.
      const ended = registry.refs.read<EndedSession>(endedRef(session.id)).catch((error: unknown) => {
        if (isRegistryError(error, 'corrupt')) return 'damaged';
        throw error;
      });
      return (await ended) === null ? session : null;
    },
    async end(response, { id, expiresAt }, author) {
      await registry.refs.update<EndedSession>(endedRef(id), (current) => {
        if (current !== null) return null;
        const value = { endedAt: registry.now().toISOString(), expiresAt };
        return { value, change: { ...author, action: 'sign out' } };
      });
      response.clearCookie(cookieName, options);
    },
  };
}

function endedRef(id: string): string {
  return `sessions/${id}`;
}
