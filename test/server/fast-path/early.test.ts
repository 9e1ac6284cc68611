import { createServer, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { answerEarly } from '../../../src/server/fast-path.ts';
import { listen } from '../../../src/server/listen.ts';
import { openConnection, type Connection } from './connection.ts';

const keepAlive = 65_000;
const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

/** A server that answers `/early/N` with N bytes, early if it can, and everything else as usual. */
async function start(server: Server): Promise<{ sockets: Socket[]; connect(): Promise<Connection> }> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => void sockets.push(socket));
  answerEarly(server, { keepAlive, answer: ({ url }, socket) => answerAtOnce(url!, socket) });
  server.on('request', (request, response) => {
    request.resume();
    if (request.url !== '/never') response.end(bodyOf(request.url!) ?? 'usual');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ close: () => server.close() && server.closeAllConnections() });
  return {
    sockets,
    async connect() {
      const connection = await openConnection((server.address() as AddressInfo).port);
      open.push(connection);
      return connection;
    },
  };
}

function bodyOf(url: string): string | null {
  const size = /^\/early\/(\d+)$/.exec(url)?.[1];
  return size === undefined ? null : 'x'.repeat(Number(size));
}

function answerAtOnce(url: string, socket: Socket): boolean {
  const body = bodyOf(url);
  if (body !== null) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return body !== null;
}

test('a connection is idle as long after an early answer as after any, and has its time for a request', async () => {
  const { sockets, connect } = await start(createServer({ keepAliveTimeout: keepAlive }));
  const connection = await connect();
  await connection.ask({ target: '/early/1' });
  expect(sockets[0]!.timeout).toBe(keepAlive);
  const unanswered = connection.ask({ target: '/never' }).catch(() => null);
  // Another request of the same server comes after that one.
  await (await connect()).ask({ target: '/usual' });
  expect(sockets[0]!.timeout).toBe(0);
  sockets[0]!.destroy();
  expect(await unanswered).toBeNull();
});

test('answers keep their order, however large they are and whoever gives them', async () => {
  const { connect } = await start(createServer());
  const sizes = [10, 5_000_000, 20, 3_000_000, 30];
  const targets = sizes.flatMap((size) => [`/early/${size}`, '/usual']);
  const answers = await (await connect()).askAll(targets.map((target) => ({ target })));
  expect(answers.map(({ body }) => body.length)).toEqual(sizes.flatMap((size) => [size, 5]));
});

test('a request that ends the connection is answered as usual', async () => {
  const { connect } = await start(createServer());
  const connection = await connect();
  const answers = await connection.askAll([
    { target: '/early/1' },
    { target: '/early/2', headers: [['Connection', 'close']] },
  ]);
  expect(answers.map(({ headers }) => headers.get('connection') ?? null)).toEqual([null, 'close']);
});

test('at the cap on connections, the one that was answered last stays', async () => {
  const app = Object.assign(() => undefined, {
    early: ({ url }: IncomingMessage, socket: Socket) => answerAtOnce(url!, socket),
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, connections: 2 });
  const [first, second] = [await openConnection(server.port), await openConnection(server.port)];
  for (const each of [first, second, first]) await each.ask({ target: '/early/1' });
  const third = await openConnection(server.port);
  open.push(first, second, third, { close: () => server.close(0) });
  expect((await third.ask({ target: '/early/3' })).body.length).toBe(3);
  expect((await first.ask({ target: '/early/1' })).status).toBe(200);
  await second.ended();
});
