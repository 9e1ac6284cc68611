import { createServer, STATUS_CODES, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { RegistryError } from '../model/errors.ts';

/** A server that listens. */
export interface Listening {
  /** `http://host:port`, as somebody on this machine reaches it. */
  url: string;
  port: number;
  /**
   * Stops accepting, lets what runs finish, ends idle connections, and cuts off what is left after `deadline` milliseconds
   * (default 10,000). Resolves when nothing is open.
   */
  close(deadline?: number): Promise<void>;
}

/** Milliseconds. A connection is kept longer than the 60 s that load balancers use it again within. */
const options = {
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 65_000,
  // A request without a body is one that was read to its end: reads are spared a stream.
  optimizeEmptyRequests: true,
};

/** Starts to listen; port 0 picks one. Rejects with `unavailable` when the address cannot be had. */
export async function listen(app: RequestListener, { host, port }: { host: string; port: number }): Promise<Listening> {
  const server = createServer(options, app);
  server.on('clientError', refuseUnreadable);
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
    close: (deadline = 10_000) => (closing ??= shutDown(server, deadline)),
  };
}

const reasons = new Map([
  ['EADDRINUSE', 'it is in use; another one can be chosen with --port'],
  ['EACCES', 'this user may not have it'],
  ['EADDRNOTAVAIL', 'it is no address of this machine'],
  ['ENOTFOUND', 'there is no such name'],
  ['EAI_AGAIN', 'the name cannot be looked up'],
]);

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const reason = reasons.get(error.code ?? '');
  if (reason === undefined) return error;
  return new RegistryError('unavailable', `Cannot listen on ${host} port ${port}: ${reason}.`, { cause: error });
}

async function shutDown(server: Server, deadline: number): Promise<void> {
  const cutOff = setTimeout(() => server.closeAllConnections(), deadline);
  // A connection that was busy at first is idle once its answer is sent.
  const sweep = setInterval(() => server.closeIdleConnections(), 50);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  clearTimeout(cutOff);
  clearInterval(sweep);
}

const statuses = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

/** Answers what Node could not read as HTTP, also a target or header over 16 KiB, in the form that every refusal has. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statuses.get(error.code ?? '') ?? 400;
  const title = STATUS_CODES[status]!;
  // RFC 9457 §4.2.1: of `about:blank`, the status says all.
  const body = JSON.stringify({ type: 'about:blank', title, status, detail: 'The request cannot be read.' });
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
