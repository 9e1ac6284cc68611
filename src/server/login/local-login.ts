import { Router, type Request, type Response } from 'express';
import { formatPrincipal, type Principal } from '../../model/access.ts';
import { malformed } from '../../model/errors.ts';
import { isUsable, keyRef, type Key } from '../../model/key.ts';
import { authenticateKey } from '../../registry/keys/keys.ts';
import { newId, type Registry } from '../../registry/registry.ts';
import { isSigned, signText } from '../../registry/seal.ts';
import { limitAddresses, type Peers } from '../allowance.ts';
import type { Login } from '../server-context.ts';
import { readForm } from '../body/read-body.ts';
import { cookieOptions, createSeal, createSessions, type Session, type SessionCookie } from './session.ts';
import { refuseCrossSite, resolveReturnTo, isSecureUrl, pageReturningTo, pathOf } from './same-site.ts';

/** Who signed in without an identity provider: the holder of a key, or the operator (null). */
interface Holder {
  key: string | null;
}

/** Seconds of a session, and for which a link signs in. */
const lifetime = 8 * 60 * 60;
const linkLifetime = 24 * 60 * 60;
/** Bytes of the form. A key is short. */
const formBytes = 10_000;

/**
 * Sign-in with a key, for a registry without an identity provider: the key is exchanged for a
 * sealed cookie, and revoking it ends the session. Null where browsers would send the key over an
 * open network: the URL is neither https nor on this machine.
 */
export function createLocalLogin(registry: Registry, url: string, peers?: Peers): Login | null {
  if (!isSecureUrl(url)) return null;
  const { config, now, expiryTime } = registry;
  const sessions = createSessions<Holder>(registry, createSeal(registry, `session ${url}`), lifetime, {
    cookie: cookieFor(url),
  });
  const message = 'Too many invalid keys from your address. Wait, then try again.';
  const countFailure = limitAddresses('sign-in failures', config.rateLimit.failures, message, { registry, peers });

  async function principalOf({
    key: id,
  }: Session<Holder>): Promise<{ principal: Exclude<Principal, { kind: 'anonymous' }>; name: string } | null> {
    if (id === null) return { principal: { kind: 'operator', id: 'local' }, name: 'Operator of this machine' };
    const key = (await registry.refs.read<Key>(keyRef(id)))?.value ?? null;
    if (key === null || key.org === null || !isUsable(key, expiryTime)) return null;
    const { org, scopes, resources } = key;
    return { principal: { kind: 'key', id, org, scopes, resources }, name: `Key ${key.name}` };
  }

  async function takeKey(request: Request, response: Response): Promise<void> {
    const form = await readForm(request, response, formBytes);
    const text = form.get('key');
    const asked = form.get('returnTo');
    const returnTo = (typeof asked === 'string' && resolveReturnTo(asked, url)) || `${url}/console`;
    const principal = typeof text === 'string' ? await authenticateKey(registry, text.trim()) : null;
    if (principal === null) {
      countFailure(request);
      const path = pathOf(returnTo, url);
      return response.redirect(303, `${url}/account?failed=key&returnTo=${encodeURIComponent(path)}`);
    }
    await sessions.begin(response, { key: principal.id });
    registry.log('info', 'signed in', { key: principal.id });
    response.redirect(303, returnTo);
  }

  async function takeLink(request: Request, response: Response): Promise<void> {
    const token = (await readForm(request, response, formBytes)).get('token');
    const link = typeof token === 'string' ? linkIn(registry, url, token) : null;
    if (link === null || !(await use(link))) {
      throw malformed(
        'This link has expired or was used. Sign in with a key: `stele keys create` makes one, and `stele operator link` a new link.',
      );
    }
    await sessions.begin(response, { key: null });
    registry.log('info', 'signed in', { operator: 'local' });
    response.redirect(303, `${url}/console`);
  }

  /** Whether this is the first use of the link, of all processes. */
  async function use(id: string): Promise<boolean> {
    let isFirst = false;
    await registry.refs.update<{ endedAt: string }>(`sessions/${id}`, (current) => {
      isFirst = current === null;
      if (!isFirst) return null;
      const change = { actor: 'operator:local', origin: null, action: 'sign in' };
      return { value: { endedAt: now().toISOString() }, change };
    });
    return isFirst;
  }

  async function leave(request: Request, response: Response): Promise<void> {
    const session = await sessions.read(request);
    const principal = session && (await principalOf(session));
    if (session !== null) {
      const actor = principal === null ? 'anonymous' : formatPrincipal(principal.principal);
      await sessions.end(response, session, { actor, origin: request.ip ?? null });
    }
    response.redirect(303, `${url}/`);
  }

  const router = Router({ caseSensitive: true, strict: true });
  router.use(['/login', '/login/link', '/logout'], (_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.get('/login', (request, response) => {
    const { returnTo } = request.query;
    const asked = typeof returnTo === 'string' ? `?returnTo=${encodeURIComponent(returnTo)}` : '';
    response.redirect(303, `${url}/account${asked}`);
  });
  router.post('/login', refuseCrossSite(url, { always: true }), (request, response) => takeKey(request, response));
  router.post('/login/link', refuseCrossSite(url, { always: true }), (request, response) =>
    takeLink(request, response),
  );
  router.post('/logout', refuseCrossSite(url), (request, response) => leave(request, response));

  return {
    router,
    takesKeys: true,
    async readSession(request) {
      const session = await sessions.read(request);
      const principal = session && (await principalOf(session));
      return principal && { ...principal, token: session!.token, expiresAt: session!.expiresAt };
    },
    signInUrl: (returnTo) => pageReturningTo('/account', returnTo, url),
    signInLink: () => signInLink(registry, url),
  };
}

/** A link that signs in the operator once, within a day, below the registry's address. */
export function signInLink(registry: Registry, url: string): string {
  const { expiryTime: now, randomBytes } = registry;
  const id = newId({ now, randomBytes });
  return `/login/link?token=${id}${signText(registry, linkPurpose(url), id)}`;
}

/** The id of a link that is still valid. It begins with the time at which it was made. */
function linkIn(registry: Registry, url: string, token: string): string | null {
  const [, id = '', time = '', signature = ''] = /^((.{9})[0-9a-v]{11})(.+)$/.exec(token) ?? [];
  if (!isSigned(registry, linkPurpose(url), id, signature)) return null;
  return registry.expiryTime().getTime() < parseInt(time, 36) + linkLifetime * 1000 ? id : null;
}

function linkPurpose(url: string): string {
  return `sign-in link ${url}`;
}

/**
 * `__Host-` cookies need https; some browsers keep no secure cookie of plain http, even on this
 * machine. Browsers share the cookies of a host among its ports, so the name has the port.
 */
function cookieFor(url: string): SessionCookie {
  const { protocol, port } = new URL(url);
  if (protocol === 'https:') return { name: '__Host-stele-session', options: cookieOptions };
  return { name: `stele-session-${port || '80'}`, options: { ...cookieOptions, secure: false } };
}
