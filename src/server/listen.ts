import {
  type Server,
  type ServerResponse,
  createServer,
  STATUS_CODES,
  type RequestListener,
  type IncomingMessage,
} from 'node:http';
import { type Socket, Server as NetServer, type AddressInfo } from 'node:net';
import { unavailable } from '../model/errors.ts';
import type { Metrics } from './observe.ts';
import { answerEarly, type AnswerEarly } from './fast-path.ts';
import { inspect } from 'node:util';
import type { Log } from '../registry/registry.ts';

/** Connections above the limit that still get a response instead of being closed. */
const spare = 64;

/**
 * Limits a server to `max` open sockets. At the limit, a new socket replaces the one that has
 * waited longest without a complete request: one idle between two requests is closed, and one
 * before or within its first request gets `turnAway`. If every socket has a request in progress,
 * some more are accepted and answered with 503.
 */
function capConnections(server: Server, max: number, turnAway: (socket: Socket) => void) {
  // A set keeps the order in which sockets began to wait.
  const waiting = new Set<Socket>();
  const open = new Set<Socket>();
  const extra = new WeakSet<Socket>();
  const requests = new WeakMap<Socket, number>();
  const count = (socket: Socket, by: 1 | -1) => {
    const left = (requests.get(socket) ?? 0) + by;
    requests.set(socket, left);
    if (left > 0) waiting.delete(socket);
    else if (open.has(socket)) waiting.add(socket);
  };
  const leave = (socket: Socket) => {
    open.delete(socket);
    waiting.delete(socket);
  };
  server.maxConnections = max + spare;
  server.on('connection', (socket) => {
    const [longest] = waiting;
    if (open.size >= max && longest !== undefined) {
      leave(longest);
      if (requests.has(longest)) longest.destroy();
      else turnAway(longest);
    }
    open.add(socket);
    if (open.size > max) extra.add(socket);
    waiting.add(socket);
    socket.once('close', () => leave(socket));
  });
  const watch = ({ socket }: { socket: Socket }, response: ServerResponse) => {
    count(socket, 1);
    response.once('close', () => count(socket, -1));
  };
  server.prependListener('request', watch);
  server.prependListener('checkContinue', watch);
  return {
    /** Whether this socket is above the limit, so that its request is answered with 503. */
    isExtra: (socket: Socket): boolean => extra.has(socket) && open.size > max,
    /** Notes a request that was answered without the server's event. */
    noteAnswered(socket: Socket): void {
      if (!requests.has(socket)) requests.set(socket, 0);
      waiting.delete(socket);
      waiting.add(socket);
    },
  };
}

/** Sockets that may be open, unless the system allows fewer. */
const maxConnections = 4096;

/**
 * How many sockets may be open: at most half of the file descriptors that the system allows this
 * process. The rest is for files, pipes and git.
 */
export function affordableConnections(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft: number | 'unlimited' } } };
  const descriptors = Number(userLimits?.open_files?.soft);
  const half = Number.isNaN(descriptors) ? maxConnections : Math.floor(descriptors / 2);
  return Math.max(1, Math.min(maxConnections, half));
}

/** Answers requests, some of them before Node makes a response object for them. */
export type App = RequestListener & { early?: AnswerEarly | null; metrics?: Metrics };

export interface Listening {
  /** `http://host:port`, as reachable on this machine. */
  url: string;
  port: number;
  /** From now on, every answer ends its connection, and says so. */
  drain(): void;
  /**
   * Drains, accepts what has connected, stops accepting, waits for running requests, closes idle connections, and closes the rest after
   * `deadline` milliseconds (default 10,000). Resolves when nothing is open. Until a tenth of the deadline
   * has passed since the server began to drain, idle connections stay open: a request may be on its way.
   */
  close(deadline?: number): Promise<void>;
}

export interface ListenOptions {
  host: string;
  /** 0 chooses a free port. */
  port: number;
  /** Largest number of open sockets. Default: 4,096. */
  connections?: number;
  /** Milliseconds within which the headers of a request must arrive. Default: 10,000. */
  headTimeout?: number;
}

/** Milliseconds for which idle connections are kept: longer than the 60 s of load balancers. */
export const keepAliveTimeout = 65_000;

/** Milliseconds. */
const options = {
  requestTimeout: 120_000,
  keepAliveTimeout,
  // Requests without a body then need no stream.
  optimizeEmptyRequests: true,
  // `requestFault` says what is missing.
  requireHostHeader: false,
};

/**
 * Starts to listen. Answers ambiguous HTTP with 400, and requests above the limit of connections
 * with 503. Rejects with `unavailable` if the address cannot be used.
 */
export async function listen(
  app: App,
  { host, port, connections = maxConnections, headTimeout = 10_000 }: ListenOptions,
): Promise<Listening> {
  // Node's default checks for late requests only every 30 s.
  const connectionsCheckingInterval = Math.min(1000, headTimeout / 4);
  const server = createServer({ ...options, headersTimeout: headTimeout, connectionsCheckingInterval });
  const { isExtra, noteAnswered } = capConnections(server, connections, (socket) =>
    answerRaw(socket, refuse(503, full)),
  );
  const unanswered = new Set<ServerResponse>();
  let drainedAt: number | null = null;
  function drain(): void {
    drainedAt ??= performance.now();
    for (const response of unanswered) response.shouldKeepAlive = false;
  }
  /** Requests that wait until no more connections are accepted. */
  let held: (() => void)[] | null = null;
  function hold(): () => void {
    const waiting = (held = [] as (() => void)[]);
    return () => {
      held = null;
      for (const go of waiting) go();
    };
  }
  const receive: RequestListener = (request, response) => {
    if (held !== null) return void held.push(() => void receive(request, response));
    if (drainedAt !== null) response.shouldKeepAlive = false;
    unanswered.add(response);
    response.once('close', () => unanswered.delete(response));
    const fault = requestFault(request);
    const refusal = fault !== null ? refuse(400, fault) : isExtra(request.socket) ? refuse(503, full) : null;
    if (refusal === null) return app(request, response);
    response.writeHead(refusal.status, refusal.headers).end(refusal.body);
  };
  server.on('request', receive);
  answerEarly(server, {
    keepAlive: keepAliveTimeout,
    answer(request, socket) {
      // What is prebuilt says that the connection is kept.
      const isAnswered = drainedAt === null && !isExtra(socket) && (app.early?.(request, socket) ?? false);
      if (isAnswered) noteAnswered(socket);
      return isAnswered;
    },
  });
  // The code that reads the body sends `100 Continue`, so that an error can come before the body.
  server.on('checkContinue', receive);
  server.on('clientError', (error, socket) => refuseUnreadable(error, socket as Socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  const actual = (server.address() as AddressInfo).port;
  const name = host.includes(':') ? `[${host}]` : host;
  let closing: Promise<void> | null = null;
  return {
    url: `http://${name}:${actual}`,
    port: actual,
    drain,
    close(deadline = 10_000) {
      drain();
      closing ??= shutDown(server, deadline, drainedAt! + deadline / 10 - performance.now(), hold());
      return closing;
    },
  };
}

const reasons = new Map([
  ['EADDRINUSE', 'the port is in use. Choose another one with --port, or metrics.port'],
  ['EACCES', 'this user may not use the port'],
  ['EADDRNOTAVAIL', 'this machine does not have that address'],
  ['ENOTFOUND', 'the name does not exist'],
  ['EAI_AGAIN', 'the name cannot be looked up'],
]);

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = reasons.get(error.code ?? '') ?? error.message;
  return unavailable(`Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error });
}

/**
 * `lingering`: milliseconds for which idle connections may still bring a request. `release`: answers what
 * was held. A client that is answered connects anew, and would keep the server accepting.
 */
async function shutDown(server: Server, deadline: number, lingering: number, release: () => void): Promise<void> {
  const cutOff = setTimeout(() => server.closeAllConnections(), deadline);
  let sweep: NodeJS.Timeout | undefined;
  const startSweep = setTimeout(
    () => {
      server.closeIdleConnections();
      // A connection that was busy at first becomes idle after its response.
      sweep = setInterval(() => server.closeIdleConnections(), 50);
    },
    Math.max(lingering, 0),
  );
  await acceptWaiting(server, lingering);
  // Node's `close` of an HTTP server cuts idle connections off at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  release();
  await closed;
  clearTimeout(cutOff);
  clearTimeout(startSweep);
  clearInterval(sweep);
  // Ends Node's check for late requests.
  server.close(() => undefined);
}

/**
 * Accepts the connections that clients have and the server not yet: closing would reset them. Node accepts
 * one in each turn of its event loop. Clients that go on connecting can use up `patience` milliseconds.
 */
async function acceptWaiting(server: Server, patience: number): Promise<void> {
  const until = performance.now() + patience;
  let isNew: boolean;
  const note = (): void => void (isNew = true);
  server.on('connection', note);
  do {
    isNew = false;
    // The turn that is running may be past accepting.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  } while (isNew && performance.now() < until);
  server.off('connection', note);
}

const full = 'Too many connections are open. Try again.';

const unreadable = new Map<string | undefined, [status: number, detail: string]>([
  ['HPE_HEADER_OVERFLOW', [431, 'The URL and headers are longer than 16 KiB.']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'The chunk extensions of the body are too long.']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'The request did not arrive in time. Try again.']],
]);

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  answerRaw(socket, refuse(...(unreadable.get(error.code) ?? [400, 'The request is not valid HTTP.'])));
}

function answerRaw(socket: Socket, { status, headers, body }: ReturnType<typeof refuse>): void {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join('')}\r\n${body}`);
  socket.destroySoon();
}

/** An error response that needs neither the registry nor a page, and ends the connection. */
function refuse(status: number, detail: string) {
  // RFC 9457 §4.2.1: `about:blank` means that the status says everything.
  const body = JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail });
  const headers = {
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(status === 503 && { 'Retry-After': '1' }),
    Connection: 'close',
  };
  return { status, headers, body };
}

/**
 * Why a request that Node accepts is ambiguous: another version of HTTP (RFC 9112 §2.3), no
 * Host (§3.2), or a header that two readers may understand differently (RFC 9110 §5.3, §7.2). Null
 * for a proper request.
 */
function requestFault({ httpVersion, headers, rawHeaders }: IncomingMessage): string | null {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `Send HTTP/1.1: HTTP/${httpVersion} is not supported.`;
  if (httpVersion === '1.1' && headers.host === undefined) return 'Send a Host header.';
  if (isRepeated(rawHeaders, 'host')) return 'Send only one Host header.';
  if (isRepeated(rawHeaders, 'authorization')) return 'Send only one Authorization header.';
  return null;
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i]!;
    if (field.length === name.length && field.toLowerCase() === name) count++;
  }
  return count > 1;
}

/** Serves `/metrics`, and nothing else, to whoever reaches the address. `current`: the metrics of the app that answers now. */
export function listenForMetrics(
  address: { host: string; port: number },
  current: () => Metrics | undefined,
  log: Log,
): Promise<Listening> {
  const answer: App = (request, response) => {
    const metrics = current();
    if (metrics === undefined || request.url !== '/metrics') return void response.writeHead(404).end();
    if (request.method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
    metrics.render().then(
      (text) => response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text),
      (error: unknown) => {
        log('error', 'metrics could not be read', { error: inspect(error) });
        response.writeHead(500).end();
      },
    );
  };
  return listen(answer, { ...address, connections: 16 });
}
