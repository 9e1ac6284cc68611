import { isSameSecret } from './same-site.ts';
import { insteadOf, forbidden } from '../../model/errors.ts';
import type { IncomingMessage } from 'node:http';
import type { CookieOptions, Response, Request } from 'express';
import { newId, type Author, type Registry } from '../../registry/registry.ts';
import { openValue, sealValue } from '../../registry/seal.ts';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';

type Value = Record<string, unknown>;

/** Seals values: only this registry can read them, nobody can change them, and they expire. */
type Seal = ReturnType<typeof createSeal>;

/** Creates a seal with the keys of the registry's `secretKey`, or its own. Values of one purpose are not valid for another. */
export function createSeal(
  registry: Pick<Registry, 'config' | 'randomBytes' | 'ownKey' | 'expiryTime'>,
  purpose: string,
) {
  return {
    seal: (value: Value, expiresAt: Date) =>
      sealValue(registry, purpose, { value, expiresAt: expiresAt.toISOString() }),
    /** The value; null if it is invalid, expired, or sealed for another purpose. */
    open(text: string): Value | null {
      // Some changes at the end of a text mean the same bytes.
      if (Buffer.from(text, 'base64url').toString('base64url') !== text) return null;
      const opened = openValue(registry, purpose, text) as { value: Value; expiresAt: string } | undefined;
      return opened && Date.parse(opened.expiresAt) > registry.expiryTime().getTime() ? opened.value : null;
    },
  };
}

/** Longest value to read. Browsers keep no longer cookies (RFC 6265bis §5.6). */
const longestCookie = 4000;

/**
 * The cookies of a request by name (RFC 6265 §5.4). Leaves out a name that occurs twice, since at
 * least one of two `__Host-` cookies is forged, and a value that is too long.
 */
function readCookies({ headers }: Pick<IncomingMessage, 'headers'>): Map<string, string> {
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
) {
  const { name: cookieName, options } = cookie;
  return {
    /** Begins a session and replaces the browser's previous one. Throws `forbidden` if it does not fit into a cookie. */
    async begin(response: Response, user: User): Promise<void> {
      const end = new Date(registry.expiryTime().getTime() + lifetime * 1000);
      const token = Buffer.from(registry.randomBytes(18)).toString('base64url');
      const basis: SessionBasis = { id: newId(registry), token, expiresAt: end.toISOString() };
      const sealFor = (whole: User) => seal.seal({ ...whole, ...basis } as Value, end);
      let text = sealFor(user);
      if (text.length > longestCookie) text = sealFor(shorten(user));
      if (text.length > longestCookie) {
        const message = 'You are in too many mapped groups for a session. Ask the operator to map fewer groups.';
        throw forbidden(message);
      }
      response.cookie(cookieName, text, { ...options, maxAge: lifetime * 1000 });
    },
    /** The request's session; null if there is none or it is invalid, expired or ended. */
    async read(request: Pick<IncomingMessage, 'headers'>): Promise<Session<User> | null> {
      const text = readCookies(request).get(cookieName);
      const session = text === undefined ? null : (seal.open(text) as Session<User> | null);
      // A session of an older version has no token.
      if (session === null || typeof session.token !== 'string') return null;
      // If the store cannot be read, the session counts as ended.
      const ended = registry.refs.read<EndedSession>(endedRef(session.id)).catch(insteadOf('corrupt', 'damaged'));
      return (await ended) === null ? session : null;
    },
    /** Ends a session. Within 1 s every process rejects its cookie, including copies. */
    async end(response: Response, { id, expiresAt }: SessionBasis, author: Author): Promise<void> {
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

/** A sign-in that began in this browser and has not returned from the provider. */
export interface Pending {
  state: string;
  nonce: string;
  /** The PKCE code verifier (RFC 7636 §4.1). */
  verifier: string;
  /** Absolute URL to go to afterwards. */
  returnTo: string;
  /** The name of the identity provider; empty: the first. */
  provider: string;
}

/** Seconds until a sign-in expires. */
const lifetime = 600;
/** Most cookies in one browser. More would make its requests too long. */
const maxPending = 4;
const prefix = '__Host-stele-login-';

/** Pending sign-ins, each in a sealed cookie named after its start time. */
export function createPendingSignIns(registry: Pick<Registry, 'now' | 'expiryTime' | 'randomBytes'>, seal: Seal) {
  return {
    /** Creates one without storing it. */
    create: (returnTo: string, provider: string): Pending => ({
      state: `${newId(registry)}.${randomState()}`,
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      returnTo,
      provider,
    }),
    /** Stores it in a cookie of its own, so that sign-ins in several tabs do not disturb each other. */
    keep(request: Request, response: Response, pending: Pending): void {
      const older = [...readCookies(request).keys()].filter((name) => name.startsWith(prefix)).sort();
      const surplus = Math.max(0, older.length - maxPending + 1);
      for (const name of older.slice(0, surplus)) response.clearCookie(name, cookieOptions);
      const text = seal.seal({ ...pending }, new Date(registry.expiryTime().getTime() + lifetime * 1000));
      response.cookie(cookieNameOf(pending.state), text, { ...cookieOptions, maxAge: lifetime * 1000 });
    },
    /**
     * Takes out the one with this state, so that it can be used once; null if this browser has none
     * or it is too old.
     */
    take(request: Request, response: Response, state: string): Pending | null {
      const name = cookieNameOf(state);
      const text = readCookies(request).get(name);
      const pending = text === undefined ? null : (seal.open(text) as Pending | null);
      if (pending === null || !isSameSecret(pending.state, state)) return null;
      response.clearCookie(name, cookieOptions);
      return pending;
    },
  };
}

/** The part of a state before the dot is a time that sorts. */
function cookieNameOf(state: string): string {
  return prefix + state.replace(/\..*$/s, '');
}
