import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { listen } from '../../src/server/listen.ts';
import { ask, exchange, parseAnswer } from './http.ts';
import { openServed } from './served.ts';

const local = { host: '127.0.0.1', port: 0 };

test('closing lets what runs finish, and accepts nothing more', async () => {
  let finish = (): void => undefined;
  const started = Promise.withResolvers<void>();
  const server = await listen((_request, response) => {
    finish = () => response.end('whole');
    started.resolve();
  }, local);
  const answer = ask(server.port, { target: '/' });
  await started.promise;
  const closed = server.close();
  // What had connected before that is still accepted.
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  await expect.poll(isOpen).toBe(false);
  finish();
  expect((await answer).body.toString()).toContain('whole');
  await closed;
});

test('closing answers connections that the system has made and the server has not yet accepted', async () => {
  const server = await listen((_request, response) => void response.end('whole'), local);
  const sockets = Array.from({ length: 8 }, () => connect(server.port, '127.0.0.1'));
  const answers = sockets.map(async (socket) => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    return (await text(socket)).slice(0, 15);
  });
  // `connect` asks the system after this turn, and nothing is accepted before the event loop looks.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const closed = server.close();
  expect(await Promise.all(answers)).toEqual(sockets.map(() => 'HTTP/1.1 200 OK'));
  await closed;
});

test('closing resets no client that connects anew after each answer', async () => {
  const server = await listen((_request, response) => void response.end('whole'), local);
  let answers = 0;
  const ended = Array.from({ length: 24 }, async () => {
    for (;;) {
      const failed = await ask(server.port, { target: '/' }).then(() => null, String);
      if (failed !== null) return failed;
      answers++;
    }
  });
  await expect.poll(() => answers).toBeGreaterThan(48);
  await server.close();
  for (const failed of await Promise.all(ended)) expect(failed).toContain('ECONNREFUSED');
});

test('closing ends idle connections that are kept alive', async () => {
  const server = await listen((_request, response) => void response.end('once'), local);
  const agent = new Agent({ keepAlive: true });
  const sent = request({ port: server.port, host: '127.0.0.1', agent }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  await server.close(60_000);
  await expect(ask(server.port, { target: '/' })).rejects.toThrow('ECONNREFUSED');
  agent.destroy();
});

test('closing cuts off what does not end', async () => {
  const started = Promise.withResolvers<void>();
  const server = await listen(() => started.resolve(), local);
  const answer = exchange(server.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await started.promise;
  await server.close(10);
  expect((await answer).length).toBe(0);
});

test('closing twice is closing once', async () => {
  const server = await listen(() => undefined, local);
  const first = server.close();
  expect(server.close()).toBe(first);
  await first;
});

test('a port that is taken is refused', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await expect(listen(() => undefined, { host: '127.0.0.1', port })).rejects.toMatchObject({
    code: 'unavailable',
    message: `Cannot listen on 127.0.0.1 port ${port}: the port is in use. Choose another one with --port, or metrics.port.`,
  });
  other.close();
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['a target over the limit', `GET /@acme/apis/${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ['a field over the limit', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`, 431],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  ['the same host twice', 'GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n', 400],
  ['two credentials', 'GET / HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\nauthorization: c\r\n\r\n', 400],
  ['HTTP/0.9', 'GET / HTTP/0.9\r\nHost: a\r\n\r\n', 400],
  ['HTTP/0.9 without a version', 'GET /\r\n\r\n', 400],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 400],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a NUL', 'GET /@acme\0 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ['a length and chunks', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
])('%s is refused in words, and no cache keeps that', async (_name, bytes, status) => {
  const served = await openServed();
  const answer = parseAnswer(await exchange(served.port, bytes));
  expect(answer.status).toBe(status);
  expect([answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
    'application/problem+json',
    'no-store',
  ]);
  await served[Symbol.asyncDispose]();
});

test('a long path that still fits is an absent one', async () => {
  const served = await openServed();
  for (const target of [`/@acme/apis/${'a'.repeat(10_000)}`, `/${'%40'.repeat(3000)}`, `/@${'/'.repeat(10_000)}`]) {
    expect((await ask(served.port, { target })).status).toBe(404);
  }
  await served[Symbol.asyncDispose]();
});

test('a client that leaves in the middle harms nobody', async () => {
  const served = await openServed();
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = connect(served.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write('GET /@acme/apis/pay HTTP/1.1\r\nHost: a\r\n\r\n');
      socket.destroy();
    }),
  );
  expect((await ask(served.port, { target: '/@acme/apis/pay' })).status).toBe(200);
  expect(served.registry.logged).toEqual([]);
  await served[Symbol.asyncDispose]();
});

test('a request that is half sent is closed in time', async () => {
  const server = await listen(() => undefined, { ...local, headTimeout: 40 });
  const halves = ['', 'G', 'GET / HTTP/1.1\r\nHost: a\r\nX: '];
  const answers = await Promise.all(halves.map((half) => exchange(server.port, half)));
  for (const answer of answers) expect(parseAnswer(answer).status).toBe(408);
  await server.close();
});

describe('at the cap on connections', () => {
  test('a new one takes the place of the one that waits longest', async () => {
    const server = await listen((_request, response) => void response.end('here'), { ...local, connections: 3 });
    const sockets = await connectMany(server.port, 3);
    const turnedAway = once(sockets[0]!, 'data') as Promise<[Buffer]>;
    sockets[1]!.write('GET / HTTP/1.1\r\n');
    expect((await ask(server.port, { target: '/' })).body.toString()).toBe('here');
    const [answer] = await turnedAway;
    expect(parseAnswer(answer).status).toBe(503);
    sockets[1]!.write('Host: a\r\n\r\n');
    const [bytes] = (await once(sockets[1]!, 'data')) as [Buffer];
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200/);
    for (const socket of sockets) socket.destroy();
    await server.close();
  });

  test('and with a request on each, another gets a time to try again', async () => {
    const busy = Promise.withResolvers<void>();
    const responses: ServerResponse[] = [];
    const server = await listen(
      (_request, response) => {
        if (responses.push(response) === 3) busy.resolve();
      },
      { ...local, connections: 3 },
    );
    const sockets = await connectMany(server.port, 3);
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await busy.promise;
    for (const target of ['/', '/readyz']) {
      const { status, headers, body } = await ask(server.port, { target });
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      expect(JSON.parse(body.toString())).toMatchObject({
        status: 503,
        detail: expect.stringContaining('connections'),
      });
    }
    for (const response of responses) response.end('whole');
    const [bytes] = (await once(sockets[2]!, 'data')) as [Buffer];
    expect(bytes.toString()).toContain('whole');
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
});

/** Sockets that are open, in this order. */
async function connectMany(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    sockets.push(socket);
  }
  return sockets;
}
