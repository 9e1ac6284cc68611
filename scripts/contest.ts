/**
 * Many clients publish to one API at once, over HTTP: in each round all of them want one label, each for a document of its own. Checks that each
 * label has one winner, that what is served is the winner's, that no version is lost, that latest is right after each round and, on no server, ever
 * goes back.
 *
 *   node scripts/contest.ts [--clients 64] [--rounds 2000] [--nodes 1] [--s3]
 *
 * By default to one server with a store on disk and the real compiler. With several nodes: to as many processes by turns, with a compiler that costs
 * little, because the contest is for the log; with `--s3` over a bucket of a real gateway (Ceph's). Exit code 1: one of that did not hold.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { argv, echo, tmpdir } from 'zx';
import { checkConfig } from '../src/config/load-config.ts';
import { openRegistry } from '../src/open.ts';
import { createKey } from '../src/registry/keys/keys.ts';
import { createPulls } from '../src/pulls/pulls.ts';
import type { Registry } from '../src/registry/registry.ts';
import { createSyncQueue } from '../src/sync/queue.ts';
import { openServer } from '../src/open-server.ts';
import { openFsBucket } from '../src/store/fs.ts';
import { openS3Bucket } from '../src/store/s3.ts';
import { startCeph } from '../test/servers/ceph.ts';
import { openBucketRegistry } from './faults/operations.ts';

const clients = Number(argv['clients'] ?? 64);
const rounds = Number(argv['rounds'] ?? 2000);
const nodes = Number(argv['nodes'] ?? 1);
/** Milliseconds within which a node sees what another wrote (design §5), and what a busy machine adds. */
const seen = 3000;
const data = tmpdir();
const author = { actor: 'operator:contest', origin: null };
const wrong: string[] = [];

interface Served {
  urls: string[];
  key: string;
  close(): Promise<void>;
}

async function makeKey(registry: Registry): Promise<string> {
  return (await createKey(registry, { org: 'acme', name: 'contest', scopes: ['admin'] }, author)).text;
}

async function serveHere(): Promise<Served> {
  const rateLimit = { key: 1e9, address: 1e9, failures: 1e9 };
  const registry = await openRegistry(checkConfig({ rateLimit }, { base: data, data }));
  const queue = createSyncQueue(registry, createPulls);
  const server = await openServer(registry, queue, { host: '127.0.0.1', port: 0 });
  const close = async () => {
    await server.close();
    await queue.close();
    await registry.close();
  };
  return { urls: [server.url], key: await makeKey(registry), close };
}

async function serveByProcesses(): Promise<Served> {
  const ceph = argv['s3'] === true ? await startCeph() : null;
  const settings = ceph?.settings('contest');
  const bucket = settings === undefined ? await openFsBucket(data) : await openS3Bucket(settings);
  const key = await makeKey(openBucketRegistry(bucket, 0));
  const program = fileURLToPath(new URL('../test/server/v1/child.ts', import.meta.url));
  const store = settings === undefined ? data : JSON.stringify(settings);
  const children = Array.from({ length: nodes }, () => fork(program, [store], { execArgv: [] }));
  const urls = await Promise.all(children.map(async (child) => ((await once(child, 'message')) as [[string]])[0][0]));
  const close = async () => {
    for (const child of children) child.kill('SIGKILL');
    await ceph?.[Symbol.asyncDispose]();
  };
  return { urls, key, close };
}

const { urls, key, close } = await (nodes > 1 || argv['s3'] === true ? serveByProcesses() : serveHere());

async function call(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const titleOf = (client: number) => `By client ${client}`;
const urlOf = (client: number) => urls[client % urls.length]!;
let isOver = false;

async function readLatest(url: string): Promise<string> {
  return String((await call(url, 'GET', '/v1/apis/pay')).json['latest']);
}

/** Looks at the latest of a node all the time. */
async function watch(url: string): Promise<void> {
  let highest = -1;
  while (!isOver) {
    const round = Number((await readLatest(url)).split('.')[2] ?? -1);
    if (round < highest) wrong.push(`the latest went back from 1.0.${highest} to 1.0.${round}`);
    highest = Math.max(highest, round);
    await delay(100);
  }
}

async function contest(round: number): Promise<void> {
  const version = `1.0.${round}`;
  const answers = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      call(urlOf(client), 'POST', '/v1/apis/pay/spec', {
        version,
        document: { openapi: '3.1.0', info: { title: titleOf(client), version }, paths: {} },
      }),
    ),
  );
  const winners = answers.flatMap(({ status }, client) => (status === 201 ? [client] : []));
  const losers = answers.filter(({ status }) => status === 409);
  if (winners.length !== 1 || losers.length !== clients - 1) {
    wrong.push(`${version}: ${winners.length} winners, ${losers.length} losers of ${clients}`);
    return;
  }
  const winner = winners[0]!;
  const { json } = await call(urlOf(winner), 'GET', `/@acme/apis/pay@${version}.json`);
  const { title } = json['info'] as { title: string };
  if (title !== titleOf(winner)) wrong.push(`${version}: ${title} is served, ${titleOf(winner)} won`);
  const since = performance.now();
  for (const url of urls) {
    let latest = await readLatest(url);
    while (url !== urlOf(winner) && latest !== version && performance.now() - since < seen) {
      await delay(50);
      latest = await readLatest(url);
    }
    if (latest !== version) wrong.push(`${version}: latest is ${latest}`);
  }
}

await call(urls[0]!, 'POST', '/v1/apis', { name: 'Pay', slug: 'pay' });
while ((await Promise.all(urls.map(readLatest))).includes('undefined')) await delay(50);
const watching = Promise.all(urls.map(watch));
const startedAt = performance.now();
for (let round = 0; round < rounds; round++) {
  await contest(round);
  if ((round + 1) % 100 === 0)
    echo(`${round + 1} rounds, ${Math.round((performance.now() - startedAt) / 1000)} s, ${wrong.length} wrong`);
}
isOver = true;
await watching;
const seconds = (performance.now() - startedAt) / 1000;
for (const url of urls) {
  let published = 0;
  for (let cursor: unknown = ''; cursor !== null;) {
    const page = await call(
      url,
      'GET',
      `/v1/apis/pay/versions?limit=100${cursor === '' ? '' : `&cursor=${String(cursor)}`}`,
    );
    published += (page.json['items'] as unknown[]).length;
    cursor = page.json['next'];
  }
  if (published !== rounds) wrong.push(`${published} versions of ${rounds} are there`);
}
echo(
  `${rounds} rounds of ${clients} clients, ${urls.length} servers, in ${seconds.toFixed(0)} s: ${Math.round((rounds * clients) / seconds)} publishes a second`,
);
const fine = 'One winner for each label, none lost, latest right.';
echo(wrong.length === 0 ? fine : wrong.slice(0, 20).join('\n'));
process.exitCode = wrong.length === 0 ? 0 : 1;
await close();
await rm(data, { recursive: true });
