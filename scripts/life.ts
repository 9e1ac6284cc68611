/**
 * Random lives of a registry, each compared with a model of what the documentation promises (`test/lives/model.ts`). Exit 1 at a
 * difference, with the shortest life that shows it and the command that repeats it.
 *
 *   node scripts/life.ts --seed 1 --count 1000 [--length 300]      fifty in a process, which says how they went
 *   node scripts/life.ts --seed 7 --steps 3,14,15
 *   node scripts/life.ts --seed 7 --only 'approval|restart'         of verbs whose names match
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { argv } from 'zx';
import { live, shrink } from '../test/lives/live.ts';

const first = Number(argv['seed'] ?? Date.now() % 1_000_000);
const count = Number(argv['count'] ?? 1);
const length = Number(argv['length'] ?? 300);
const only = String(argv['only'] ?? '');
const each = 50;
if (count > each) process.exit(await inProcesses());
const given = argv['steps'] === undefined ? null : String(argv['steps']).split(',').map(Number);
const steps = given ?? Array.from({ length }, (_, at) => at);
const started = Date.now();
let taken = 0;
let different = 0;
for (let seed = first; seed < first + count; seed++) {
  const lived = await live(seed, steps, only);
  taken += lived.taken.length;
  if (lived.faults.length === 0) continue;
  different++;
  const shortest = given === null ? await shrink(lived, only) : lived;
  console.log(
    `\nnode scripts/life.ts --seed ${seed} --steps ${shortest.taken.join(',')}${only && ` --only '${only}'`}`,
  );
  for (const line of shortest.said) console.log(`  ${line}`);
  for (const fault of shortest.faults.slice(0, 8)) console.log(`  NOT AS PROMISED: ${fault}`);
}
const seconds = ((Date.now() - started) / 1000).toFixed(0);
console.log(`${count} lives from seed ${first}, ${taken} steps, ${seconds} s: ${different} not as promised.`);
// The git host of the lives still listens.
process.exit(different === 0 ? 0 : 1);

/** A life leaves some 20 MB behind, so that a thousand of them would not fit into one process. */
async function inProcesses(): Promise<number> {
  let bad = 0;
  for (let seed = first; seed < first + count; seed += each) {
    const some = [
      '--seed',
      seed,
      '--count',
      Math.min(each, first + count - seed),
      '--length',
      length,
      '--only',
      only,
    ].map(String);
    const child = spawn(process.execPath, [import.meta.filename, ...some], { stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) bad++;
  }
  console.log(`${count} lives from seed ${first}: ${bad} of ${Math.ceil(count / each)} processes not as promised.`);
  return bad === 0 ? 0 : 1;
}
