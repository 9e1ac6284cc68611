import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { anonymous, type Principal } from '../model/access.ts';
import { unauthenticated } from '../model/errors.ts';
import { authenticateKey, hashOfKey, knownPrincipal, noteKeyUse } from '../registry/keys/keys.ts';
import type { Registry } from '../registry/registry.ts';
import { limitAddresses } from './allowance.ts';
import type { ServerContext, SignedIn } from './server-context.ts';

interface Sender {
  principal: Principal;
  session?: SignedIn;
}

const nobody: Sender = { principal: anonymous };
const senders = new WeakMap<IncomingMessage, Sender>();

/** The principal of a request, as `Authenticate` found it. Anonymous before that. */
export function principalOf(request: IncomingMessage): Principal {
  return (senders.get(request) ?? nobody).principal;
}

/** The session that identified the request. Null if a key did, or nothing. */
export function sessionOf(request: IncomingMessage): SignedIn | null {
  return senders.get(request)?.session ?? null;
}

/** Authenticates a request and remembers the principal for `principalOf`. */
export type Authenticate = (request: IncomingMessage) => Promise<Principal>;

/**
 * Authenticates requests before anything else: `Authorization: Bearer <key>` (RFC 6750), Basic with
 * the key as password (RFC 7617), a session cookie, or `?token=` of a feed. Throws `unauthenticated` for an invalid
 * credential, even if the request needs none, and `rate_limited` for too many of them from one
 * address. Valid credentials from the same address still work.
 */
export function createAuthenticate(context: Pick<ServerContext, 'registry' | 'login' | 'peers'>): Authenticate {
  const { registry, login } = context;
  const message = 'Too many invalid credentials from your address. Wait, then retry.';
  const countFailure = limitAddresses('failures', registry.config.rateLimit.failures, message, context);

  async function authenticateText(request: IncomingMessage, key: string | null, use?: 'feeds'): Promise<Principal> {
    const principal = key === null ? null : await authenticateKey(registry, key, use);
    if (principal !== null) {
      noteUse(registry, principal.kind === 'key' ? principal.id : principal.key!);
      return principal;
    }
    countFailure(request);
    throw unauthenticated('The credential is invalid. Check the key, or sign in again.');
  }

  // A hook's route decides by signature or secret alone. Azure DevOps sends the secret where others
  // send a key; Gitea and GitLab may send a credential that is for a proxy in front.
  const hooks = Object.keys(registry.config.hosts).map((name) => `/v1/hooks/${name}`);

  async function senderOf(request: IncomingMessage): Promise<Sender> {
    const { authorization, cookie } = request.headers;
    if (request.method === 'POST' && hooks.includes(request.url!.replace(/\?.*$/, ''))) return nobody;
    if (authorization !== undefined) return { principal: await authenticateText(request, keyIn(authorization)) };
    const token = feedToken(request.url!);
    if (token !== null) return { principal: await authenticateText(request, token, 'feeds') };
    const session = cookie === undefined ? null : await login?.readSession(request);
    return session ? { principal: session.principal, session } : nobody;
  }

  return async (request) => {
    const sender = await senderOf(request);
    if (sender !== nobody) senders.set(request, sender);
    return sender.principal;
  };
}

/** The token in the URL of a feed, which readers of feeds cannot send in a header. Null: there is none. */
function feedToken(target: string): string | null {
  return /^\/feeds?[/.]/.test(target) ? new URLSearchParams(target.replace(/^[^?]*\??/, '')).get('token') : null;
}

/** What each connection presented last, and the key's hash: most send the same again. */
const lastOf = new WeakMap<Socket, { authorization: string; hashed: string }>();

/** The principal of an `Authorization` header if it is in memory. Null: `Authenticate` decides. */
export function knownReader(registry: Registry, authorization: string, socket: Socket): Principal | null {
  let last = lastOf.get(socket);
  if (last?.authorization !== authorization) {
    const key = keyIn(authorization);
    if (key === null) return null;
    last = { authorization, hashed: hashOfKey(key) };
  }
  const principal = knownPrincipal(registry, last.hashed);
  if (principal === null) lastOf.delete(socket);
  else {
    lastOf.set(socket, last);
    noteUse(registry, principal.id);
  }
  return principal;
}

function noteUse(registry: Registry, id: string): void {
  noteKeyUse(registry, id)?.catch((error: unknown) => {
    registry.log('warn', 'use of a key not noted', { key: id, error: String(error) });
  });
}

/** The key in an `Authorization` header; null for any other scheme or form. */
function keyIn(authorization: string): string | null {
  const match = /^(bearer|basic) +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization);
  if (!match) return null;
  if (match[1]!.toLowerCase() === 'bearer') return match[2]!;
  const pair = Buffer.from(match[2]!, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon < 0 ? null : pair.slice(colon + 1);
}
