import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { endResponse, readPieces } from '../../../src/server/body/request-body.ts';
import { exchange, parseAnswer } from '../http.ts';

const large = 100 * 1024 * 1024;
let limit = large;
let server: Listening;
let read = 0;
beforeEach(async () => {
  read = 0;
  limit = large;
  server = await listen(
    async (request, response) => {
      const look = (piece: Buffer) => void (read += piece.length);
      const answer = await readPieces(request, response, { limit, inflate: true, look }).then(
        (pieces) => `${Buffer.concat(pieces).length} bytes`,
        (error: Error) => error.message,
      );
      response.setHeader('Connection', 'close').end(answer);
    },
    { host: '127.0.0.1', port: 0 },
  );
});
afterEach(() => server.close(100));
afterEach(() => void vi.useRealTimers());

const head = (...lines: string[]) => `${['POST / HTTP/1.1', 'Host: a', ...lines].join('\r\n')}\r\n\r\n`;

async function sendPacked(body: Buffer): Promise<string> {
  const packed = gzipSync(body);
  const lines = head('Content-Encoding: gzip', `Content-Length: ${packed.length}`);
  return parseAnswer(await exchange(server.port, Buffer.concat([Buffer.from(lines), packed]))).body.toString();
}

test('a body may have as many bytes as the limit, whether it says its length, is in chunks or is packed', async () => {
  limit = 10;
  const send = async (fields: string, body: string) =>
    parseAnswer(await exchange(server.port, Buffer.from(head(fields) + body))).body.toString();
  const refused = 'The body has more than 10 bytes.';
  for (const [size, answer] of [
    [10, '10 bytes'],
    [11, refused],
  ] as const) {
    const body = 'x'.repeat(size);
    expect(await send(`Content-Length: ${size}`, body)).toBe(answer);
    expect(await send('Transfer-Encoding: chunked', `${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`)).toBe(answer);
  }
  limit = 40;
  expect(await sendPacked(Buffer.alloc(40, 'x'))).toBe('40 bytes');
  expect(await sendPacked(Buffer.alloc(41, 'x'))).toBe('The body has more than 40 bytes.');
});

test('what inflates beyond reason is refused while it is inflated', async () => {
  expect(await sendPacked(Buffer.alloc(40_000_000, 'a'))).toContain('decompresses to more than 200 times');
  expect(read).toBeLessThan(10_000_000);
});

test('what is packed as documents are is read', async () => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, n) => `{"name": "value ${n}"}`).join('\n'));
  expect(await sendPacked(body)).toBe(`${body.length} bytes`);
});

test('however many large bodies come in, the event loop reads no more than a few pieces in a turn', async () => {
  let most = 0;
  let before = 0;
  let next: NodeJS.Immediate;
  const turn = () => {
    most = Math.max(most, read - before);
    before = read;
    next = setImmediate(turn);
  };
  turn();
  const body = Buffer.alloc(4_000_000, 'a');
  const bytes = Buffer.concat([Buffer.from(head(`Content-Length: ${body.length}`)), body]);
  const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(server.port, bytes)));
  clearImmediate(next!);
  for (const answer of answers) expect(parseAnswer(answer).body.toString()).toBe(`${body.length} bytes`);
  // The first piece of each waits for nothing.
  expect(most).toBeLessThanOrEqual(6 * 64 * 1024);
});

test('a body that comes in too slowly is refused', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  socket.write(head('Content-Length: 1000000', 'Expect: 100-continue'));
  await once(socket, 'data');
  socket.write('x'.repeat(1000));
  vi.advanceTimersByTime(10_000);
  const [answer] = (await once(socket, 'data')) as [string];
  expect(answer).toContain('The body is arriving too slowly.');
  socket.destroy();
});

/** A refused request whose body is still to come. */
async function openRefused(...lines: string[]) {
  const open = Promise.withResolvers<[IncomingMessage, ServerResponse]>();
  const refusing = await listen(
    (request, response) => {
      response.statusCode = 413;
      endResponse(request, response, Buffer.from('too large'));
      open.resolve([request, response]);
    },
    { host: '127.0.0.1', port: 0 },
  );
  const socket = connect(refusing.port, '127.0.0.1').setEncoding('utf8');
  socket.write(head('Content-Length: 100000000', ...lines));
  expect((await once(socket, 'data'))[0]).toContain('413');
  const [request, response] = await open.promise;
  const close = async () => {
    socket.destroy();
    await refusing.close(100);
  };
  return { socket, request, response, [Symbol.asyncDispose]: close };
}

test('whoever sends a refused body slowly gets the response, and whoever sends none any more is cut off', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  await using refused = await openRefused();
  const { socket, request, response } = refused;
  for (let times = 0; times < 4; times++) {
    socket.write('x'.repeat(50_000));
    for (let left = 50_000; left > 0;) left -= ((await once(request, 'data'))[0] as Buffer).length;
    vi.advanceTimersByTime(10_000);
    expect(response.writableEnded).toBe(false);
  }
  vi.advanceTimersByTime(10_000);
  expect(response.writableEnded).toBe(true);
});

test('of a refused body, 64 MB are read at most', async () => {
  await using refused = await openRefused();
  const { request, response } = refused;
  request.emit('data', Buffer.alloc(64 * 1024 * 1024));
  expect(response.writableEnded).toBe(false);
  request.emit('data', Buffer.alloc(1));
  expect(response.writableEnded).toBe(true);
});

test('who asked before sending a body, and was refused, is not waited for', async () => {
  await using refused = await openRefused('Expect: 100-continue');
  expect(refused.response.writableEnded).toBe(true);
});
