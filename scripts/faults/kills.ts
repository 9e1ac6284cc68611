/**
 * Kills a server with SIGKILL at random file calls of publishes, starts it again, and repeats every request under its Idempotency-Key.
 * Checks that nothing acknowledged was lost, that repetitions succeed with the answer that was given before, and that nothing was done twice.
 *
 *   node scripts/faults/kills.ts [--kills 200] [--seed 1]
 *
 * Exit code 1: one of that did not hold. The same seed kills at the same calls.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { fileURLToPath } from 'node:url';
import { argv, echo, tmpdir } from 'zx';
import { createKey } from '../../src/registry/keys.ts';
import {
  checkStore,
  codeOf,
  isSuccess,
  openFolderRegistry,
  operationsFor,
  send,
  type Answer,
  type Operation,
} from './operations.ts';

const kills = Number(argv['kills'] ?? 200);
let seed = Number(argv['seed'] ?? 1);
const folder = tmpdir();
const program = fileURLToPath(new URL('../../test/server/v1/child.ts', import.meta.url));
const wrong: string[] = [];

/** A number from 1 to `most`; the same sequence for the same seed (a linear congruential generator). */
function random(most: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return 1 + Math.floor((seed / 2 ** 32) * most);
}

async function start(last: number | null): Promise<{ child: ChildProcess; url: string; ended: Promise<unknown> }> {
  const child = fork(program, [folder, ...(last === null ? [] : [String(last)])], { execArgv: [] });
  const ended = once(child, 'exit');
  const [url] = (await once(child, 'message')) as [string];
  return { child, url, ended };
}

const author = { actor: 'operator:faults', origin: null };
const registry = await openFolderRegistry(folder);
const { text: secret } = await createKey(registry, { org: 'acme', name: 'faults', scopes: ['admin'] }, author);
const startedAt = performance.now();
const acknowledged: Operation[] = [];
let killed = 0;
let answered = 0;
for (let round = 0; round < kills; round++) {
  const operations = operationsFor(`pay-${round}`);
  const victim = await start(random(300));
  const early: Answer[] = [];
  for (const operation of operations) early.push(await send(victim.url, secret, operation));
  if (early.includes(null)) killed++;
  victim.child.kill('SIGKILL');
  await victim.ended;
  const server = await start(null);
  for (const [index, operation] of operations.entries()) {
    const tell = (text: string) => void wrong.push(`round ${round}, ${operation.key}: ${text}`);
    const before = early[index]!;
    const again = await send(server.url, secret, operation);
    if (!isSuccess(again)) tell(`repeated: ${again?.status} ${codeOf(again)}`);
    if (before !== null && !isSuccess(before)) tell(`answered ${before.status} ${codeOf(before)}`);
    if (isSuccess(before)) answered++;
    if (isSuccess(before) && !isDeepStrictEqual(before, again)) tell('repeated: another answer');
    acknowledged.push(operation);
  }
  server.child.kill('SIGKILL');
  await server.ended;
  if ((round + 1) % 20 === 0) echo(`${round + 1} rounds, ${killed} killed at work, ${wrong.length} wrong`);
}
wrong.push(...(await checkStore(folder, acknowledged)));
echo(
  `${kills} kills (${killed} of them before the last answer), ${answered} of ${acknowledged.length} operations acknowledged before, in ${Math.round((performance.now() - startedAt) / 1000)} s`,
);
echo(
  wrong.length === 0
    ? 'Nothing acknowledged was lost, every repetition succeeded, nothing was done twice.'
    : wrong.slice(0, 40).join('\n'),
);
if (wrong.length > 0) process.exitCode = 1;
