/**
 * A server under an even load for a long time: reads of many kinds, publishes, and pushes to repositories of a real git server that it follows.
 * Every half minute, its garbage is collected and its memory and descriptors are written down. The growth is that from the samples after the
 * beginning to the last ones. Before, large documents are published and read until the caches of objects, responses and results are full, as
 * `/metrics` says: they would fill for hours otherwise. The heap grows with what is published, because every version is known in memory.
 *
 *   node scripts/load/soak.ts [--seconds 120] [--reads 200] [--publishes 2] [--syncs 1] [--full 0.95] [--warm 0.3] [--seed 1]
 *
 * The rates are for a second; `--full` is the part of each cache that is filled before; `--warm` is the part of the time in which pages of new
 * versions fill their cache (500 pages, about one a second), and that is not compared. Exit code 1: an answer was wrong, more than one read in a thousand was refused with 503, a push is not published, the resident memory grew by
 * 10 % or more, or descriptors were left open.
 */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { argv } from 'zx';
import { runStele, serveStele } from '../../test/e2e/stele.ts';
import { createFixtureRepository } from '../../test/servers/fixture-repository.ts';
import { openGitServer } from '../../test/servers/git-http.ts';
import { conclude, createRandom } from '../faults/operations.ts';
import { quantile } from './quantile.ts';

const seconds = Number(argv['seconds'] ?? 120);
const rates = {
  reads: Number(argv['reads'] ?? 200),
  publishes: Number(argv['publishes'] ?? 2),
  syncs: Number(argv['syncs'] ?? 1),
};
const full = Number(argv['full'] ?? 0.95);
const warm = Number(argv['warm'] ?? 0.3);
const random = createRandom(Number(argv['seed'] ?? 1));
const resources = 40;
const repositories = 10;
/** Seconds between two samples. */
const interval = Math.min(30, seconds / 10);
const secret = 'a secret that only this script has';

const root = await mkdtemp(join(tmpdir(), 'stele-soak-'));
await using git = await openGitServer({ root });
const followed = Array.from({ length: repositories }, (_, n) =>
  createFixtureRepository(join(root, 'acme', `r${n}.git`)),
);
/** How many versions each repository, and each published resource, has. */
const pushed = followed.map(() => 0);
const published = Array.from({ length: resources }, () => 0);
const wrong: string[] = [];
const done = { reads: 0, refused: 0, publishes: 0, syncs: 0, left: 0 };
const times: Record<'reads' | 'publishes', number[]> = { reads: [], publishes: [] };

const config = join(root, 'config.mjs');
const memoryFile = join(root, 'memory.json');
await writeFile(
  config,
  `export default ${JSON.stringify({
    organizations: {
      acme: { repositories: followed.map((_, n) => ({ url: `${git.url}/acme/r${n}.git`, visibility: 'public' })) },
    },
    hosts: { gitea: { url: git.url, webhookSecret: { env: 'HOOK_SECRET' } } },
    rateLimit: { address: 1_000_000, key: 1_000_000 },
  })};`,
);
const common = ['--data', join(root, 'data'), '--config', config];

function document(title: string, version: string): object {
  const responses = { 200: { description: 'What was asked for.' } };
  const paths = Object.fromEntries(
    Array.from({ length: 10 }, (_, n) => [
      `/things-${n}`,
      { get: { operationId: `get${n}`, summary: version, responses } },
    ]),
  );
  // So large that the caches hold other documents long before the end of the warm-up: what fills them before is in all of them at once.
  const filler = words(4000);
  return {
    openapi: '3.1.0',
    info: { title, version },
    servers: [{ url: 'https://api.test' }],
    paths,
    'x-filler': filler,
  };
}

/** Text that cannot be compressed much: caches hold little of what can. */
function words(count: number): string {
  return Array.from({ length: count }, () => random(2 ** 30).toString(36)).join(' ');
}

function push(n: number): void {
  const version = `1.0.${++pushed[n]!}`;
  followed[n]!.commit({ files: { 'openapi.json': JSON.stringify(document(`R${n}`, version)) } });
}
for (const n of followed.keys()) push(n);

const env = { HOOK_SECRET: secret };
const made = await runStele(
  ['keys', 'create', '--org', 'acme', '--name', 'a', '--scope', 'publish', '--json', ...common],
  { env },
);
const { secret: key } = JSON.parse(made.stdout) as { secret: string };
const preload = fileURLToPath(new URL('report-memory.ts', import.meta.url));
const server = await serveStele(common, {
  env: { ...env, MEMORY_FILE: memoryFile, NODE_OPTIONS: `--import ${preload}` },
});
const agent = new Agent({ keepAlive: true, maxSockets: 32 });

/** Asks the server. Rejects if the connection ends. */
function ask(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, { method, headers, agent }, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode!, body: answer }), reject);
    });
    asked.once('error', reject).end(body);
  });
}

async function publish(): Promise<void> {
  const n = random(resources) - 1;
  const version = `1.0.${++published[n]!}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ version, document: document(`P${n}`, version) });
  const { status, body: answer } = await ask('POST', `/v1/apis/p${n}/spec`, headers, body);
  if (status !== 201) wrong.push(`p${n}@${version}: ${status} ${answer.slice(0, 200)}`);
}

async function sync(): Promise<void> {
  const n = random(repositories) - 1;
  push(n);
  const body = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: `acme/r${n}` } });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature };
  const { status } = await ask('POST', '/v1/hooks/gitea', headers, body);
  if (status >= 300) wrong.push(`the hook of r${n} was answered with ${status}`);
}

const views: readonly ((
  name: string,
  version: string,
) => { path: string; headers?: Record<string, string>; status: number })[] = [
  (name, version) => ({ path: `/@acme/apis/${name}@${version}.json`, status: 200 }),
  (name, version) => ({
    path: `/@acme/apis/${name}@${version}.yaml`,
    headers: { 'accept-encoding': 'br' },
    status: 200,
  }),
  (name) => ({ path: `/@acme/apis/${name}`, status: 200 }),
  (name) => ({ path: `/@acme/apis/${name}`, headers: { accept: 'text/html' }, status: 200 }),
  (name) => ({ path: `/@acme/apis/${name}/versions`, status: 200 }),
  (name) => ({ path: `/@acme/apis/${name}-absent.json`, status: 404 }),
  () => ({ path: '/@acme', headers: { accept: 'text/html' }, status: 200 }),
  (name) => ({ path: `/search?q=${name}`, headers: { accept: 'application/json' }, status: 200 }),
];

async function read(): Promise<void> {
  const n = random(repositories) - 1;
  const { path, headers, status } = views[random(views.length) - 1]!(`r${n}`, '1.0.1');
  const answer = await ask('GET', path, headers);
  if (answer.status === 503) done.refused++;
  else if (answer.status !== status) wrong.push(`${path}: ${answer.status} ${answer.body.slice(0, 100)}`);
}

const end = () => performance.now() - startedAt > seconds * 1000;
const busy = new Set<Promise<void>>();

/** Begins the work so often a second, at even distances, but not while too much of it is under way. */
async function evenly(what: keyof typeof rates, work: () => Promise<void>, atOnce: number): Promise<void> {
  let under = 0;
  for (let count = 0; !end(); count++) {
    const wait = startedAt + (count * 1000) / rates[what] - performance.now();
    if (wait > 1) await delay(wait);
    if (under >= atOnce) {
      done.left++;
      continue;
    }
    under++;
    const begun = performance.now();
    const one = work()
      .catch((error: unknown) => void wrong.push(`${what}: ${String(error)}`))
      .finally(() => {
        under--;
        done[what]++;
        busy.delete(one);
        if (what !== 'syncs') times[what].push(performance.now() - begun);
      });
    busy.add(one);
  }
}

/** How full each cache of the server is, in MB. */
async function readCaches(): Promise<Record<string, { filled: number; limit: number }>> {
  const { body } = await ask('GET', '/metrics');
  const sizes = (name: string) =>
    [...body.matchAll(new RegExp(`^${name}\\{cache="(\\w+)"\\} (\\S+)$`, 'gm'))].map(
      ([, cache, bytes]) => [cache!, Number(bytes) / 2 ** 20] as const,
    );
  const limits = new Map(sizes('stele_cache_limit_bytes'));
  return Object.fromEntries(
    sizes('stele_cache_bytes').map(([cache, filled]) => [cache, { filled, limit: limits.get(cache)! }]),
  );
}

const shownCaches = (caches: Awaited<ReturnType<typeof readCaches>>) =>
  Object.entries(caches)
    .map(([cache, { filled, limit }]) => `${cache} ${filled.toFixed(1)} of ${limit}`)
    .join(', ');

interface Sample {
  at: number;
  rss: number;
  heap: number;
  external: number;
  files: number;
  sockets: number;
  /** Of its sandboxes and other children. */
  children: number;
}

async function sample(): Promise<Sample> {
  rmSync(memoryFile, { force: true });
  process.kill(server.pid, 'SIGUSR2');
  let memory: NodeJS.MemoryUsage | null = null;
  while (memory === null) {
    await delay(100);
    try {
      memory = JSON.parse(readFileSync(memoryFile, 'utf8')) as NodeJS.MemoryUsage;
    } catch {
      // Not yet.
    }
  }
  const links = readdirSync(`/proc/${server.pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${server.pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
  const sockets = links.filter((link) => link.startsWith('socket:')).length;
  return {
    at: Math.round((performance.now() - startedAt) / 1000),
    rss: memory.rss / 2 ** 20,
    heap: memory.heapUsed / 2 ** 20,
    external: memory.external / 2 ** 20,
    files: links.length - sockets,
    sockets,
    children: childrenOf(server.pid),
  };
}

function childrenOf(pid: number): number {
  const direct = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return direct.length;
}

// What readers ask for is there before the load begins.
for (const n of followed.keys())
  while ((await ask('GET', `/@acme/apis/r${n}@1.0.1.json`)).status !== 200) await delay(100);
for (const n of published.keys()) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: `P${n}`, slug: `p${n}`, visibility: 'public' });
  const { status } = await ask('POST', '/v1/apis', headers, body);
  if (status !== 201) throw new Error(`p${n} is not made: ${status}`);
}
{
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  await ask('POST', '/v1/apis', headers, JSON.stringify({ name: 'Large', slug: 'large', visibility: 'public' }));
}
const isFull = (caches: Awaited<ReturnType<typeof readCaches>>) =>
  ['objects', 'responses', 'results'].every((cache) => caches[cache]!.filled >= full * caches[cache]!.limit);
for (let n = 0, caches = await readCaches(); !isFull(caches); n++, caches = await readCaches()) {
  if (n === 400) throw new Error(`The caches do not fill: ${shownCaches(caches)} MB`);
  const version = `0.0.${n}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ version, document: { ...document('Large', version), 'x-filler': words(30_000) } });
  const { status } = await ask('POST', '/v1/apis/large/spec', headers, body);
  if (status !== 201) throw new Error(`large@${version} is not published: ${status}`);
  for (const coding of ['identity', 'gzip', 'br', 'zstd'])
    for (const format of ['json', 'yaml'])
      await ask('GET', `/@acme/apis/large@${version}.${format}`, { 'accept-encoding': coding });
}
console.log(`before: ${shownCaches(await readCaches())} MB`);
const startedAt = performance.now();
const samples: Sample[] = [];
async function watch(): Promise<void> {
  while (!end()) {
    await delay(interval * 1000);
    const taken = await sample();
    samples.push(taken);
    const { at, rss, heap, external, files, sockets, children } = taken;
    console.log(
      `${at} s: ${rss.toFixed(0)} MB resident, heap ${heap.toFixed(1)} MB and ${external.toFixed(1)} MB outside after collection, ` +
        `${files} files, ${sockets} sockets, ${children} children; ${shownCaches(await readCaches())} MB; ` +
        `${JSON.stringify(done)}, ${wrong.length} wrong`,
    );
  }
}
await Promise.all([watch(), evenly('reads', read, 64), evenly('publishes', publish, 8), evenly('syncs', sync, 8)]);
await Promise.all(busy);

const since = performance.now();
for (const [n, count] of pushed.entries()) {
  while (
    (await ask('GET', `/@acme/apis/r${n}@1.0.${count}.json`)).status !== 200 &&
    performance.now() - since < 120_000
  )
    await delay(200);
  if ((await ask('GET', `/@acme/apis/r${n}@1.0.${count}.json`)).status !== 200)
    wrong.push(`the tip of r${n} is not there`);
}
agent.destroy();
await server.stop();
const fsck = await runStele(['fsck', ...common]);
if (fsck.code !== 0) wrong.push(`stele fsck: ${fsck.stdout}${fsck.stderr}`);
await rm(root, { recursive: true, force: true });

const compared = samples.filter(({ at }) => at > warm * seconds);
const part = Math.max(1, Math.floor(compared.length / 4));
const middle = (of: readonly Sample[], member: keyof Sample) =>
  quantile(
    of.map((each) => each[member]),
    0.5,
  );
const growths = (['rss', 'heap', 'external', 'files', 'sockets'] as const).map((member) => {
  const [from, to] = [middle(compared.slice(0, part), member), middle(compared.slice(-part), member)];
  return { member, from, to, growth: to / from - 1 };
});
for (const { member, from, to, growth } of growths) {
  console.log(`${member}: ${from.toFixed(1)} → ${to.toFixed(1)} (${(100 * growth).toFixed(1)} %)`);
  if (member === 'rss' && growth >= 0.1) wrong.push(`${member} grew by ${(100 * growth).toFixed(1)} %`);
  if (member === 'files' && to - from > 4) wrong.push(`${to - from} more files are open`);
}
if (done.refused * 1000 > done.reads) wrong.push(`${done.refused} reads were refused with 503`);
const shown = (of: readonly number[]) =>
  `p50 ${quantile(of, 0.5).toFixed(1)} ms, p99 ${quantile(of, 0.99).toFixed(1)} ms`;
conclude(
  `${seconds} s: ${done.reads} reads (${shown(times.reads)}), ${done.publishes} publishes (${shown(times.publishes)}), ${done.syncs} pushes, ` +
    `${done.refused} reads refused with 503, ${done.left} left out because too many were under way`,
  wrong,
);
