/**
 * What one publish asks of the store, over HTTP with an Idempotency-Key and the real compiler: the requests that arrive at a real S3 gateway (Ceph's),
 * or with `--disk` the files and fsyncs, until the answer and in the second after it.
 *
 *   node scripts/bench/requests.ts [FILE …] [--disk]
 *
 * Exit code 1: more than 12 PUTs or fsyncs, or a LIST. For fsyncs those of new folders are left out: a store in use has most of them.
 */
import { randomUUID } from 'node:crypto';
import files, { open, readFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv, tmpdir } from 'zx';
import type { UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { openServer } from '../../src/open-server.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { startCeph } from '../../test/servers/ceph.ts';
import { startFaultProxy } from '../../test/servers/fault-proxy.ts';

const most = 12;
const seen: Record<string, number> = {};
const add = (what: string): void => void (seen[what] = (seen[what] ?? 0) + 1);

await using stack = new AsyncDisposableStack();
const data = tmpdir();
const store = argv['disk'] ? await onDisk() : await onS3();

/** Counts what this process fsyncs, and the folders that it makes: each of these is one fsync more. */
async function onDisk(): Promise<NonNullable<UserConfig['store']>> {
  const { mkdir } = files;
  files.mkdir = (async (...given: Parameters<typeof mkdir>) => {
    const made = await mkdir(...given);
    add('new folder');
    return made;
  }) as typeof mkdir;
  syncBuiltinESMExports();
  const file = await open(data, 'r');
  const { sync } = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  Object.getPrototypeOf(file).sync = function counted(this: typeof file) {
    add('fsync');
    return sync.call(this);
  };
  return { kind: 'fs', path: data };
}

/** Counts what arrives at the gateway. */
async function onS3(): Promise<NonNullable<UserConfig['store']>> {
  const ceph = stack.use(await startCeph());
  const proxy = stack.use(await startFaultProxy(ceph.port));
  proxy.choose = ({ method, url }) => {
    add(method === 'GET' && url!.includes('list-type=') ? 'LIST' : method!);
    return null;
  };
  const { bucket } = ceph.settings('requests');
  process.env['S3_ID'] = 'test';
  process.env['S3_SECRET'] = 'testsecret';
  const keys = { accessKeyId: { env: 'S3_ID' }, secretAccessKey: { env: 'S3_SECRET' } };
  return { kind: 's3', bucket, endpoint: proxy.endpoint, pathStyle: true, ...keys };
}

process.env['SECRET_KEY'] = 'a'.repeat(43);
const rateLimit = { key: 1e9, address: 1e9, failures: 1e9 };
const config = checkConfig({ store, rateLimit, secretKey: { env: 'SECRET_KEY' } }, { base: data, data });
const registry = await openRegistry(config, () => undefined, { hasSpare: true });
stack.defer(() => registry.close());
const queue = createSyncQueue(registry, createPulls);
stack.defer(() => queue.close());
const server = await openServer(registry, queue, { host: '127.0.0.1', port: 0 });
stack.defer(() => server.close());
const author = { actor: 'operator:bench', origin: null };
const { text: key } = await createKey(registry, { org: 'acme', name: 'bench', scopes: ['admin'] }, author);

async function call(method: string, path: string, body: object | Uint8Array): Promise<void> {
  const isJson = !(body instanceof Uint8Array);
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': isJson ? 'application/json' : 'application/octet-stream',
    ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
  };
  const sent = isJson ? JSON.stringify(body) : (body as Uint8Array<ArrayBuffer>);
  const response = await fetch(server.url + path, { method, headers, body: sent });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
}

const told = (counts: object): string =>
  Object.entries(counts)
    .map(([what, times]) => `${times} ${what}`)
    .join(', ') || 'nothing';

async function count(what: string, work: () => Promise<void>): Promise<void> {
  // What the requests before began.
  await delay(1000);
  for (const each of Object.keys(seen)) delete seen[each];
  await work();
  const answered = { ...seen };
  await delay(1000);
  const after = Object.entries(seen).flatMap(([each, all]) =>
    all > (answered[each] ?? 0) ? [[each, all - (answered[each] ?? 0)]] : [],
  );
  console.log(`${what}: ${told(answered)}; then ${told(Object.fromEntries(after))}`);
  const writes = answered['PUT'] ?? (answered['fsync'] ?? 0) - (answered['new folder'] ?? 0);
  if (writes > most || 'LIST' in answered) process.exitCode = 1;
}

const small = JSON.stringify({ openapi: '3.1.0', info: { title: 'Small', version: '1.0.0' }, paths: {} });
const documents: [string, string][] = [['small', small]];
for (const path of argv._) documents.push([basename(path), await readFile(path, 'utf8')]);
const rules = { rules: { 'info-license': 'warn' } };
await call('POST', '/v1/rulesets', { name: 'style', slug: 'style' });
await call('POST', '/v1/rulesets/style/document', { document: rules, version: '1.0.0' });
for (const [index, [name, document]] of documents.entries()) {
  const path = `/v1/apis/api-${index}`;
  const publish = (version: string, end = '') => call('POST', `${path}/spec`, { document: document + end, version });
  await call('POST', '/v1/apis', { name: 'Api', slug: `api-${index}`, validation: 'lenient' });
  console.log(`${name}, ${document.length} characters`);
  await count('  first publish', () => publish('1.0.0'));
  await count('  second version', () => publish('1.1.0', '\n'));
  await call('PATCH', path, { ruleset: '@acme/rulesets/style' });
  await count('  with a ruleset', () => publish('1.2.0', '\n\n'));
}
await call('POST', '/v1/sites', { title: 'Handbook', slug: 'handbook', visibility: 'public' });
for (let page = 0; page < 20; page++) {
  const text = Buffer.from(`# Page ${page}\n\n${'Some words about it. '.repeat(200)}\n`);
  await call('PUT', `/v1/sites/handbook/files/page-${page}.md`, text);
}
await count('a site of 20 pages', () => call('POST', '/v1/sites/handbook/publish', {}));
