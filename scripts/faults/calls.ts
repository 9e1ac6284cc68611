/**
 * Lets every file call of making a resource and publishing two versions fail in turn: it fails and nothing was done, and it fails though it was
 * done. Each request is then repeated under the same Idempotency-Key, in the same process. Checks after each that an answer said what was so, that
 * what was acknowledged is what a power cut at that moment leaves, that the repetition succeeds, and that nothing was done twice.
 *
 *   node scripts/faults/calls.ts [--every 1] [--from 1] [--to 100] [--code EIO]
 *
 * Exit code 1: one of that did not hold.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { argv, echo, tmpdir } from 'zx';
import { createKey } from '../../src/registry/keys.ts';
import { newId } from '../../src/registry/registry.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { openApi } from '../../test/server/v1/api.ts';
import { watchFiles, type FileFault } from '../../test/store/watched-files.ts';
import {
  checkStore,
  codeOf,
  isSuccess,
  isThere,
  openFolderRegistry,
  operationsFor,
  send,
  type Operation,
} from './operations.ts';

const every = Number(argv['every'] ?? 1);
const from = Number(argv['from'] ?? 1);
const to = Number(argv['to'] ?? Infinity);
const code = String(argv['code'] ?? 'EIO');
const root = tmpdir();
const wrong: string[] = [];
const answers = new Map<string, number>();

/** Answers whether the call was reached. */
async function tryOne(number: number, kind: FileFault['kind']): Promise<boolean> {
  const folder = join(root, `${number}-${kind.replaceAll(' ', '-')}`);
  mkdirSync(folder);
  const name = `call ${number} ${kind}`;
  const files = watchFiles(folder);
  const plain = await openFolderRegistry(join(folder, 'data'));
  const bucket = await openFsBucket(join(folder, 'data'), { files });
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0 });
  const registry = { ...plain, bucket, objects: createObjects(bucket), refs };
  await using api = await openApi(registry);
  const { text: secret } = await createKey(registry, { org: 'acme', name: 'faults', scopes: ['admin'] }, author);
  const start = files.calls.length;
  let failed: string | null = null;
  files.plan = (call) => {
    if (failed !== null || call.number !== start + number) return null;
    failed = `${call.name} ${call.path}`;
    return { kind, code };
  };
  const acknowledged: Operation[] = [];
  for (const operation of operationsFor('pay')) {
    const first = await send(api.url, secret, operation);
    const outcome = isSuccess(first) ? 'success' : codeOf(first);
    answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
    const tell = (text: string) => void wrong.push(`${name} (${failed}), ${operation.key}: ${text}`);
    if (isSuccess(first)) acknowledged.push(operation);
    else if (outcome !== 'unavailable' && outcome !== 'outcome_unknown') tell(`answered ${first?.status} ${outcome}`);
    if (outcome === 'unavailable' && (await isThere(join(folder, 'data'), operation)))
      tell('said that nothing was written');
    const cut = `${folder}-cut`;
    await files.copyAfterPowerCut(cut);
    wrong.push(
      ...(await checkStore(join(cut, 'data'), acknowledged)).map((text) => `${name} (${failed}), power cut: ${text}`),
    );
    rmSync(cut, { recursive: true });
    const isBefore = failed === null;
    let again = await send(api.url, secret, operation);
    // The fault met the repetition: the next one has none.
    if (isBefore && failed !== null && !isSuccess(again)) again = await send(api.url, secret, operation);
    if (isSuccess(again)) acknowledged.push(...(isSuccess(first) ? [] : [operation]));
    else tell(`repeated: ${again?.status} ${codeOf(again)}`);
  }
  wrong.push(...(await checkStore(join(folder, 'data'), acknowledged)).map((text) => `${name} (${failed}): ${text}`));
  rmSync(folder, { recursive: true });
  return failed !== null;
}

const author = { actor: 'operator:faults', origin: null };
const startedAt = performance.now();
let tried = 0;
for (let number = from; number <= to; number += every) {
  const reached = [await tryOne(number, 'fails'), await tryOne(number, 'done but fails')];
  if (!reached.includes(true)) break;
  tried += 2;
  if (number % 50 === 0) echo(`${number} calls, ${wrong.length} wrong`);
}
echo(
  `${tried} faults in ${Math.round((performance.now() - startedAt) / 1000)} s; answers: ${JSON.stringify(Object.fromEntries(answers))}`,
);
echo(
  wrong.length === 0
    ? 'Every answer was true, nothing acknowledged was lost, nothing was done twice.'
    : wrong.slice(0, 40).join('\n'),
);
if (wrong.length > 0) process.exitCode = 1;
