/**
 * Stops a registry at each file call of several writers' publishes in turn, then reads what is left with a new one: what a killed process leaves
 * (`kill`), what a power cut leaves where the disk kept only what was fsynced (`cut`), or that and part of the rest (`luck`). All requests are
 * repeated under their Idempotency-Keys. Writers share entries of the log; with `--entries 250` they also make its first segment and checkpoint.
 *
 *   node scripts/faults/cuts.ts [--every 1] [--from 1] [--to 100] [--writers 4] [--entries 0] [--states kill,cut,luck] [--seed 1]
 *
 * The states take turns, beginning with the seed. Exit code 1: something acknowledged was lost, changed or done twice, or an answer was not true.
 */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, tmpdir } from 'zx';
import { watchFiles, type WatchedFiles } from '../../test/store/watched-files.ts';
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

const every = Number(argv['every'] ?? 1);
const from = Number(argv['from'] ?? 1);
const to = Number(argv['to'] ?? Infinity);
const writers = Number(argv['writers'] ?? 4);
const seed = Number(argv['seed'] ?? 1);
const states = String(argv['states'] ?? 'kill,cut,luck').split(',');
const root = tmpdir();
const wrong: string[] = [];
let acknowledged = 0;

const made = join(root, 'made');
const secret = await makeStore(made, Number(argv['entries'] ?? 0));

/** Answers whether the call was reached. */
async function tryOne(number: number): Promise<boolean> {
  const state = states[(number + seed) % states.length]!;
  const folder = join(root, `${number}`);
  await cp(made, folder, { recursive: true });
  const files = watchFiles(folder);
  const history: History = new Map();
  let stoppedAt: string | null = null;
  {
    await using api = await openFolder(folder, files);
    const start = files.calls.length;
    files.plan = (call) => {
      if (call.number === start + number) stoppedAt = `${call.name} ${call.path}`;
      return stoppedAt === null ? null : { kind: 'fails' };
    };
    const work = async (writer: number): Promise<void> => {
      for (const operation of operationsFor(`w${writer}`)) {
        const answer = await send(api.url, secret, operation);
        history.set(operation, stoppedAt === null ? answer : null);
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => work(writer)));
  }
  const left = `${folder}-left`;
  await leave(files, folder, left, state, number);
  const tell = (text: string) => void wrong.push(`call ${number} (${stoppedAt}), ${state}: ${text}`);
  acknowledged += [...history.values()].filter(isSuccess).length;
  (await checkStore(left, history)).forEach(tell);
  {
    await using api = await openFolder(left);
    (await repeat(api.url, secret, history)).forEach(tell);
  }
  (await checkStore(left, history)).forEach(tell);
  await rm(folder, { recursive: true });
  await rm(left, { recursive: true });
  return stoppedAt !== null;
}

async function leave(files: WatchedFiles, folder: string, to: string, state: string, number: number): Promise<void> {
  if (state === 'kill') return cp(folder, to, { recursive: true });
  const random = createRandom(seed * 100_003 + number);
  return files.copyAfterPowerCut(to, state === 'luck' ? () => random(2) === 1 : undefined);
}

const startedAt = performance.now();
let tried = 0;
for (let number = from; number <= to; number += every) {
  if (!(await tryOne(number))) break;
  tried++;
  if (tried % 25 === 0) console.log(`call ${number}: ${tried} stops, ${wrong.length} wrong`);
}
const seconds = Math.round((performance.now() - startedAt) / 1000);
conclude(`${tried} stops in ${seconds} s; ${acknowledged} operations acknowledged before them`, wrong);
