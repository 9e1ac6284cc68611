/**
 * Kills a server with SIGKILL at a random file call, checks what it left, starts it again, and repeats every request under its Idempotency-Key.
 * Beside the publishes of several writers, which share entries of the log and now and then fill a segment, victims by turns do nothing else, collect
 * garbage, sync a repository, back the store up, or restore the backup.
 *
 * Checks after each kill that fsck finds nothing wrong and that everything acknowledged reads back; that a backup or a restored store that can be
 * opened is whole; and that an interrupted job succeeds when it is repeated. Checks after the next start that repetitions succeed with the answer
 * that was given before, that one writer wins each contested version, and that nothing was done twice.
 *
 *   node scripts/faults/kills.ts [--kills 200] [--seed 1] [--writers 3] [--lives 15] [--minutes 0] [--jobs publish,gc,sync,backup]
 *
 * `--lives`: how many victims a store has. `--minutes`: when to end in any case. Exit code 1: one of that did not hold. The same seed kills after the
 * same numbers of calls.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { join } from 'node:path';
import { argv, tmpdir } from 'zx';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { bundleVictim } from './bundle-victim.ts';
import {
  checkStore,
  conclude,
  createRandom,
  isSuccess,
  makeStore,
  openFolderRegistry,
  operationsFor,
  repeat,
  send,
  type History,
} from './operations.ts';
import { folders, type Job, type Orders, type Told } from './victim-orders.ts';

const kills = Number(argv['kills'] ?? 200);
const writers = Number(argv['writers'] ?? 3);
const lives = Number(argv['lives'] ?? 15);
const minutes = Number(argv['minutes'] ?? 0);
const chosen = String(argv['jobs'] ?? 'publish,gc,sync,backup').split(',') as Job[];
const random = createRandom(Number(argv['seed'] ?? 1));
const root = tmpdir();
const wrong: string[] = [];
const program = await bundleVictim(join(root, 'program'));
const made = join(root, 'made');
// The next entries fill its first segment.
const secret = await makeStore(join(made, folders.store), 230);
const env = { ...process.env, NODE_COMPILE_CACHE: join(root, 'compiled') };

/** What is left to do and to find in one store. */
interface Life {
  folder: string;
  round: number;
  /** What the last victim was asked. */
  last: History;
  /** What all were asked. */
  all: History;
  /** What was acknowledged when the last whole backup began; null: there is none. */
  backedUp: History | null;
  /** The last round whose sync succeeded. */
  synced: number | null;
  /** What is done next: a job that was interrupted, or the restore of a new backup. */
  again: Job | null;
  /** How often it was interrupted. */
  interrupted: number;
}

interface Victim {
  child: ChildProcess;
  url: string;
  ended: Promise<unknown>;
}

async function start(folder: string): Promise<Victim> {
  const child = fork(program, [folder], { execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'], env });
  const ended = once(child, 'exit');
  const early = ended.then(([code]) => {
    throw new Error(`A victim ended with ${String(code)} before it listened.`);
  });
  const [{ url }] = (await Promise.race([once(child, 'message'), early])) as [{ url: string }];
  early.catch(() => undefined);
  return { child, url, ended };
}

/** Told at once, because a run takes an hour and may be ended before. */
function report(text: string): void {
  console.log(text);
  wrong.push(text);
}

/** How far a kill may be, in file calls: a copy takes thousands. */
const reach: Record<Job, number> = {
  publish: 150 * writers,
  gc: 2000,
  sync: 200 * writers,
  backup: 3000,
  restore: 3000,
};
const count = { victims: 0, atWork: 0, acknowledged: 0, operations: 0, byJob: new Map<Job, number>() };

async function live(life: Life): Promise<void> {
  const { folder } = life;
  const tell = (text: string): void => report(`victim ${count.victims}, ${folder} round ${life.round}: ${text}`);
  const { child, url, ended } = await start(folder);
  for (const text of await repeat(url, secret, life.last)) tell(text);
  for (const [operation, answer] of life.last) life.all.set(operation, answer);
  life.last = new Map();
  const job = jobOf(life);
  const before: History = new Map(life.all);
  const heard: Told[] = [];
  const answered = new Promise<void>((resolve) => {
    child.on('message', (told: Told) => {
      heard.push(told);
      resolve();
    });
  });
  child.send({ dieAfter: random(reach[job] * 2 ** life.interrupted), job, round: life.round } satisfies Orders);
  const work = async (slug: string): Promise<void> => {
    for (const operation of operationsFor(slug, `1.${life.round}.0`))
      life.last.set(operation, await send(url, secret, operation));
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => work(`r${life.round}w${writer}`)));
  // A job goes on after the last request. Garbage is collected without end.
  if (job !== 'gc') await Promise.race([answered, ended]);
  child.kill('SIGKILL');
  await ended;
  count.victims++;
  count.byJob.set(job, (count.byJob.get(job) ?? 0) + 1);
  const answers = [...life.last.values()];
  if (answers.includes(null) || heard.length === 0) count.atWork++;
  count.acknowledged += answers.filter(isSuccess).length;
  count.operations += answers.length;
  for (const [{ key, isRival }, answer] of life.last)
    if (answer !== null && !isSuccess(answer) && !(isRival && answer.status === 409))
      tell(`${key}: answered ${answer.status} ${JSON.stringify(answer.json)}`);
  for (const told of heard) if ('failed' in told) tell(`${job}: ${told.failed}`);
  const isDone = heard.some((told) => 'done' in told) || (job === 'restore' && isRestored(folder));
  const isLeft = !isDone && job !== 'gc' && job !== 'publish';
  life.interrupted = isLeft ? life.interrupted + 1 : 0;
  life.again = isLeft ? job : null;
  if (isDone && job === 'backup') {
    life.backedUp = before;
    life.again = 'restore';
  }
  if (isDone && job === 'sync') life.synced = life.round;
  const found = await check(life);
  for (const text of found) tell(text);
  // The next victim would change what tells why.
  if (found.length > 0) await cp(folder, `${folder}-wrong-${life.round}`, { recursive: true });
  if (isDone && job === 'restore') await rm(join(folder, folders.restored), { recursive: true });
  life.round++;
}

/** Whether nothing is left to do, though the victim could not say so: repeated, the restore would be refused. */
function isRestored(folder: string): boolean {
  const path = join(folder, folders.restored);
  return existsSync(join(path, 'format')) && !existsSync(join(path, 'incomplete'));
}

function jobOf({ again }: Life): Job {
  if (again !== null) return again;
  return chosen[random(chosen.length) - 1]!;
}

/** What is wrong with the store and its copies. */
async function check({ folder, all, last, backedUp, synced }: Life): Promise<string[]> {
  const found = await checkStore(join(folder, folders.store), new Map([...all, ...last]));
  for (const copy of [folders.backup, folders.restored]) {
    const path = join(folder, copy);
    if (existsSync(join(path, 'format')))
      found.push(...(await checkStore(path, backedUp ?? new Map())).map((text) => `${copy}: ${text}`));
  }
  if (synced === null) return found;
  const { refs } = await openFolderRegistry(join(folder, folders.store));
  const resource = (await refs.read<Resource>(resourceRef({ org: 'acme', type: 'apis', slug: 'sync' })))?.value;
  const labels = resource?.versions.map(({ label }) => label) ?? [];
  if (!labels.includes(`1.${synced}.0`)) found.push(`1.${synced}.0 was synced and is not there`);
  if (new Set(labels).size < labels.length) found.push(`a version was synced twice: ${labels.join(', ')}`);
  return found;
}

const startedAt = performance.now();
const elapsed = (): number => Math.round((performance.now() - startedAt) / 1000);
const isOver = (): boolean => count.atWork >= kills || (minutes > 0 && elapsed() > minutes * 60);
const summary = (): string =>
  `${count.victims} processes killed, ${count.atWork} of them at work (${[...count.byJob].map(([job, n]) => `${n} ${job}`).join(', ')}); ` +
  `${count.acknowledged} of ${count.operations} operations acknowledged before; ${elapsed()} s`;
for (let n = 0; !isOver(); n++) {
  const folder = join(root, `store-${n}`);
  await cp(made, folder, { recursive: true });
  const life: Life = {
    folder,
    round: 0,
    last: new Map(),
    all: new Map(),
    backedUp: null,
    synced: null,
    again: null,
    interrupted: 0,
  };
  while (life.round < lives && !isOver()) await live(life);
  // The last one is repeated too.
  const { child, url, ended } = await start(folder);
  for (const text of await repeat(url, secret, life.last)) report(`${folder}, at the end: ${text}`);
  child.kill('SIGKILL');
  await ended;
  for (const text of await check(life)) report(`${folder}, at the end: ${text}`);
  await rm(folder, { recursive: true });
  console.log(`${summary()}, ${wrong.length} wrong`);
}
conclude(summary(), wrong);
