import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { anonymous, type Principal } from '../../model/access.ts';
import { coordinateOf } from '../../model/resource.ts';
import { grantReadAtHand, type Granted } from '../../registry/read.ts';
import type { MemoryUse, Registry } from '../../registry/registry.ts';
import { authenticateAtHand } from '../authenticate.ts';
import { evaluateConditions } from '../read/conditions.ts';
import { prebuild, writePrebuilt, type Prebuilt } from './prebuilt.ts';
import type { SiteAt } from '../sites/site-hosts.ts';
import { readHead } from './request-head.ts';

/**
 * Responses that were sent before, as bytes that are ready to be written. A hit asks the same policy
 * as any other read, but waits for nothing: what is not in memory is not a hit.
 */
export interface Hits {
  /** Writes the response and says what it was; null: nothing was written, answer as usual. */
  answer(request: IncomingMessage, socket: Socket): Answered | null;
  /** Keeps what was sent for a request. `bytes` is the whole content, or null if it was not opened. */
  keep(request: IncomingMessage, basis: Basis, sent: Sent, bytes: Uint8Array | null): void;
  /** A representation counts for each request that it answers, so that this is the most that is kept. */
  use(): MemoryUse;
}

/** A response that was written at once. `route`: the pattern of its path. */
export interface Answered {
  status: number;
  route: string;
}

/** What a response rests on. */
export interface Basis {
  route: string;
  /** Who got it. */
  principal: Principal;
  /** The resource that it shows. Null: it shows no single one, and only an anonymous reader's is kept. */
  granted: Granted | null;
  /** Whether everything else that it rests on is as it was, as far as is known without waiting. */
  isCurrent?: () => boolean;
}

/** A response without its bytes. */
export interface Sent {
  /** Default `200 OK`. */
  status?: '307 Temporary Redirect';
  /** Strong ETag with its quotes. Null: it has none, and conditions do not count. */
  etag: string | null;
  /** Size of the whole content, in bytes. */
  size: number;
  /** Fields of a 304, names and values in turn. */
  common: readonly string[];
  /** Fields of the whole response. */
  full: readonly string[];
}

/** The responses that one representation has. Each is built when it is first needed. */
interface Responses {
  sent: Sent;
  /** The content, until `get` is built. */
  bytes: Uint8Array | null;
  get: Prebuilt | null;
  head: Prebuilt | null;
  notModified: Prebuilt | null;
  /** How many hits share them. */
  hits: number;
}

interface Hit {
  route: string;
  /** Whether this reader still gets the same. */
  isCurrent: (principal: Principal) => boolean;
  responses: Responses;
}

/** Bytes of responses that are kept, and of one of them. */
const mostBytes = 64 * 1024 * 1024;
const largest = mostBytes / 4;
/** Characters of a request that is kept, and bytes that each takes besides its response. */
const longestRequest = 1024;
const overhead = 2048;

/**
 * Creates the hits of a server. `keepAlive`: milliseconds for which it keeps idle connections. `base`: the path that
 * requests have when they are answered here, and no longer when they are kept. `siteAt`: the
 * documentation site of a host name, where no document is served.
 */
export function createHits(
  registry: Registry,
  { keepAlive, base, siteAt = null }: { keepAlive: number; base: string; siteAt?: SiteAt | null },
): Hits {
  // A representation is counted for each request that shares it, with or without its bytes: they may come later.
  const hits = new LRUCache<string, Hit>({
    maxSize: mostBytes,
    sizeCalculation: ({ responses: { sent } }) => overhead + (isKept(sent) ? sent.size : 0),
    // What was sent may be kept elsewhere for longer, and must not keep the bytes.
    dispose({ responses }) {
      if (--responses.hits === 0) made.delete(responses.sent);
    },
  });
  const made = new WeakMap<Sent, Responses>();

  function responseTo(method: string, ifNoneMatch: string | undefined, responses: Responses): Prebuilt | null {
    const { sent, bytes } = responses;
    const { etag, status = '200 OK' } = sent;
    if (ifNoneMatch !== undefined && etag !== null && isCurrentTag(ifNoneMatch, etag)) {
      return (responses.notModified ??= prebuild('304 Not Modified', sent.common, keepAlive));
    }
    if (method === 'HEAD') return (responses.head ??= prebuild(status, sent.full, keepAlive));
    if (responses.get === null && bytes !== null) {
      responses.get = prebuild(status, sent.full, keepAlive, bytes);
      responses.bytes = null;
    }
    return responses.get;
  }

  return {
    use: () => ({ bytes: hits.calculatedSize, limit: mostBytes }),

    answer(request, socket) {
      const { method } = request;
      if (method !== 'GET' && method !== 'HEAD') return null;
      const head = readHead(request.rawHeaders);
      if (head === null) return null;
      const { accept, acceptEncoding, authorization, ifNoneMatch, host } = head;
      if (siteAt !== null && siteAt(host) !== null) return null;
      const principal = authorization === undefined ? anonymous : authenticateAtHand(registry, authorization, socket);
      if (principal === null) return null;
      const hit = hits.get(keyOf(principal, request.url!, accept, acceptEncoding));
      if (hit === undefined) return null;
      if (!hit.isCurrent(principal)) return null;
      const response = responseTo(method, ifNoneMatch, hit.responses);
      if (response === null) return null;
      writePrebuilt(socket, response);
      return { status: response.status, route: hit.route };
    },

    keep({ url, headers }, basis, sent, bytes) {
      const { accept, 'accept-encoding': acceptEncoding } = headers;
      const { route, principal, granted } = basis;
      if (principal.kind === 'user' || (granted === null && principal.kind !== 'anonymous')) return;
      const key = keyOf(principal, base + url!, accept, acceptEncoding);
      if (key.length > longestRequest) return;
      const known = made.get(sent);
      const responses = known ?? { sent, bytes: null, get: null, head: null, notModified: null, hits: 0 };
      if (known === undefined) made.set(sent, responses);
      if (responses.get === null && isKept(sent)) responses.bytes ??= bytes;
      responses.hits++;
      hits.set(key, { route, isCurrent: isCurrentFor(registry, basis), responses });
    },
  };
}

function isKept({ size }: Sent): boolean {
  return size <= largest;
}

/** Asks the policy again. Any change of a resource is another object. */
function isCurrentFor(registry: Registry, { granted, isCurrent }: Basis): Hit['isCurrent'] {
  if (granted === null) return () => isCurrent?.() ?? false;
  const { resource } = granted;
  const coordinate = coordinateOf(resource);
  return (principal) =>
    grantReadAtHand(registry, principal, coordinate)?.resource === resource && (isCurrent?.() ?? true);
}

/**
 * Requests with the same key have the same response. It begins with the reader, so that for others
 * a private document takes the time of an absent one.
 */
function keyOf(
  principal: Principal,
  url: string,
  accept: string | undefined,
  acceptEncoding: string | undefined,
): string {
  const reader = principal.kind === 'key' ? principal.id : principal.kind;
  // No field is a tab.
  return `${reader}\n${url}\n${accept ?? '\t'}\n${acceptEncoding ?? '\t'}`;
}

function isCurrentTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch === etag || evaluateConditions({ 'if-none-match': ifNoneMatch }, etag) === 'not_modified';
}
