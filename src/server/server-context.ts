import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Router } from 'express';
import type { Principal } from '../model/access.ts';
import type { SyncQueue } from '../sync/queue.ts';
import type { Registry } from '../registry/registry.ts';
import type { Site } from '../site/site.ts';
import type { Peers } from './allowance.ts';
import type { Dev } from './dev.ts';

/** What the server needs. */
export interface ServerContext {
  registry: Registry;
  queue: SyncQueue;
  /** Public base URL, without a trailing slash. */
  url: string;
  /** False until the registry can answer, and during shutdown. */
  isReady(): boolean;
  /** The management API, mounted under `/v1`. */
  v1?(site: Site): RequestHandler;
  /** The console, mounted under `/console`. Needs sign-in. */
  console?(site: Site): RequestHandler;
  /** Sign-in of people. */
  login?: Login;
  /** Pages for people. Without it, only data is served. */
  site?: Site;
  /** Milliseconds that readers wait for a page that is being made. Default: until it is made. */
  pagePatience?: number;
  /** Reloads pages when their sources change (`--dev`). */
  dev?: Dev;
  /** The processes that count for rate limits together with this one. */
  peers?: Peers;
}

/** A person with a session. */
export interface SignedIn {
  principal: Exclude<Principal, { kind: 'anonymous' }>;
  /** What to call them: a name, an address, or that of their key. */
  name: string;
  /**
   * Known only to this session's browser and its pages. A change that a session asks for must
   * carry it, so that no other site can ask for one.
   */
  token: string;
  /** ISO 8601: when to sign in again. */
  expiresAt: string;
}

/** Signs people in and identifies them. */
export interface Login {
  router: Router;
  /** Who the request's session signed in; null if there is none or it expired. */
  readSession(request: IncomingMessage): Promise<SignedIn | null>;
  /**
   * Path of the page that signs in and then returns to `returnTo`; null if sign-in is not
   * configured.
   */
  signInUrl(returnTo: string): string | null;
  /** The identity providers, where there are several to choose from: their names (`/login?provider=…`) and titles. */
  providers?: readonly { name: string; title: string }[];
  /** Whether people sign in with a key: no identity provider is configured. */
  takesKeys?: boolean;
  /** A path that signs in once, as the operator, whoever opens it first. Only on this machine. */
  signInLink?(): string;
}

/** The path of the registry's public URL, without a trailing slash: empty, or such as `/contracts`. */
export function basePathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '');
}

/**
 * What is also answered without the base path: probes and metrics, which do not pass the proxy, and
 * what clients only look for at the root of a host (OCI; RFC 9727 §2).
 */
const atRoot = /^\/(?:healthz|readyz|metrics|\.well-known\/api-catalog|v2(?:\/[^?]*)?)(?:\?|$)/;

/**
 * A request target below the base path, as the parts of the server know it. Null for a target of
 * something else on the same host.
 */
export function belowBase(target: string, base: string): string | null {
  if (base === '') return target;
  if (target.startsWith(`${base}/`)) return target.slice(base.length);
  if (target === base || target.startsWith(`${base}?`)) return `/${target.slice(base.length)}`;
  return atRoot.test(target) ? target : null;
}
