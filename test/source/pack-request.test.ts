import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { canReceive, receivePack } from '../../src/source/wire.ts';

const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
const type = 'application/x-git-upload-pack-result';
const request = { wants: ['a'.repeat(40)], haves: ['b'.repeat(40)], depth: 1, filter: 'blob:none', maxBytes: 100 };
const server = createServer();
afterEach(() => void server.closeAllConnections());

/** The pack that is made of an answer, and what was asked. */
async function receive(body: string, contentType = type, status = 200): Promise<{ pack: string; asked: string }> {
  let asked = '';
  server.removeAllListeners('request').on('request', (sent, response) => {
    sent.setEncoding('latin1').on('data', (chunk: string) => (asked += chunk));
    sent.on('end', () => response.writeHead(status, { 'content-type': contentType, location: '/other' }).end(body));
  });
  if (!server.listening) await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  const { port } = server.address() as AddressInfo;
  const { signal } = new AbortController();
  const at = {
    url: `http://127.0.0.1:${port}/a.git`,
    addresses: ['127.0.0.1'],
    authorization: null,
    proxy: null,
    onLimit: () => undefined,
    signal,
  };
  return { pack: Buffer.concat(await Array.fromAsync(receivePack(at, request))).toString(), asked };
}

const shallow = `${line('shallow-info\n')}${line(`shallow ${'a'.repeat(40)}\n`)}0001`;
const packfile = line('packfile\n');

test('a pack is asked for without differences from what is not in it, and put together', async () => {
  const body = `${shallow}${packfile}${line('\x01PACK')}${line('\x02progress')}${line('\x01 and the rest')}0000`;
  const { pack, asked } = await receive(body);
  expect(pack).toBe('PACK and the rest');
  const [want, have] = [`want ${'a'.repeat(40)}\n`, `have ${'b'.repeat(40)}\n`];
  const lines = ['no-progress\n', 'ofs-delta\n', want, have, 'deepen 1\n'];
  const all = [...lines, 'filter blob:none\n', 'done\n'].map(line).join('');
  expect(asked).toBe(`${line('command=fetch')}${line('agent=git/stele')}0001${all}0000`);
});

test('a pack may have as many bytes as are allowed', async () => {
  const all = 'x'.repeat(100);
  expect((await receive(`${packfile}${line(`\x01${all}`)}0000`)).pack).toBe(all);
});

describe('an answer that is not a whole pack is an error', () => {
  test.for<[string, string, string, (string | undefined)?, number?]>([
    ['the server refuses', 'refused', line(`ERR upload-pack: not our ref ${'a'.repeat(40)}`)],
    ['the server gives up', 'gave up', `${packfile}${line('\x01PACK')}${line('\x03out of memory')}0000`],
    ['there is no pack', 'no pack', `${shallow}0000`],
    ['nothing comes', 'cut off', ''],
    ['it has no end', 'cut off', `${packfile}${line('\x01PACK')}`],
    ['it is cut off within a line', 'cut off', `${packfile}${line('\x01PACK').slice(0, -1)}`],
    ['it is larger than allowed', 'too large', `${packfile}${line(`\x01${'x'.repeat(101)}`)}0000`],
    ['something follows', 'more after the pack', `${packfile}${line('\x01PACK')}0000${line('\x01PACK')}`],
    ['it has a division', 'gave up', `${packfile}${line('\x01PACK')}00010000`],
    ['it is nonsense', 'not a line', 'zzzz0000'],
    ['a line has no length', 'no such length', `${packfile}0003`],
    ['it is a page', 'text/html', '<html>', 'text/html'],
    ['it leads elsewhere', '301', `${packfile}${line('\x01PACK')}0000`, type, 301],
    ['it asks for a password', '401', '', type, 401],
  ])('%s', async ([, reason, body, contentType, status]) => {
    await expect(receive(body, contentType, status)).rejects.toThrow(reason);
  });
});

test('a server is asked only if it said that it cuts histories, filters, and uses SHA-1', () => {
  const said = (...lines: string[]) =>
    Buffer.from(`${['version 2', ...lines].map((one) => line(`${one}\n`)).join('')}0000`);
  expect(canReceive(said('agent=x', 'ls-refs', 'fetch=shallow wait-for-done filter', 'object-format=sha1'))).toBe(true);
  expect(canReceive(said('fetch=filter shallow'))).toBe(true);
  expect(canReceive(said('fetch=shallow', 'object-format=sha1'))).toBe(false);
  expect(canReceive(said('fetch=filter'))).toBe(false);
  expect(canReceive(said('fetch=shallow filter', 'object-format=sha256'))).toBe(false);
  expect(canReceive(said('ls-refs'))).toBe(false);
  expect(canReceive(undefined)).toBe(false);
});
