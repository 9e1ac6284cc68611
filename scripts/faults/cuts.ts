/**
 * Stops a registry at each file call of several writers' publishes in turn, then reads what is left with a new one: what a killed process leaves
 * (`kill`), what a power cut leaves where the disk kept only what was fsynced (`cut`), or that and part of the rest (`luck`). All requests are
 * repeated under their Idempotency-Keys. Writers share entries of the log; with `--entries 250` they also make its first segment and checkpoint.
 *
 *   node scripts/faults/cuts.ts [--every 1] [--from 1] [--to 100] [--writers 4] [--entries 0] [--states kill,cut,luck] [--seed 1]
 *
 * The states take turns, beginning with the seed. Exit code 1: something acknowledged was lost, changed or done twice, or an answer was not true.
 */
import { join } from 'node:path';
import { argv, tmpdir } from 'zx';
import { conclude, makeStore } from './operations.ts';
import { states, stopAt, type State } from './stop-at.ts';

const every = Number(argv['every'] ?? 1);
const from = Number(argv['from'] ?? 1);
const to = Number(argv['to'] ?? Infinity);
const writers = Number(argv['writers'] ?? 4);
const seed = Number(argv['seed'] ?? 1);
const chosen = String(argv['states'] ?? states.join(',')).split(',') as State[];
const root = tmpdir();
const made = join(root, 'made');
const secret = await makeStore(made, Number(argv['entries'] ?? 0));
const wrong: string[] = [];
let acknowledged = 0;
let tried = 0;

const startedAt = performance.now();
for (let number = from; number <= to; number += every) {
  const state = chosen[(number + seed) % chosen.length]!;
  const found = await stopAt({ made, secret, folder: join(root, `${number}`), writers, number, state, seed });
  if (!found.isReached) break;
  wrong.push(...found.wrong);
  acknowledged += found.acknowledged;
  tried++;
  if (tried % 25 === 0) console.log(`call ${number}: ${tried} stops, ${wrong.length} wrong`);
}
const seconds = Math.round((performance.now() - startedAt) / 1000);
conclude(`${tried} stops in ${seconds} s; ${acknowledged} operations acknowledged before them`, wrong);
