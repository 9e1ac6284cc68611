import { once } from 'node:events';
import { createServer as createPlain, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { corp } from './corp-certificate.ts';

/** A network behind a proxy: names below `corp.test`, which only the proxy knows, with certificates of a private authority. */
export interface CorpNetwork extends AsyncDisposable {
  /** URL of the proxy. */
  proxy: string;
  /** What the proxy was asked to connect to, as `host:port`. */
  connected: Set<string>;
  /** The requests that arrived behind it: method, host and path. */
  arrived: Set<string>;
}

/** `backends`: by host name, the port on this machine that answers; 0: every request is answered with 404. */
export async function openCorpNetwork(backends: Readonly<Record<string, number>>): Promise<CorpNetwork> {
  const connected = new Set<string>();
  const arrived = new Set<string>();
  const inner = createServer(corp, (asked, answer) => {
    const host = asked.headers.host!;
    arrived.add(`${asked.method} ${host}${asked.url!.split('?')[0]}`);
    forward(backends[host] ?? 0, asked, answer);
  }).listen(0, '127.0.0.1');
  await once(inner, 'listening');
  const open = new Set<Socket>();
  const proxy = createPlain((_asked, answer) => void answer.writeHead(405).end());
  proxy.on('connect', (asked: IncomingMessage, client: Socket) => {
    connected.add(asked.url!);
    if (!Object.hasOwn(backends, asked.url!.replace(/:443$/, '')))
      return void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    const server = connect((inner.address() as AddressInfo).port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      server.pipe(client).pipe(server);
    });
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => open.delete(socket));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    proxy: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    connected,
    arrived,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      inner.closeAllConnections();
      await Promise.all([inner, proxy].map((server) => new Promise((done) => server.close(done))));
    },
  };
}

function forward(port: number, asked: IncomingMessage, answer: ServerResponse): void {
  if (port === 0) return void answer.writeHead(404).end();
  const { method, url: path, headers } = asked;
  const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
    answer.writeHead(response.statusCode!, response.headers);
    response.pipe(answer);
  });
  sent.on('error', () => answer.destroy());
  asked.pipe(sent);
}
