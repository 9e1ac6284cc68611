import { timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { newId, type Registry } from '../../registry/registry.ts';
import { cookieOptions, readCookies } from './cookies.ts';
import type { Seal } from './sealed-cookie.ts';

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

export interface PendingSignIns {
  /** Creates one without storing it. */
  create(returnTo: string, provider: string): Pending;
  /**
   * Stores it in a cookie of its own, so that sign-ins in several tabs do not disturb each other.
   */
  keep(request: Request, response: Response, pending: Pending): Promise<void>;
  /**
   * Takes out the one with this state, so that it can be used once; null if this browser has none
   * or it is too old.
   */
  take(request: Request, response: Response, state: string): Promise<Pending | null>;
}

/** Seconds until a sign-in expires. */
const lifetime = 600;
/** Most cookies in one browser. More would make its requests too long. */
const maxPending = 4;
const prefix = '__Host-stele-login-';

/** Pending sign-ins, each in a sealed cookie named after its start time. */
export function createPendingSignIns(
  registry: Pick<Registry, 'now' | 'expiryTime' | 'randomBytes'>,
  seal: Seal,
): PendingSignIns {
  return {
    create: (returnTo, provider) => ({
      state: `${newId(registry)}.${randomState()}`,
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      returnTo,
      provider,
    }),
    async keep(request, response, pending) {
      const older = [...readCookies(request).keys()].filter((name) => name.startsWith(prefix)).sort();
      const surplus = Math.max(0, older.length - maxPending + 1);
      for (const name of older.slice(0, surplus)) response.clearCookie(name, cookieOptions);
      const text = await seal.seal({ ...pending }, new Date(registry.expiryTime().getTime() + lifetime * 1000));
      response.cookie(cookieNameOf(pending.state), text, { ...cookieOptions, maxAge: lifetime * 1000 });
    },
    async take(request, response, state) {
      const name = cookieNameOf(state);
      const text = readCookies(request).get(name);
      const pending = text === undefined ? null : ((await seal.open(text)) as Pending | null);
      if (pending === null || !isEqual(pending.state, state)) return null;
      response.clearCookie(name, cookieOptions);
      return pending;
    },
  };
}

/** The part of a state before the dot is a time that sorts. */
function cookieNameOf(state: string): string {
  return prefix + state.replace(/\..*$/s, '');
}

function isEqual(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
