import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type OutgoingHttpHeaders, type RequestListener } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askServerRefs, createAdvertised } from '../../src/source/wire.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

test('the tip of a repository over http is found without a process', async () => {
  const commit = world.createRepository('quick.git').commit({ files: { 'a.yaml': 'a: 1\n' } });
  const searchPath = join(world.folder, 'programs');
  mkdirSync(searchPath);
  writeFileSync(join(searchPath, 'git'), '#!/bin/sh\n[ "$1" = version ] && echo git version 2.50.0\n');
  chmodSync(join(searchPath, 'git'), 0o755);
  const source = world.openSource({ searchPath });
  expect(await source.tip(world.remote('quick.git', 'main'))).toEqual({ found: true, commit });
  expect(await source.tip(world.remote('quick.git'))).toEqual({ found: true, commit, branch: 'main' });
});

test('a server whose abilities are known is asked in one request, until it answers otherwise', async () => {
  const repository = world.createRepository('known.git');
  const source = world.openSource();
  const tip = async (): Promise<number> => {
    const before = world.server.requests.length;
    const commit = repository.commit({ files: { 'a.yaml': `a: ${before}\n` } });
    expect(await source.tip(world.remote('known.git', 'main'))).toEqual({ found: true, commit });
    return world.server.requests.length - before;
  };
  expect(await tip()).toBe(2);
  expect(await tip()).toBe(1);
  world.server.behaviour.protocol = 0;
  expect(await tip()).toBeGreaterThan(1);
  world.server.behaviour.protocol = 2;
  expect(await tip()).toBe(2);
});

describe('an answer that is not plainly a list of refs is left to git', () => {
  const id = 'a'.repeat(40);
  const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
  const refs = `${line('# service=git-upload-pack\n')}0000${line(`${id} refs/heads/main\0agent=x\n`)}`;
  const type = 'application/x-git-upload-pack-advertisement';
  /** Lines of other refs, of so many bytes in all. */
  const padding = (bytes: number): string => {
    const size = Math.min(bytes > 60_000 ? bytes - 100 : bytes, 60_000);
    const name = `${id} refs/heads/`;
    return bytes === 0 ? '' : line(`${name}${'x'.repeat(size - 4 - name.length - 1)}\n`) + padding(bytes - size);
  };
  const answer =
    (body: string, contentType = type, status = 200): RequestListener =>
    (_request, response) =>
      void response.writeHead(status, { 'content-type': contentType, location: '/elsewhere' }).end(body);

  test.for<[string, RequestListener, string | null]>([
    ['it is one', answer(`${refs}0000`), id],
    ['it was cut off', answer(refs), null],
    ['it is a page', answer('<html>', 'text/html'), null],
    ['its type is another', answer(`${refs}0000`, 'text/plain'), null],
    ['it asks for a password', answer(`${refs}0000`, type, 401), null],
    ['it leads elsewhere', answer(`${refs}0000`, type, 301), null],
    ['it has no end', answer(`${refs}${line(`${id} refs/heads/other\n`).repeat(8000)}0000`), null],
    ['it is as long as it may be', answer(`${refs}${padding(256 * 1024 - refs.length - 4)}0000`), id],
    ['it is longer than it may be', answer(`${refs}${padding(256 * 1024 - refs.length - 3)}0000`), null],
    ['it is nonsense', answer('zzzz0000'), null],
    ['the connection is closed', (request) => void request.socket.destroy(), null],
  ])('%s', async ([, listener, expected]) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const signal = new AbortController().signal;
    const asked = {
      url: `http://127.0.0.1:${port}/a.git`,
      addresses: ['127.0.0.1'],
      authorization: null,
      proxy: null,
      onLimit: () => undefined,
      signal,
    };
    const found = await askServerRefs(asked, 'refs/heads/main', createAdvertised());
    expect(found?.find(({ ref }) => ref === 'refs/heads/main')?.oid ?? null).toBe(expected);
    server.close();
  });

  test('one that never comes ends with the call', async () => {
    const server = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stop = new AbortController();
    const url = `http://127.0.0.1:${port}/a.git`;
    const asked = {
      url,
      addresses: ['127.0.0.1'],
      authorization: null,
      proxy: null,
      onLimit: () => undefined,
      signal: stop.signal,
    };
    const asking = askServerRefs(asked, 'HEAD', createAdvertised());
    stop.abort(new Error('too slow'));
    await expect(asking).rejects.toThrow('too slow');
    server.closeAllConnections();
    server.close();
  });
});

describe('a server that limits requests (429)', () => {
  const limitedServer = async (headers: OutgoingHttpHeaders) => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests++;
      response.writeHead(429, headers).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const source = world.openSource({ hosts: [`http://${host}`] });
    const refusedFor = async (name: string, token = 'a', call: 'tip' | 'tags' = 'tip') => {
      const credential = { kind: 'token' as const, username: 'x', token };
      const asking = source[call]({ url: `http://${host}/${name}`, ref: 'HEAD', credential });
      await expect(asking).rejects.toThrow(`http://${host}/${name} limits the rate of requests (429).`);
      return requests;
    };
    return { refusedFor, [Symbol.asyncDispose]: async () => void server.close() };
  };

  test.each([
    ['seconds', () => ({ 'retry-after': '60' })],
    ['a date', () => ({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() })],
    ['no time', () => ({})],
  ])('that names %s is asked for no repository with that credential until then', async (_, headers) => {
    await using server = await limitedServer(headers());
    for (const name of ['a.git', 'b.git', 'a.git']) expect(await server.refusedFor(name)).toBe(1);
    expect(await server.refusedFor('a.git', 'a', 'tags')).toBe(1);
    expect(await server.refusedFor('a.git', 'another')).toBe(2);
  });

  test('is asked again then', async () => {
    await using server = await limitedServer({ 'retry-after': '1' });
    expect(await server.refusedFor('a.git')).toBe(1);
    await delay(1100);
    expect(await server.refusedFor('a.git')).toBe(2);
  });

  test('is asked by git itself once', async () => {
    await using server = await limitedServer({ 'retry-after': '60' });
    for (const name of ['a.git', 'b.git', 'a.git']) expect(await server.refusedFor(name, 'a', 'tags')).toBe(1);
  });
});
