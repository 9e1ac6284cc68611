/**
 * Kills a server with SIGKILL at random file calls of several writers' publishes, starts it again, and repeats every request under its
 * Idempotency-Key. Checks that nothing acknowledged was lost or changed, that repetitions succeed with the answer that was given before, that one
 * writer wins each contested version, and that nothing was done twice.
 *
 *   node scripts/faults/kills.ts [--kills 200] [--seed 1] [--writers 4]
 *
 * Exit code 1: one of that did not hold. The same seed kills at the same calls.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
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
const folder = tmpdir();
const program = fileURLToPath(new URL('../../test/server/v1/child.ts', import.meta.url));
const wrong: string[] = [];

async function start(): Promise<{ child: ChildProcess; url: string; ended: Promise<unknown> }> {
  const child = fork(program, [folder], { execArgv: [] });
  const ended = once(child, 'exit');
  const [url] = (await once(child, 'message')) as [string];
  return { child, url, ended };
}

const secret = await makeStore(folder);
const startedAt = performance.now();
const all: History = new Map();
let killed = 0;
let acknowledged = 0;
let last: History = new Map();

/** Repeats what the last victim left undone, then is the next one. */
async function playRound(round: number): Promise<void> {
  const { child, url, ended } = await start();
  for (const text of await repeat(url, secret, last)) wrong.push(`round ${round}, ${text}`);
  for (const [operation, answer] of last) all.set(operation, answer);
  last = new Map();
  child.send({ dieAfter: random(150 * writers) });
  const work = async (slug: string): Promise<void> => {
    for (const operation of operationsFor(slug, `1.${round}.0`))
      last.set(operation, await send(url, secret, operation));
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => work(`r${round}w${writer}`)));
  const answers = [...last.values()];
  if (answers.includes(null)) killed++;
  acknowledged += answers.filter(isSuccess).length;
  for (const [{ key, isRival }, answer] of last)
    if (answer !== null && !isSuccess(answer) && !(isRival && answer.status === 409))
      wrong.push(`round ${round}, ${key}: answered ${answer.status} ${JSON.stringify(answer.json)}`);
  child.kill('SIGKILL');
  await ended;
}

for (let round = 0; round < kills; round++) {
  await playRound(round);
  if ((round + 1) % 10 === 0) console.log(`${round + 1} rounds, ${killed} killed at work, ${wrong.length} wrong`);
}
{
  await using api = await openFolder(folder);
  wrong.push(...(await repeat(api.url, secret, last)));
  for (const [operation, answer] of last) all.set(operation, answer);
}
wrong.push(...(await checkStore(folder, all)));
const seconds = Math.round((performance.now() - startedAt) / 1000);
conclude(
  `${kills} kills (${killed} before the last answer), ${acknowledged} of ${all.size} operations acknowledged before, in ${seconds} s`,
  wrong,
);
