import { validateHeaderName, validateHeaderValue, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { anonymous, type Principal } from '../model/access.ts';
import type { Resource } from '../model/resource.ts';
import type { AnswerCache } from '../registry/answer-cache.ts';
import { mayRead } from '../registry/readable.ts';
import type { Registry } from '../registry/registry.ts';
import type { Reads } from '../store/log/reads.ts';
import { knownReader } from './authenticate.ts';
import { evaluateConditions } from './read/caching.ts';
import type { SiteAt } from '../sites/server/site-hosts.ts';

/** A response as bytes, ready to be written. Only its date changes. */
interface Prebuilt {
  status: number;
  /** The head, and the body behind it if it is small. */
  bytes: Buffer;
  /** Where the date stands in the bytes. */
  dateAt: number;
  /** The second that it says, since 1970. */
  second: number;
  /** Whether a socket may still be sending the bytes. */
  isLent: boolean;
  /** A body that was too large to be copied behind the head. */
  body: Uint8Array | null;
}

/** Bytes of a body up to which copying it is cheaper than a second write. */
const smallBody = 64 * 1024;

/** Ends of all heads, as Node writes them on connections that are kept alive. */
const ending = (keepAlive: number) =>
  `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAlive / 1000)}\r\n\r\n`;

/**
 * Builds a response. `fields`: names and values in turn, checked here and not again.
 * `keepAlive`: milliseconds for which the server keeps a connection.
 */
export function prebuild(
  status: '200 OK' | '304 Not Modified' | '307 Temporary Redirect',
  fields: readonly string[],
  keepAlive: number,
  body: Uint8Array = none,
): Prebuilt {
  let head = `HTTP/1.1 ${status}\r\n`;
  for (let i = 0; i < fields.length; i += 2) {
    const [name, value] = [fields[i]!, fields[i + 1]!];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  head += 'Date: ';
  const dateAt = head.length;
  const second = secondNow();
  const text = `${head}${dateOf(second)}${ending(keepAlive)}`;
  const isSmall = body.byteLength <= smallBody;
  // Not from Node's buffer pool: keeping one small response would keep its whole 64 KB.
  const bytes = Buffer.allocUnsafeSlow(text.length + (isSmall ? body.byteLength : 0));
  bytes.write(text, 'latin1');
  if (isSmall) bytes.set(body, text.length);
  return { status: parseInt(status), bytes, dateAt, second, isLent: false, body: isSmall ? null : body };
}

const none = new Uint8Array();

function writePrebuilt(socket: Socket, prebuilt: Prebuilt): void {
  const second = secondNow();
  if (prebuilt.second !== second) redate(prebuilt, second);
  const { bytes, body } = prebuilt;
  if (body === null) socket.write(bytes);
  else {
    socket.cork();
    socket.write(bytes);
    socket.write(body);
    socket.uncork();
  }
  if (socket.writableLength > 0) prebuilt.isLent = true;
}

function redate(prebuilt: Prebuilt, second: number): void {
  if (prebuilt.isLent) {
    const copy = Buffer.allocUnsafeSlow(prebuilt.bytes.byteLength);
    copy.set(prebuilt.bytes);
    prebuilt.bytes = copy;
    prebuilt.isLent = false;
  }
  prebuilt.bytes.write(dateOf(second), prebuilt.dateAt, 'latin1');
  prebuilt.second = second;
}

function secondNow(): number {
  return Math.floor(Date.now() / 1000);
}

let last = { second: 0, text: '' };

function dateOf(second: number): string {
  if (last.second !== second) last = { second, text: new Date(second * 1000).toUTCString() };
  return last.text;
}

/**
 * Cached responses as bytes that are ready to be written. A hit passes the same access check as any
 * other read but never waits: what is not in memory is a miss.
 */
export type Hits = ReturnType<typeof createHits>;

/** A response that was written at once. `route`: the pattern of its path. */
export interface Answered {
  status: number;
  route: string;
}

/** What a response depends on. */
export interface Basis {
  route: string;
  principal: Principal;
  /** The resource that it shows. Null: it shows several, and is kept only for anonymous readers. */
  resource: Resource | null;
  reads: Reads;
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
  /** What was built of it, for all requests that it answers. */
  responses?: WeakRef<Responses>;
}

/** The responses that one representation has. Each is built when it is first needed. */
interface Responses {
  /** The content, until `get` is built. */
  bytes: Uint8Array | null;
  get: Prebuilt | null;
  head: Prebuilt | null;
  notModified: Prebuilt | null;
}

interface Hit {
  route: string;
  resource: Resource | null;
  sent: Sent;
  responses: Responses;
}

/** Bytes of the largest response that is kept whole. */
const largest = 16 * 1024 * 1024;
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
  {
    kept,
    keepAlive,
    base,
    siteAt = null,
  }: { kept: AnswerCache; keepAlive: number; base: string; siteAt?: SiteAt | null },
) {
  function responseTo(method: string, ifNoneMatch: string | undefined, { sent, responses }: Hit): Prebuilt | null {
    const { etag, status = '200 OK' } = sent;
    if (ifNoneMatch !== undefined && etag !== null && isCurrentTag(ifNoneMatch, etag)) {
      return (responses.notModified ??= prebuild('304 Not Modified', sent.common, keepAlive));
    }
    if (method === 'HEAD') return (responses.head ??= prebuild(status, sent.full, keepAlive));
    if (responses.get === null && responses.bytes !== null) {
      responses.get = prebuild(status, sent.full, keepAlive, responses.bytes);
      responses.bytes = null;
    }
    return responses.get;
  }

  return {
    /** Writes the response and says what it was; null: nothing was written, answer as usual. */
    answer(request: IncomingMessage, socket: Socket): Answered | null {
      const { method } = request;
      if (method !== 'GET' && method !== 'HEAD') return null;
      const head = readHead(request.rawHeaders);
      if (head === null) return null;
      const { accept, acceptEncoding, authorization, ifNoneMatch, host } = head;
      if (siteAt !== null && siteAt(host) !== null) return null;
      const principal = authorization === undefined ? anonymous : knownReader(registry, authorization, socket);
      if (principal === null) return null;
      const hit = kept.find<Hit>(keyOf(principal, request.url!, accept, acceptEncoding));
      if (hit === undefined) return null;
      if (hit.resource !== null && !mayRead(principal, hit.resource)) return null;
      const response = responseTo(method, ifNoneMatch, hit);
      if (response === null) return null;
      writePrebuilt(socket, response);
      return { status: response.status, route: hit.route };
    },

    /** Keeps what was sent for a request. `bytes` is the whole content, or null if it was not opened. */
    keep(
      { url, headers }: IncomingMessage,
      { route, principal, resource, reads }: Basis,
      sent: Sent,
      bytes: Uint8Array | null,
    ): void {
      const { accept, 'accept-encoding': acceptEncoding } = headers;
      if (principal.kind === 'user' || (resource === null && principal.kind !== 'anonymous')) return;
      // What nothing was read for would be valid for ever.
      if (reads.size === 0) return;
      const key = keyOf(principal, base + url!, accept, acceptEncoding);
      if (key.length > longestRequest) return;
      // Requests for the same representation share its bytes. Each entry counts them, since any of
      // them may be the last one left.
      const responses = sent.responses?.deref() ?? { bytes: null, get: null, head: null, notModified: null };
      sent.responses = new WeakRef(responses);
      const isKept = sent.size <= largest;
      if (responses.get === null && isKept) responses.bytes ??= bytes;
      kept.keep(key, { route, resource, sent, responses } satisfies Hit, reads, overhead + (isKept ? sent.size : 0));
    },
  };
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
  return `hit ${reader}\n${url}\n${accept ?? '\t'}\n${acceptEncoding ?? '\t'}`;
}

function isCurrentTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch === etag || evaluateConditions({ 'if-none-match': ifNoneMatch }, etag) === 'not_modified';
}

/** The header fields that a cached response depends on. Absent fields are undefined. */
interface RequestHead {
  accept: string | undefined;
  acceptEncoding: string | undefined;
  authorization: string | undefined;
  ifNoneMatch: string | undefined;
  host: string;
}

/**
 * Reads the fields of a request, names and values in turn. Null if the fast path cannot answer:
 * there is a body, a cookie, a range, another condition, an expectation or a repeated field.
 */
function readHead(rawHeaders: readonly string[]): RequestHead | null {
  const head: Omit<RequestHead, 'host'> = {
    accept: undefined,
    acceptEncoding: undefined,
    authorization: undefined,
    ifNoneMatch: undefined,
  };
  let host: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    // Most fields mean nothing here, and their length says so.
    const kind = byLength[name.length];
    if (kind === undefined) continue;
    const field = kind.get(name) ?? kind.get(name.toLowerCase());
    if (field === undefined) continue;
    if (field === 'host') {
      if (host !== undefined) return null;
      host = rawHeaders[i + 1]!;
    } else if (field === 'other' || head[field] !== undefined) return null;
    else head[field] = rawHeaders[i + 1]!;
  }
  return host === undefined ? null : { ...head, host };
}

const fields: Readonly<Record<string, keyof RequestHead | 'other'>> = {
  Host: 'host',
  Accept: 'accept',
  'Accept-Encoding': 'acceptEncoding',
  Authorization: 'authorization',
  'If-None-Match': 'ifNoneMatch',
  'Content-Length': 'other',
  'Transfer-Encoding': 'other',
  Cookie: 'other',
  Expect: 'other',
  'If-Match': 'other',
  'If-Range': 'other',
  Range: 'other',
  Upgrade: 'other',
};

/** The fields, as usually written and in lower case, by the length of their names. */
const byLength: Map<string, keyof RequestHead | 'other'>[] = [];
for (const [name, field] of Object.entries(fields)) {
  const same = (byLength[name.length] ??= new Map());
  same.set(name, field).set(name.toLowerCase(), field);
}

/** Writes the response to a request, or returns false and writes nothing. */
export type AnswerEarly = (request: IncomingMessage, socket: Socket) => boolean;

/** Fields of a connection in Node's server. They are not documented, so each one is checked. */
interface HttpSocket extends Socket {
  parser?: {
    incoming: IncomingMessage | null;
    onIncoming: (request: IncomingMessage, keepAlive: boolean) => number;
  } | null;
  /** The response that is being written. */
  _httpMessage?: unknown;
}

/**
 * Asks `answer` first for each request that Node's parser has read, before Node makes a response
 * object for it: that and its general machinery cost more than writing the bytes. Only where it
 * makes no difference: HTTP/1.1, the connection is kept, and everything before was written. Node's
 * server does the rest: parsing, limits, timeouts, pipelining.
 */
export function answerEarly(server: Server, { answer, keepAlive }: { answer: AnswerEarly; keepAlive: number }): void {
  server.on('connection', (socket: HttpSocket) => {
    const { parser } = socket;
    if (typeof parser?.onIncoming !== 'function') return;
    const usual = parser.onIncoming;
    let isTimed = false;
    parser.onIncoming = (request, isKept) => {
      if (isKept && isAlone(request, socket) && answer(request, socket)) {
        // Nobody reads the request: it has no body.
        parser.incoming = null;
        if (!isTimed) socket.setTimeout(keepAlive);
        isTimed = true;
        return 0;
      }
      // From here on, Node says how long the socket may be idle.
      if (isTimed) socket.setTimeout(0);
      isTimed = false;
      return usual(request, isKept);
    };
  });
}

function isAlone(request: IncomingMessage & { upgrade?: boolean }, socket: HttpSocket): boolean {
  const { httpVersionMajor, httpVersionMinor, upgrade } = request;
  const { _httpMessage: response, writableLength, writable } = socket;
  const isPlain = httpVersionMajor === 1 && httpVersionMinor === 1 && !upgrade;
  return isPlain && (response ?? null) === null && writableLength === 0 && writable;
}
