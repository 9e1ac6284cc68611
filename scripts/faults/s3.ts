/**
 * Two servers on one bucket of a real S3 gateway (Ceph's) behind a proxy that spoils requests: 503, 500, resets, lost answers, requests that arrive
 * after they were given up or twice, answers cut in half, delays, and silence. Writers repeat what failed under its Idempotency-Key, as a client
 * does. Checks that nothing acknowledged was lost or changed, that one writer wins each contested version, that nothing was done twice, that the
 * latest never goes back on a server, that readers get the published bytes or a 503, and nothing private a second after it was made so.
 *
 *   node scripts/faults/s3.ts [--seconds 60] [--rate 5] [--writers 3] [--seed 1]
 *
 * `--rate`: per cent of the requests. Exit code 1: one of that did not hold, or fewer than 99.9 % of the publishes succeeded.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { argv } from 'zx';
import { openS3Bucket } from '../../src/store/s3.ts';
import { startCeph } from '../../test/servers/ceph.ts';
import { startFaultProxy, type HttpFault } from '../../test/servers/fault-proxy.ts';
import { openApi, type Api } from '../../test/server/v1/api.ts';
import {
  beginStore,
  checkRegistry,
  codeOf,
  conclude,
  createRandom,
  isSuccess,
  openBucketRegistry,
  operationsFor,
  repeat,
  send,
  shared,
  type Answer,
  type History,
  type Operation,
} from './operations.ts';

const seconds = Number(argv['seconds'] ?? 60);
const rate = Number(argv['rate'] ?? 5);
const writers = Number(argv['writers'] ?? 3);
const random = createRandom(Number(argv['seed'] ?? 1));
/** How often a client sends a request that was not answered, or with a 5xx. */
const attempts = 5;
/** Milliseconds within which a server sees what another wrote (design §5). */
const seen = 1000;

const faults: readonly (() => HttpFault)[] = [
  () => ({ kind: 'status', status: 503, code: 'SlowDown' }),
  () => ({ kind: 'status', status: 500, code: 'InternalError' }),
  () => ({ kind: 'reset' }),
  () => ({ kind: 'lost' }),
  () => ({ kind: 'later', passOn: delay(random(3000)) }),
  () => ({ kind: 'twice' }),
  () => ({ kind: 'cut' }),
  () => ({ kind: 'slow', milliseconds: random(2000) }),
  // Longer than a request is waited for.
  () => (random(4) === 1 ? { kind: 'slow', milliseconds: 30_000 } : { kind: 'slow', milliseconds: random(200) }),
  () => (random(4) === 1 ? { kind: 'silent' } : { kind: 'lost' }),
];
const spoiled = new Map<string, number>();
const wrong: string[] = [];
const history: History = new Map();
const counts = { published: 0, atOnce: 0, publishes: 0, requests: 0, read: 0, refused: 0 };
/** What is published and public, and by whom; until when it was so is decided by who takes it out. */
const open = new Map<string, { digest: unknown; at: number; by: Api }>();
const hidden: { slug: string; at: number; by: Api }[] = [];

const ceph = await startCeph();
const proxy = await startFaultProxy(ceph.port);
const settings = ceph.settings('faults');
const apis: Api[] = [];
for (let node = 0; node < 2; node++) {
  const bucket = await openS3Bucket({ ...settings, endpoint: proxy.endpoint });
  apis.push(await openApi(openBucketRegistry(bucket)));
}
const secret = await beginStore(apis[0]!);
// Until then, the other server may answer that it does not know the key.
await delay(seen);
const before = Object.values(proxy.seen).reduce((sum, each) => sum + each, 0);
proxy.choose = () => {
  counts.requests++;
  if (random(1000) > rate * 10) return null;
  const fault = faults[random(faults.length) - 1]!();
  spoiled.set(fault.kind, (spoiled.get(fault.kind) ?? 0) + 1);
  return fault;
};
const end = performance.now() + seconds * 1000;
const isOver = () => performance.now() > end;

/** Sends an operation as a client does that repeats what may not have happened, with growing pauses. */
async function persist(api: Api, operation: Operation): Promise<Answer> {
  let answer: Answer = null;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await delay(250 * 2 ** attempt);
    answer = await send(api.url, secret, operation);
    const isRunning = answer?.status === 409 && 'retryAfter' in answer.json;
    if (answer !== null && answer.status < 500 && !isRunning) {
      if (attempt === 0 && operation.label !== null) counts.atOnce++;
      return answer;
    }
    if (answer !== null && answer.status !== 503) wrong.push(`${operation.key}: ${answer.status} ${codeOf(answer)}`);
  }
  return answer;
}

async function write(api: Api, name: string): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const slug = `${name}-${round}`;
    for (const operation of operationsFor(slug, `1.${round}.0`)) {
      const { label, isRival, isPrivate } = operation;
      if (isPrivate) for (const place of open.keys()) if (place.startsWith(`${slug}@`)) open.delete(place);
      const answer = await persist(api, operation);
      history.set(operation, answer);
      const isLost = isRival && answer?.status === 409;
      if (label !== null) counts.publishes++;
      if (label !== null && (isSuccess(answer) || isLost)) counts.published++;
      if (answer !== null && answer.status < 500 && !isSuccess(answer) && !isLost)
        wrong.push(`${operation.key}: answered ${answer.status} ${JSON.stringify(answer.json)}`);
      const at = performance.now();
      if (label !== null && isSuccess(answer))
        open.set(`${operation.slug}@${label}`, { digest: answer!.json['digest'], at, by: api });
      if (isPrivate && isSuccess(answer)) hidden.push({ slug, at, by: api });
    }
  }
}

/** Reads as a stranger: something public, then something that was made private. */
async function read(api: Api): Promise<void> {
  for (; !isOver(); await delay(50)) {
    const places = [...open].slice(-40);
    const [place, known] = places[random(places.length) - 1] ?? [];
    if (place !== undefined && (known!.by === api || performance.now() - known!.at > seen)) {
      const response = await fetch(`${api.url}/@acme/apis/${place}.json`);
      const text = await response.text();
      counts.read++;
      if (response.status === 503) counts.refused++;
      else if (open.get(place) !== known) continue;
      else if (response.status !== 200) wrong.push(`${place}: read with ${response.status}`);
      else if (JSON.parse(text).info.version !== place.split('@')[1])
        wrong.push(`${place}: ${text.slice(0, 100)} was read`);
    }
    const lately = hidden.slice(-40);
    const one = lately[random(lately.length) - 1];
    if (one === undefined || (one.by !== api && performance.now() - one.at < seen)) continue;
    const response = await fetch(`${api.url}/@acme/apis/${one.slug}.json`);
    await response.arrayBuffer();
    const age = Math.round(performance.now() - one.at);
    if (response.ok) wrong.push(`${one.slug} is served ${age} ms after it was made private`);
  }
}

async function watchLatest(api: Api): Promise<void> {
  let highest = -1;
  for (; !isOver(); await delay(100)) {
    const response = await fetch(`${api.url}/v1/apis/${shared}`, { headers: { authorization: `Bearer ${secret}` } });
    const { latest } = (await response.json()) as { latest?: string | null };
    if (!response.ok || latest === undefined || latest === null) continue;
    const round = Number(latest.split('.')[1]);
    if (round < highest) wrong.push(`the latest of ${shared} went back from 1.${highest}.0 to ${latest}`);
    highest = Math.max(highest, round);
  }
}

const progress = setInterval(() => console.log(JSON.stringify({ ...counts, wrong: wrong.length })), 60_000);
await Promise.all(
  apis.flatMap((api, node) => [
    ...Array.from({ length: writers }, (_, writer) => write(api, `n${node}w${writer}`)),
    read(api),
    watchLatest(api),
  ]),
);
clearInterval(progress);
proxy.choose = () => null;
await proxy.settled();
const last: History = new Map([...history].slice(-100));
wrong.push(...(await repeat(apis[1]!.url, secret, last)));
for (const [operation, answer] of last) history.set(operation, answer);
for (const api of apis) await api[Symbol.asyncDispose]();
wrong.push(...(await checkRegistry(openBucketRegistry(await openS3Bucket(settings), 0), history)));
const share = counts.published / counts.publishes;
if (!(share >= 0.999)) wrong.push(`only ${counts.published} of ${counts.publishes} publishes ended`);
const kinds = JSON.stringify(Object.fromEntries(spoiled));
conclude(
  `${seconds} s, ${counts.requests} requests to the bucket (${before} before), spoiled: ${kinds}\n` +
    `${counts.publishes} publishes: ${counts.atOnce} answered at once, ${counts.published} (${(100 * share).toFixed(2)} %) within ${attempts} attempts\n` +
    `${counts.read} reads, ${counts.refused} of them refused with 503; ${history.size} operations checked`,
  wrong,
);
await proxy[Symbol.asyncDispose]();
await ceph[Symbol.asyncDispose]();
// Clients of S3 keep connections.
process.exit();
