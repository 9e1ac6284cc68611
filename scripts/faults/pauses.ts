/**
 * Three servers on one store. In each round one of them stops (SIGSTOP) at a random file call while writers work through all, and the clock of one
 * jumps by an hour; then it goes on. Checks that one writer wins each contested version, that nothing acknowledged is lost or changed, that no
 * server's latest goes back, and that what was made private through one is not served by the others a second later, nor at once by one that wakes up
 * after that.
 *
 *   node scripts/faults/pauses.ts [--rounds 20] [--nodes 3] [--seed 1]
 *
 * Exit code 1: one of that did not hold. The same seed stops at the same calls.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { argv, tmpdir } from 'zx';
import {
  checkStore,
  conclude,
  createRandom,
  isServed,
  isSuccess,
  makeStore,
  operationsFor,
  send,
  shared,
  type History,
} from './operations.ts';

const rounds = Number(argv['rounds'] ?? 20);
const count = Number(argv['nodes'] ?? 3);
const random = createRandom(Number(argv['seed'] ?? 1));
const folder = tmpdir();
const program = fileURLToPath(new URL('../../test/server/v1/child.ts', import.meta.url));
/** Milliseconds within which a node sees what another wrote (design §5), and what a busy machine adds. */
const seen = 1000;

interface Node {
  child: ChildProcess;
  url: string;
  latest: number;
}

async function start(): Promise<Node> {
  const child = fork(program, [folder], { execArgv: [] });
  const [[url]] = (await once(child, 'message')) as [[string]];
  return { child, url, latest: -1 };
}

const secret = await makeStore(folder);
const nodes = await Promise.all(Array.from({ length: count }, start));
const wrong: string[] = [];
const history: History = new Map();
const hidden: { slug: string; by: Node; at: number }[] = [];
let stops = 0;
let checks = 0;

const isStopped = ({ child }: Node) => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8').replace(/^.*\)/, ''));

async function write(node: Node, slug: string, round: number): Promise<void> {
  for (const operation of operationsFor(slug, `1.${round}.0`)) {
    const answer = await send(node.url, secret, operation);
    history.set(operation, answer);
    if (!isSuccess(answer) && !(operation.isRival && answer?.status === 409))
      wrong.push(`round ${round}, ${operation.key}: ${answer?.status} ${JSON.stringify(answer?.json)}`);
    if (operation.isPrivate && isSuccess(answer)) {
      hidden.push({ slug, by: node, at: performance.now() });
      if (await isServed(node.url, slug)) wrong.push(`${slug} is served where it was made private`);
    }
  }
}

/** What was made private long enough ago is not served. */
async function readHidden(node: Node): Promise<void> {
  const due = hidden.filter(({ at, by }) => by !== node && performance.now() - at > seen).slice(-8);
  await Promise.all(
    due.map(async ({ slug, at }) => {
      const age = Math.round(performance.now() - at);
      checks++;
      if (await isServed(node.url, slug)) wrong.push(`${slug} is served ${age} ms after it was made private`);
    }),
  );
}

async function readLatest(node: Node): Promise<void> {
  const headers = { authorization: `Bearer ${secret}` };
  const response = await fetch(`${node.url}/v1/apis/${shared}`, { headers });
  const { latest } = (await response.json()) as { latest: string | null };
  const round = latest === null ? -1 : Number(latest.split('.')[1]);
  if (round < node.latest) wrong.push(`the latest went back from 1.${node.latest}.0 to ${latest}`);
  node.latest = Math.max(node.latest, round);
}

async function playRound(round: number): Promise<void> {
  const victim = nodes[random(count) - 1]!;
  const pause = 500 + random(2500);
  nodes[random(count) - 1]!.child.send({ clock: (random(3) - 2) * 3_600_000 });
  victim.child.send({ stopAfter: random(250) });
  let isOver = false;
  const wake = async (): Promise<void> => {
    while (!isOver && !isStopped(victim)) await delay(20);
    if (!isStopped(victim)) return;
    stops++;
    await delay(pause);
    // Asked while it sleeps: the first thing that it does when it wakes up.
    const reading = readHidden(victim);
    victim.child.kill('SIGCONT');
    await reading;
  };
  const watch = async (node: Node): Promise<void> => {
    while (!isOver) {
      await readLatest(node);
      await delay(50);
    }
  };
  const watching = [wake(), ...nodes.map(watch)];
  await Promise.all(nodes.flatMap((node, n) => [0, 1].map((w) => write(node, `r${round}n${n}w${w}`, round))));
  await delay(seen);
  await Promise.all(nodes.map(readHidden));
  isOver = true;
  await Promise.all(watching);
}

const startedAt = performance.now();
for (let round = 0; round < rounds; round++) {
  await playRound(round);
  if ((round + 1) % 5 === 0) console.log(`${round + 1} rounds, ${stops} stops, ${wrong.length} wrong`);
}
for (const { child } of nodes) child.kill('SIGKILL');
wrong.push(...(await checkStore(folder, history)));
const seconds = Math.round((performance.now() - startedAt) / 1000);
conclude(
  `${count} servers, ${rounds} rounds, ${stops} stops, ${history.size} operations, ${checks} looks at what is private, in ${seconds} s`,
  wrong,
);
