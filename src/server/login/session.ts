import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { newId, type Author, type Registry } from '../../registry/registry.ts';
import { cookieOptions, longestCookie, readCookies } from './cookies.ts';
import type { Seal } from './sealed-cookie.ts';

/** Somebody who signed in, as their cookie says. */
export interface Session {
  id: string;
  issuer: string;
  subject: string;
  /** Those of their groups that the configuration knew when they signed in. What these may do is decided anew at each request. */
  groups: string[];
  /** What proves the session to the provider when it is to end there; null where it did not fit into the cookie. */
  idToken: string | null;
  /** ISO 8601: when to sign in again, whatever happens. */
  expiresAt: string;
}

/** The value of the ref that says that a session was ended before its time. */
interface EndedSession {
  endedAt: string;
  expiresAt: string;
}

export interface Sessions {
  /** Begins a session, in place of whatever session the browser had. Refuses with `forbidden` one that no cookie can hold. */
  begin(response: Response, user: Pick<Session, 'issuer' | 'subject' | 'groups' | 'idToken'>): Promise<void>;
  /** The request's session; null when it has none, or one that is over, was ended, or is not ours. */
  read(request: Pick<IncomingMessage, 'headers'>): Promise<Session | null>;
  /** Ends a session for good: within 1 s no process takes its cookie any more, wherever a copy of it is. */
  end(response: Response, session: Session, author: Author): Promise<void>;
}

const cookieName = '__Host-stele-session';

/** Sessions in sealed cookies that live `lifetime` seconds. Nothing of them is stored but that they were ended. */
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
      // Where it cannot be read whether it was ended, it was.
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
