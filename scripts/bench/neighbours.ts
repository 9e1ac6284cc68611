/**
 * What one tenant feels of another: a quiet organization publishes a small document and reads it, alone and beside each attack, in one run against
 * one `stele serve`. Prints the 95th percentile of its publishes and the 99th of its reads, and both as ratios to those of the quiet hour.
 *
 *   node scripts/bench/neighbours.ts [--seconds 12] [--only compile]
 *
 * The goal is a ratio of at most 2. Exit code 1: one is over.
 */
import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { argv } from 'zx';
import { hostileDocuments } from '../../test/compile/hostile-documents.ts';
import { runStele, serveStele } from '../../test/e2e/stele.ts';

const seconds = Number(argv['seconds'] ?? 12);
const only = argv['only'] as string | undefined;
const secret = 'a secret that only this benchmark has';
const folder = await mkdtemp(join(tmpdir(), 'stele-neighbours-'));
const config = join(folder, 'config.mjs');
const common = ['--config', config, '--data', join(folder, 'data')];
await writeFile(
  config,
  `export default ${JSON.stringify({
    organizations: { quiet: { defaults: { visibility: 'public' } }, loud: {} },
    hosts: { gitea: { url: 'https://git.test', webhookSecret: { env: 'HOOK_SECRET' } } },
    rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 },
  })};`,
);

type Attack = (signal: AbortSignal) => Promise<unknown>;

const keys = { quiet: await createKey('quiet'), loud: await createKey('loud') };
const stele = await serveStele(common, { env: { HOOK_SECRET: secret } });
const { hostname, port } = new URL(stele.url);
const documents = new Map(hostileDocuments().map(({ name, make }) => [name, make]));
const chain = JSON.stringify(JSON.parse(entryOf('schema/ref-chain/3.1')));
const dear = ['yaml/merge-bomb/3.0', 'yaml/alias-wide/3.0', 'schema/enum-strings/2.0', 'yaml/braces-wrong/3.0'];
const strings = gzipSync(JSON.stringify({ version: '1.0.0', document: Array.from({ length: 4_000_000 }, () => '') }));
let serial = 0;

const attacks: Record<string, Attack> = {
  'compile flood': (signal) => repeat(8, signal, () => upload(`{"version":"${next()}","document":${chain}}`)),
  'hostile documents': (signal) =>
    repeat(4, signal, (n) => upload(JSON.stringify({ version: next(), document: entryOf(dear[n % dear.length]!) }))),
  '4 million strings': (signal) => repeat(8, signal, () => upload(strings, { 'content-encoding': 'gzip' })),
  'half-sent requests': (signal) => halfSent(500, signal),
  'signed hooks': (signal) => repeat(32, signal, () => hook(secret)),
  'forged hooks': (signal) => repeat(32, signal, () => hook('not the secret')),
  'large valid uploads': (signal) =>
    repeat(4, signal, () => upload(JSON.stringify({ version: next(), document: large() }))),
};

/** What the attacker is answered, and how often. */
let answered = new Map<string, number>();
const rows: Row[] = [];
try {
  await makeApi(keys.quiet, 'small');
  await makeApi(keys.loud, 'big');
  await publish();
  await Promise.all(Array.from({ length: 4 }, publish));
  const quiet = await measure('alone', null);
  rows.push(quiet);
  for (const [name, attack] of Object.entries(attacks)) {
    if (only !== undefined && !name.includes(only)) continue;
    rows.push(await measure(name, attack));
  }
  const ratio = (row: Row, key: 'publish' | 'read') => row[key] / quiet[key];
  console.log('| beside | publishes | p95 | ratio | reads | p99 | ratio | refused | attacker was answered |');
  console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --- |');
  for (const row of rows)
    console.log(
      `| ${row.name} | ${row.publishes} | ${row.publish.toFixed(0)} ms | ${ratio(row, 'publish').toFixed(1)} | ${row.reads} | ` +
        `${row.read.toFixed(1)} ms | ${ratio(row, 'read').toFixed(1)} | ${row.refused} | ${row.answers} |`,
    );
  if (rows.some((row) => ratio(row, 'publish') > 2 || ratio(row, 'read') > 2)) process.exitCode = 1;
} finally {
  await stele.stop('SIGKILL');
  await rm(folder, { recursive: true, force: true });
}

interface Row {
  name: string;
  /** Milliseconds: the 95th percentile of publishes and the 99th of reads. */
  publish: number;
  read: number;
  publishes: number;
  reads: number;
  /** How often the quiet organization was refused. */
  refused: number;
  /** Statuses that the attacker got, and how often. */
  answers: string;
}

/** Publishes one after the other, and reads beside it, while the attack goes on. */
async function measure(name: string, attack: Attack | null): Promise<Row> {
  const stop = new AbortController();
  answered = new Map();
  const attacking = attack?.(stop.signal);
  if (attack !== null) await delay(1000);
  const end = performance.now() + seconds * 1000;
  const publishes: number[] = [];
  const reads: number[] = [];
  let refused = 0;
  const time = async (times: number[], work: () => Promise<boolean>) => {
    while (performance.now() < end) {
      const started = performance.now();
      const isFine = await work().catch(() => false);
      times.push(performance.now() - started);
      if (!isFine) refused++;
      await delay(times === reads ? 5 : 50);
    }
  };
  await Promise.all([time(publishes, publish), time(reads, read)]);
  stop.abort();
  await attacking;
  await settled();
  const answers = [...answered].map(([status, count]) => `${status} × ${count}`).join(', ');
  return {
    name,
    publish: percentile(publishes, 0.95),
    read: percentile(reads, 0.99),
    publishes: publishes.length,
    reads: reads.length,
    refused,
    answers,
  };
}

/** Waits until a publish is as quick as it can be again, or half a minute. */
async function settled(): Promise<void> {
  for (let tries = 0; tries < 30; tries++) {
    const started = performance.now();
    await publish().catch(() => false);
    if (rows[0] === undefined || performance.now() - started < rows[0].publish * 1.5) return;
    await delay(500);
  }
}

async function makeApi(key: string, slug: string): Promise<void> {
  const response = await fetch(`${stele.url}/v1/apis`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: slug, slug, visibility: 'public' }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

async function publish(): Promise<boolean> {
  const version = next();
  const document = { openapi: '3.1.0', info: { title: 'Quiet', version }, paths: {} };
  const response = await fetch(`${stele.url}/v1/apis/small/spec`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.quiet}`, 'content-type': 'application/json' },
    body: JSON.stringify({ version, document }),
  });
  const text = await response.text();
  if (response.status !== 201 && rows.length === 0) throw new Error(text);
  return response.status === 201;
}

async function read(): Promise<boolean> {
  const response = await fetch(`${stele.url}/@quiet/apis/small.json`);
  await response.arrayBuffer();
  return response.ok;
}

/** `clients` that each do it again as soon as it is done, until the attack is over. */
function repeat(clients: number, signal: AbortSignal, work: (client: number) => Promise<number>): Promise<unknown> {
  return Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      while (!signal.aborted) {
        const status = await Promise.race([work(client).catch(() => 'no answer'), aborted(signal)]);
        if (status !== null) answered.set(String(status), (answered.get(String(status)) ?? 0) + 1);
        // Whoever is refused at once comes back at once, but leaves this process room to measure.
        await delay(20);
      }
    }),
  );
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}

async function upload(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${stele.url}/v1/apis/big/spec`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.loud}`, 'content-type': 'application/json', ...headers },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

async function hook(signedWith: string): Promise<number> {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    repository: { clone_url: `https://git.test/a/r${serial++}.git` },
  });
  const response = await fetch(`${stele.url}/v1/hooks/gitea`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gitea-event': 'push',
      'x-gitea-signature': createHmac('sha256', signedWith).update(body).digest('hex'),
    },
    body,
  });
  await response.arrayBuffer();
  return response.status;
}

/** Opens connections whose requests never end, and opens those that are closed again. */
async function halfSent(count: number, signal: AbortSignal): Promise<void> {
  const open = new Set<Socket>();
  while (!signal.aborted) {
    while (open.size < count) {
      const socket = connect(Number(port), hostname);
      open.add(socket);
      socket.on('error', () => undefined).on('close', () => open.delete(socket));
      socket.write('POST /v1/apis/big/spec HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n');
    }
    await delay(200);
  }
  for (const socket of open) socket.destroy();
}

async function createKey(org: string): Promise<string> {
  const { stdout, stderr } = await runStele([
    'keys',
    'create',
    '--org',
    org,
    '--scope',
    'admin',
    '--name',
    'bench',
    ...common,
  ]);
  const key = /^stele_\w+$/m.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`No key: ${stdout}${stderr}`);
  return key;
}

function entryOf(name: string): string {
  return Object.values(documents.get(name)!().files)[0]!;
}

/** A valid document of about 5 MB. */
function large(): object {
  const operation = (n: number) => ({
    operationId: `op${n}`,
    description: 'What this operation does, told in a sentence. '.repeat(8),
    responses: { 200: { description: 'Done.', content: { 'application/json': { schema: { type: 'object' } } } } },
  });
  const paths = Object.fromEntries(Array.from({ length: 8000 }, (_, n) => [`/p${n}`, { get: operation(n) }]));
  return { openapi: '3.1.0', info: { title: 'Large', version: '1' }, paths };
}

function next(): string {
  return `1.0.${++serial}`;
}

function percentile(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}
