/**
 * Lets every file call of making a resource, publishing it and making it private fail in turn. Each request is then repeated under the same
 * Idempotency-Key, in the same process. Checks after each that an answer said what was so, that what was acknowledged is what a power cut at that
 * moment leaves, that the repetition succeeds, and that nothing was done twice.
 *
 * Faults: `EIO` (it fails and nothing was done), `done` (it fails though it was done), `ENOSPC` and `EMFILE` (where a call can fail so), and
 * `full` and `broken`: from that call on everything fails with ENOSPC or EIO, until the request was answered.
 *
 *   node scripts/faults/calls.ts [--every 1] [--from 1] [--to 100] [--faults EIO,done,ENOSPC,EMFILE,full,broken] [--at-once 4]
 *
 * Exit code 1: one of that did not hold.
 */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, tmpdir } from 'zx';
import { watchFiles, type FileCall, type FileFault } from '../../test/store/watched-files.ts';
import {
  checkStore,
  codeOf,
  conclude,
  isServed,
  isSuccess,
  isThere,
  makeStore,
  openFolder,
  operationsFor,
  send,
  type History,
} from './operations.ts';

/** What needs room. A file that is opened to be read does not. */
const isWriting = ({ name, path }: FileCall) =>
  name === 'open' ? path.startsWith('.tmp/') : ['write', 'mkdir', 'link'].includes(name);
const isOpening = ({ name }: FileCall) => ['open', 'read', 'readdir'].includes(name);

/** What fails, how, and whether it goes on. `meets`: the calls that can fail so; by default all. */
const faults: Record<string, FileFault & { meets?: (call: FileCall) => boolean; goesOn?: true }> = {
  EIO: { kind: 'fails', code: 'EIO' },
  done: { kind: 'done but fails', code: 'EIO' },
  ENOSPC: { kind: 'fails', code: 'ENOSPC', meets: isWriting },
  EMFILE: { kind: 'fails', code: 'EMFILE', meets: isOpening },
  full: { kind: 'fails', code: 'ENOSPC', meets: isWriting, goesOn: true },
  broken: { kind: 'fails', code: 'EIO', goesOn: true },
};

const every = Number(argv['every'] ?? 1);
const from = Number(argv['from'] ?? 1);
const to = Number(argv['to'] ?? Infinity);
const chosen = String(argv['faults'] ?? Object.keys(faults).join(',')).split(',');
const root = tmpdir();
const made = join(root, 'made');
const secret = await makeStore(made);
const wrong: string[] = [];
const answers = new Map<string, number>();
let tried = 0;

/** How many file calls there are when nothing fails. */
async function countCalls(): Promise<number> {
  const folder = join(root, 'counted');
  await cp(made, folder, { recursive: true });
  const files = watchFiles(folder);
  await using api = await openFolder(folder, files);
  const start = files.calls.length;
  for (const operation of operationsFor('pay')) {
    await send(api.url, secret, operation);
    await send(api.url, secret, operation);
  }
  return files.calls.length - start;
}

async function tryOne(number: number, named: string): Promise<void> {
  const { meets = () => true, goesOn = false, ...fault } = faults[named]!;
  const folder = join(root, `${number}-${named}`);
  await cp(made, folder, { recursive: true });
  const files = watchFiles(folder);
  await using api = await openFolder(folder, files);
  const start = files.calls.length;
  let failed: string | null = null;
  let isFailing = false;
  let isCut = false;
  files.plan = (call) => {
    const isThis = call.number === start + number;
    if (!meets(call) || !(isThis || isFailing)) return null;
    failed ??= `${call.name} ${call.path}`;
    isFailing = goesOn;
    return fault;
  };
  const history: History = new Map();
  for (const operation of operationsFor('pay')) {
    const tell = (text: string) => void wrong.push(`call ${number} ${named} (${failed}), ${operation.key}: ${text}`);
    const first = await send(api.url, secret, operation);
    isFailing = false;
    const outcome = isSuccess(first) ? 'success' : codeOf(first);
    answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
    history.set(operation, first);
    if (!['success', 'unavailable', 'outcome_unknown'].includes(outcome)) tell(`answered ${first?.status} ${outcome}`);
    if (outcome === 'unavailable' && (await isThere(folder, operation))) tell('said that nothing was written');
    if (outcome === 'success' && operation.isPrivate && (await isServed(api.url, 'pay'))) tell('served though private');
    // Once after the fault, and once at the end.
    if ((failed !== null && !isCut) || operation.isPrivate) {
      isCut = failed !== null;
      const cut = `${folder}-cut`;
      await files.copyAfterPowerCut(cut);
      (await checkStore(cut, history)).forEach((text) => tell(`power cut: ${text}`));
      await rm(cut, { recursive: true });
    }
    // It may have begun when a stranger read.
    isFailing = false;
    const isBefore = failed === null;
    let again = await send(api.url, secret, operation);
    isFailing = false;
    // The fault met the repetition: the next one has none.
    if (isBefore && failed !== null && !isSuccess(again)) again = await send(api.url, secret, operation);
    if (!isSuccess(again)) tell(`repeated: ${again?.status} ${codeOf(again)} ${String(again?.json['detail'])}`);
    history.set(operation, again);
  }
  if (failed !== null) tried++;
  for (const text of await checkStore(folder, history)) wrong.push(`call ${number} ${named} (${failed}): ${text}`);
  await rm(folder, { recursive: true });
}

const startedAt = performance.now();
const last = Math.min(to, await countCalls());
const work: { number: number; named: string }[] = [];
for (let number = from; number <= last; number += every) for (const named of chosen) work.push({ number, named });
const all = work.length;
await Promise.all(
  Array.from({ length: Number(argv['at-once'] ?? 4) }, async () => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) {
      await tryOne(next.number, next.named);
      const done = all - work.length;
      if (done % 100 === 0) console.log(`${done} of ${all}: ${tried} faults, ${wrong.length} wrong`);
    }
  }),
);
const seconds = Math.round((performance.now() - startedAt) / 1000);
const said = JSON.stringify(Object.fromEntries(answers));
conclude(`calls ${from} to ${last}: ${tried} faults in ${seconds} s; answers: ${said}`, wrong);
