import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';

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
 * A real git server: serves the repositories under `root` by `git upload-pack` on port 0 of the loopback address, as git's own
 * `http-backend` does, which is two processes more for each request. Whether a repository allows filters or other ids is its own
 * configuration (see fixture-repository.ts).
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
    serve(join(root, decodeURIComponent(pathname)), search, behaviour, request, response);
  }
}

function isLetIn({ credentials }: GitServerBehaviour, request: IncomingMessage): boolean {
  if (credentials === null) return true;
  const expected = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return request.headers.authorization === `Basic ${expected}`;
}

/** Answers the two requests of git's smart protocol, and 404 to every other one. */
function serve(
  path: string,
  search: string,
  behaviour: GitServerBehaviour,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const asked = request.headers['git-protocol'];
  const protocol = behaviour.protocol === 2 && typeof asked === 'string' ? asked : null;
  const isAdvertisement = request.method === 'GET' && search === '?service=git-upload-pack';
  const end = isAdvertisement ? '/info/refs' : '/git-upload-pack';
  const folder = path.slice(0, -end.length);
  const isServed = isAdvertisement || request.method === 'POST';
  if (!isServed || !path.endsWith(end) || !existsSync(join(folder, 'HEAD'))) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end();
    return;
  }
  const child = spawn('git', ['upload-pack', '--stateless-rpc', ...(isAdvertisement ? [advertise] : []), folder], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      ...(protocol === null ? {} : { GIT_PROTOCOL: protocol }),
    },
  });
  child.stdin.on('error', () => undefined);
  const isZipped = request.headers['content-encoding'] === 'gzip';
  (isZipped ? request.pipe(createGunzip().on('error', () => child.kill())) : request).pipe(child.stdin);
  response.on('close', () => child.kill());
  response.writeHead(200, {
    'cache-control': 'no-cache, max-age=0, must-revalidate',
    'content-type': `application/x-git-upload-pack-${isAdvertisement ? 'advertisement' : 'result'}`,
  });
  response.flushHeaders();
  const body = slowed(() => behaviour.bytesPerSecond);
  body.pipe(response);
  if (isAdvertisement && !protocol?.split(':').includes('version=2')) body.write('001e# service=git-upload-pack\n0000');
  child.stdout.pipe(body);
}

const advertise = '--http-backend-info-refs';

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
