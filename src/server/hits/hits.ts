import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { anonymous, type Principal } from '../../model/access.ts';
import type { Coordinate } from '../../model/address.ts';
import { coordinateOf, type Resource } from '../../model/resource.ts';
import { grantReadAtHand, type Granted } from '../../registry/read.ts';
import type { MemoryUse, Registry } from '../../registry/registry.ts';
import { authenticateAtHand } from '../authenticate.ts';
import { evaluateConditions } from '../read/conditions.ts';
import type { Prepared } from '../read/send-document.ts';
import { prebuild, writePrebuilt, type Prebuilt } from './prebuilt.ts';
import type { SiteAt } from '../sites/site-hosts.ts';
import { readHead } from './request-head.ts';

/**
 * Documents that were sent before, as bytes that are ready to be written. A hit asks the same policy
 * as any other read, but waits for nothing: what is not in memory is not a hit.
 */
export interface Hits {
  /** Writes the response and returns its status; null: nothing was written, answer as usual. */
  answer(request: IncomingMessage, socket: Socket): number | null;
  /** Keeps what was sent for a request. `bytes` is the whole content, or null if it was not opened. */
  keep(
    request: IncomingMessage,
    principal: Principal,
    granted: Granted,
    sent: Prepared,
    bytes: Uint8Array | null,
  ): void;
  /** A representation counts for each request that it answers, so that this is the most that is kept. */
  use(): MemoryUse;
}

/** The responses that one representation has. Each is built when it is first needed. */
interface Responses {
  prepared: Prepared;
  /** The content, until `get` is built. */
  bytes: Uint8Array | null;
  get: Prebuilt | null;
  head: Prebuilt | null;
  notModified: Prebuilt | null;
  /** How many hits share them. */
  hits: number;
}

interface Hit {
  coordinate: Coordinate;
  /** As it was when the response was made. Any change of the resource is another object. */
  resource: Resource;
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
    sizeCalculation: ({ responses: { prepared } }) => overhead + (isKept(prepared) ? prepared.size : 0),
    // What was prepared may be kept elsewhere for longer, and must not keep the bytes.
    dispose({ responses }) {
      if (--responses.hits === 0) made.delete(responses.prepared);
    },
  });
  const made = new WeakMap<Prepared, Responses>();

  function responseTo(method: string, ifNoneMatch: string | undefined, responses: Responses): Prebuilt | null {
    const { prepared, bytes } = responses;
    if (ifNoneMatch !== undefined && isCurrent(ifNoneMatch, prepared.etag)) {
      return (responses.notModified ??= prebuild('304 Not Modified', prepared.common, keepAlive));
    }
    if (method === 'HEAD') return (responses.head ??= prebuild('200 OK', prepared.full, keepAlive));
    if (responses.get === null && bytes !== null) {
      responses.get = prebuild('200 OK', prepared.full, keepAlive, bytes);
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
      const principal = authorization === undefined ? anonymous : authenticateAtHand(registry, authorization);
      if (principal === null) return null;
      const hit = hits.get(keyOf(principal, request.url!, accept, acceptEncoding));
      if (hit === undefined) return null;
      const granted = grantReadAtHand(registry, principal, hit.coordinate);
      const responses = granted && openHit(granted, hit);
      const response = responses && responseTo(method, ifNoneMatch, responses);
      if (response === null) return null;
      writePrebuilt(socket, response);
      return response.status;
    },

    keep({ url, headers }, principal, { resource }, prepared, bytes) {
      const { accept, 'accept-encoding': acceptEncoding } = headers;
      if (principal.kind === 'user') return;
      const key = keyOf(principal, base + url!, accept, acceptEncoding);
      if (key.length > longestRequest) return;
      const known = made.get(prepared);
      const responses = known ?? { prepared, bytes: null, get: null, head: null, notModified: null, hits: 0 };
      if (known === undefined) made.set(prepared, responses);
      if (responses.get === null && isKept(prepared)) responses.bytes ??= bytes;
      responses.hits++;
      hits.set(key, { coordinate: coordinateOf(resource), resource, responses });
    },
  };
}

function isKept({ size }: Prepared): boolean {
  return size <= largest;
}

/** The responses of a hit, if the resource has not changed since. Only who was granted it gets them. */
function openHit({ resource }: Granted, hit: Hit): Responses | null {
  return resource === hit.resource ? hit.responses : null;
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

function isCurrent(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch === etag || evaluateConditions({ 'if-none-match': ifNoneMatch }, etag) === 'not_modified';
}
