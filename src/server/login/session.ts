import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { newId, type Author, type Registry } from '../../registry/registry.ts';
import { cookieOptions, longestCookie, readCookies } from './cookies.ts';
import type { Seal } from './sealed-cookie.ts';

/** A signed-in person, as stored in the cookie. */
export interface Session {
  id: string;
  issuer: string;
  subject: string;
  /**
   * Their groups that the configuration mentioned at sign-in. What these may do is decided at each
   * request.
   */
  groups: string[];
  /** Ends the session at the provider too; null if it did not fit into the cookie. */
  idToken: string | null;
  /** ISO 8601: when to sign in again in any case. */
  expiresAt: string;
}

/** Value of the ref that marks a session as ended early. */
interface EndedSession {
  endedAt: string;
  expiresAt: string;
}

export interface Sessions {
  /**
   * Begins a session and replaces the browser's previous one. Throws `forbidden` if it does not fit
   * into a cookie.
   */
  begin(response: Response, user: Pick<Session, 'issuer' | 'subject' | 'groups' | 'idToken'>): Promise<void>;
  /** The request's session; null if there is none or it is invalid, expired or ended. */
  read(request: Pick<IncomingMessage, 'headers'>): Promise<Session | null>;
  /** Ends a session. Within 1 s every process rejects its cookie, including copies. */
  end(response: Response, session: Session, author: Author): Promise<void>;
}

const cookieName = '__Host-stele-session';

/** Sessions in sealed cookies, valid for `lifetime` seconds. Only early ends are stored. */
export function createSessions(
  registry: Pick<Registry, 'refs' | 'now' | 'randomBytes'>,
  seal: Seal,
  lifetime: number,
): Sessions {
  return {
    async begin(response, user) {
      const end = new Date(registry.now().getTime() + lifetime * 1000);
      const session: Session = { ...user, id: newId(registry), expiresAt: end.toISOString() };
      let text = await seal.seal({ ...session }, end);
      if (text.length > longestCookie) text = await seal.seal({ ...session, idToken: null }, end);
      if (text.length > longestCookie) {
        const message = 'You are in too many mapped groups for a session. Ask the operator to map fewer groups.';
        throw new RegistryError('forbidden', message);
      }
      response.cookie(cookieName, text, { ...cookieOptions, maxAge: lifetime * 1000 });
    },
    async read(request) {
      const text = readCookies(request).get(cookieName);
      const session = text === undefined ? null : ((await seal.open(text)) as Session | null);
      if (session === null) return null;
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
      response.clearCookie(cookieName, cookieOptions);
    },
  };
}

function endedRef(id: string): string {
  return `sessions/${id}`;
}
