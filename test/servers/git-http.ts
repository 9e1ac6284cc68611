import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';

/** How the server behaves; every member may be changed while it runs. */
export interface GitServerBehaviour {
  /** Basic credentials that are let in; null lets everybody in. */
  credentials: { username: string; password: string } | null;
  /** Milliseconds before each answer begins. */
  delay: number;
  /** Bytes per second of each answer's body, also of one under way; null is as fast as it goes. */
  bytesPerSecond: number | null;
  /** Answers a path with a redirect to the URL that this returns. */
  redirect: (path: string) => string | null;
  /** Answers every request with this status and no git. */
  status: number | null;
  /** Answers these requests with status 200, `text/html` and this page; null answers with git. */
  page: { html: string; methods: readonly string[] } | null;
  /** Whether to leave requests for a path without an answer. */
  hangs: (path: string) => boolean;
  /** Git protocol that clients may speak: 2 passes their wish on, 0 drops it. */
  protocol: 0 | 2;
}

export interface GitRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
}

export interface GitServer extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`; a repository is at `<url>/<folder under root>`. */
  url: string;
  /** `127.0.0.1:<port>` */
  host: string;
  behaviour: GitServerBehaviour;
  /** Every request so far. */
  requests: GitRequest[];
  /** Bytes of all answers so far. */
  sent(): number;
  close(): Promise<void>;
}

/**
 * A real git server: serves the repositories under `root` by the `git http-backend` CGI program on port 0 of the loopback
 * address. Whether a repository allows filters, other ids or pushes is its own configuration (see fixture-repository.ts).
 */
export async function openGitServer(options: { root: string } & Partial<GitServerBehaviour>): Promise<GitServer> {
  const { root, ...given } = options;
  const behaviour: GitServerBehaviour = {
    credentials: null,
    delay: 0,
    bytesPerSecond: null,
    redirect: () => null,
    status: null,
    page: null,
    hangs: () => false,
    protocol: 2,
    ...given,
  };
  const requests: GitRequest[] = [];
  let sent = 0;
  const timers = new Set<NodeJS.Timeout>();

  const server = createServer((request, response) => {
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    const timer = setTimeout(() => {
      timers.delete(timer);
      if (behaviour.hangs(request.url ?? '')) return;
      const { socket } = response;
      const before = socket?.bytesWritten ?? 0;
      response.on('close', () => (sent += (socket?.bytesWritten ?? before) - before));
      answer(root, behaviour, request, response);
    }, behaviour.delay);
    timers.add(timer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function close(): Promise<void> {
    for (const timer of timers) clearTimeout(timer);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  return { url: `http://${host}`, host, behaviour, requests, sent: () => sent, close, [Symbol.asyncDispose]: close };
}

function answer(root: string, behaviour: GitServerBehaviour, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const location = behaviour.redirect(pathname + search);
  if (location !== null) {
    response.writeHead(301, { location }).end();
  } else if (behaviour.status !== null) {
    response.writeHead(behaviour.status, { 'content-type': 'text/plain' }).end('no\n');
  } else if (behaviour.page?.methods.includes(request.method ?? '')) {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(behaviour.page.html);
  } else if (!isLetIn(behaviour, request)) {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  } else {
    runBackend({ root, behaviour, pathname, search }, request, response);
  }
}

function isLetIn({ credentials }: GitServerBehaviour, request: IncomingMessage): boolean {
  if (credentials === null) return true;
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return request.headers.authorization === `Basic ${expected}`;
}

interface Backend {
  root: string;
  behaviour: GitServerBehaviour;
  pathname: string;
  search: string;
}

function runBackend(backend: Backend, request: IncomingMessage, response: ServerResponse): void {
  const { root, behaviour, pathname, search } = backend;
  const protocol = request.headers['git-protocol'];
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      CONTENT_LENGTH: request.headers['content-length'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: behaviour.credentials?.username ?? '',
      REMOTE_ADDR: '127.0.0.1',
      ...(behaviour.protocol === 2 && typeof protocol === 'string' ? { GIT_PROTOCOL: protocol } : {}),
    },
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  response.on('close', () => child.kill());

  let head = Buffer.alloc(0);
  child.stdout.on('data', function onHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', onHead);
    child.stdout.pause();
    sendHead(head.subarray(0, end).toString('latin1'), response);
    const body = slowed(() => behaviour.bytesPerSecond);
    body.pipe(response);
    body.write(head.subarray(end + 4));
    child.stdout.pipe(body);
  });
}

function sendHead(head: string, response: ServerResponse): void {
  let status = 200;
  for (const line of head.split('\r\n')) {
    const [, name, value] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
  response.flushHeaders();
}

/** Passes bytes on in slices of a tenth of a second. */
function slowed(bytesPerSecond: () => number | null): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const push = (from: number): void => {
        if (from >= chunk.length || this.destroyed) return done();
        const rate = bytesPerSecond();
        const to = rate === null ? chunk.length : from + Math.max(1, Math.floor(rate / 10));
        this.push(chunk.subarray(from, to));
        if (rate === null) done();
        else setTimeout(push, 100, to);
      };
      push(0);
    },
  });
}
