/**
 * Kills a server with SIGKILL at random file calls of several writers' publishes, starts it again, and repeats every request under its
 * Idempotency-Key. Checks that nothing acknowledged was lost or changed, that repetitions succeed with the answer that was given before, that one
 * writer wins each contested version, and that nothing was done twice. A process serves several stores, because its start takes longer than the
 * rest: each kill counts once for each store that was at work.
 *
 *   node scripts/faults/kills.ts [--kills 200] [--stores 16] [--seed 1] [--writers 4]
 *
 * Exit code 1: one of that did not hold. The same seed kills after the same number of calls.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { argv, tmpdir } from 'zx';
import {
  checkStore,
  conclude,
  createRandom,
  isSuccess,
  makeStore,
  openFolder,
  operationsFor,
  repeat,
  send,
  type History,
} from './operations.ts';

const kills = Number(argv['kills'] ?? 200);
const writers = Number(argv['writers'] ?? 4);
const random = createRandom(Number(argv['seed'] ?? 1));
const root = tmpdir();
const program = fileURLToPath(new URL('../../test/server/v1/child.ts', import.meta.url));
const wrong: string[] = [];

interface Store {
  folder: string;
  secret: string;
  /** What the last victim was asked. */
  last: History;
  all: History;
}

const stores: Store[] = [];
for (let n = 0; n < Number(argv['stores'] ?? 16); n++) {
  const folder = join(root, `store-${n}`);
  stores.push({ folder, secret: await makeStore(folder), last: new Map(), all: new Map() });
}

async function start(): Promise<{ child: ChildProcess; urls: string[]; ended: Promise<unknown> }> {
  const child = fork(
    program,
    stores.map(({ folder }) => folder),
    { execArgv: [] },
  );
  const ended = once(child, 'exit');
  const [urls] = (await once(child, 'message')) as [string[]];
  return { child, urls, ended };
}

const startedAt = performance.now();
let rounds = 0;
let killed = 0;
let acknowledged = 0;

/** Repeats what the last victim left undone. */
async function goOn(store: Store, url: string): Promise<void> {
  for (const text of await repeat(url, store.secret, store.last))
    wrong.push(`round ${rounds}, ${store.folder}, ${text}`);
  for (const [operation, answer] of store.last) store.all.set(operation, answer);
  store.last = new Map();
}

async function work({ secret, last, folder }: Store, url: string): Promise<void> {
  const write = async (slug: string): Promise<void> => {
    for (const operation of operationsFor(slug, `1.${rounds}.0`))
      last.set(operation, await send(url, secret, operation));
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(`r${rounds}w${writer}`)));
  const answers = [...last.values()];
  if (answers.includes(null)) killed++;
  acknowledged += answers.filter(isSuccess).length;
  for (const [{ key, isRival }, answer] of last)
    if (answer !== null && !isSuccess(answer) && !(isRival && answer.status === 409))
      wrong.push(`round ${rounds}, ${folder}, ${key}: answered ${answer.status} ${JSON.stringify(answer.json)}`);
}

while (killed < kills) {
  const { child, urls, ended } = await start();
  await Promise.all(stores.map((store, n) => goOn(store, urls[n]!)));
  child.send({ dieAfter: random(150 * writers * stores.length) });
  await Promise.all(stores.map((store, n) => work(store, urls[n]!)));
  child.kill('SIGKILL');
  await ended;
  rounds++;
  if (rounds % 5 === 0)
    console.log(`${rounds} kills of ${stores.length} stores, ${killed} of them at work, ${wrong.length} wrong`);
}
let operations = 0;
for (const store of stores) {
  await using api = await openFolder(store.folder);
  await goOn(store, api.url);
  wrong.push(...(await checkStore(store.folder, store.all)).map((text) => `${store.folder}: ${text}`));
  operations += store.all.size;
}
const seconds = Math.round((performance.now() - startedAt) / 1000);
conclude(
  `${rounds} kills of ${stores.length} stores, ${killed} of them at work, ${acknowledged} of ${operations} operations acknowledged before, in ${seconds} s`,
  wrong,
);
