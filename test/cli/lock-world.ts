import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveStele } from '../e2e/stele.ts';
import { runHere } from './in-process.ts';

const schema = (version: string, properties: object, required: string[] = []) =>
  JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Money',
    version,
    properties,
    required,
  });

const amount = { amount: { type: 'string' } };
const currency = { currency: { type: 'string' } };

/** Versions of @acme/schemas/money: 1.5.0 gains a field, 2.0.0 requires it. */
const moneyVersions = {
  '1.4.0': schema('1.4.0', amount),
  '1.5.0': schema('1.5.0', { ...amount, ...currency }),
  '2.0.0': schema('2.0.0', { ...amount, ...currency }, ['currency']),
};

const pay = (version: string, operations: object) =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'Pay', version }, paths: operations });
const get = { get: { responses: { '200': { description: 'Fine.' } } } };

const payVersions = {
  '1.0.0': pay('1.0.0', { '/a': get, '/b': get, '/c': get }),
  '2.0.0': pay('2.0.0', { '/a': get }),
};

/** A registry that runs, and its static build on a host that only serves files. */
export async function openLockWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'stele-lock-'));
  const config = { organizations: { acme: { defaults: { visibility: 'public' } } } };
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
  const common = ['--config', join(folder, 'registry.config.json'), '--data', join(folder, 'data')];
  const publish = async (coordinate: string, version: string, text: string) => {
    await writeFile(join(folder, 'document.json'), text);
    const ended = await runHere([
      'publish',
      join(folder, 'document.json'),
      coordinate,
      '--version',
      version,
      ...common,
    ]);
    if (ended.code !== 0) throw new Error(ended.stdout + ended.stderr);
  };
  for (const [version, text] of Object.entries(moneyVersions)) await publish('@acme/schemas/money', version, text);
  for (const [version, text] of Object.entries(payVersions)) await publish('@acme/apis/pay', version, text);
  const built = await runHere(['build', '--precompressed', 'none', '--out', join(folder, 'site'), ...common]);
  if (built.code !== 0) throw new Error(built.stderr);
  const stele = await serveStele(common);
  const host = await serveFiles(join(folder, 'site'));
  return {
    folder,
    registry: stele.url,
    host: host.url,
    publish,
    async [Symbol.asyncDispose]() {
      await stele.stop('SIGKILL');
      await host[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A host that only serves the files of a folder. */
export function serveFiles(folder: string) {
  return listen((request, response) => {
    void fileFor(folder, request.url!).then(async (file) => {
      if (file === null) return response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>');
      return response.writeHead(200).end(await readFile(file));
    });
  });
}

/** The file for a path as plain hosts choose it: without its query, and the page of a folder. */
async function fileFor(site: string, url: string): Promise<string | null> {
  const path = join(site, decodeURIComponent(new URL(url, 'http://host.test').pathname));
  for (const each of [path, join(path, 'index.html')]) if ((await stat(each).catch(() => null))?.isFile()) return each;
  return null;
}

/** An HTTP server of a test on loopback. */
export async function listen(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

let made = 0;

/** A repository of a consumer, with a cache of its own. */
export async function openConsumer(folder: string) {
  const path = join(folder, `consumer-${++made}`);
  await mkdir(join(path, 'repository', '.git'), { recursive: true });
  const cwd = join(path, 'repository');
  return {
    path: cwd,
    cache: join(path, 'cache'),
    run: (args: string, { at = '.', env = {} }: { at?: string; env?: Record<string, string> } = {}) =>
      runHere(args.split(' '), { cwd: join(cwd, at), env: { XDG_CACHE_HOME: join(path, 'cache'), ...env } }),
    file: (name: string) => join(cwd, name),
    text: (name: string) => readFile(join(cwd, name), 'utf8'),
  };
}
