/**
 * Damages many objects and log entries of one organization, batches and tiles of the public log, and heads, each as the
 * table of `test/server/damaged-store.ts` says. Checks that `fsck` finds each, that the
 * server sends none of the damaged bytes, that another organization is served as before, and that a repair from a copy makes every file as it was;
 * then, without a copy, that giving up leaves a sound store.
 *
 *   node scripts/faults/damage.ts [--damages 1000] [--versions 600] [--seed 1]
 *
 * Exit code 1: one of that did not hold. The same seed damages the same files.
 */
import { isDeepStrictEqual } from 'node:util';
import { argv, echo } from 'zx';
import { digestOf } from '../../src/model/digest.ts';
import type { Resource } from '../../src/model/resource.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { type Repaired, repairStore } from '../../src/registry/maintenance/repair.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createApp } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { readLogContents } from '../../src/store/log/check-log.ts';
import { entryKey, parseEntryKey } from '../../src/store/log/entry.ts';
import { createObjects, objectKey } from '../../src/store/objects.ts';
import { createMemoryBucket } from '../../test/memory-store.ts';
import {
  bucketOf,
  damageKey,
  damages,
  filesOf,
  fillLog,
  openStore,
  type Damage,
} from '../../test/server/damaged-store.ts';
import { createTestQueue, publishVersion } from '../../test/server/registry.ts';

const count = Number(argv['damages'] ?? 1000);
const versions = Number(argv['versions'] ?? 600);
let seed = Number(argv['seed'] ?? 1);
const wrong: string[] = [];
const author = { actor: 'operator:faults', origin: null };

/** A number from 0 to below `most`; the same sequence for the same seed (a linear congruential generator). */
function random(most: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * most);
}

type Files = Map<string, Uint8Array>;

const plain = openStore(createMemoryBucket());

/** Keys whose bytes are exchanged are of one of these. Of the last, nobody misses one, nor a bit of what is beside its number and digest. */
const alike = /^(?:objects|packs|log\/[^/]+|tree\/batches|tree\/tiles|work\/heads)\//;
const isHead = (key: string) => key.startsWith('work/heads/');

/** Damages so many of the keys of a bucket. Returns how each was. */
async function damage(bucket: Bucket, keys: readonly string[], most: number): Promise<Map<string, Damage>> {
  const left = [...keys];
  const done = new Map<string, Damage>();
  while (done.size < most && left.length > 0) {
    const [key] = left.splice(random(left.length), 1) as [string];
    const kind = alike.exec(key)![0];
    const others = left.filter((each) => each.startsWith(kind));
    const other = others[random(others.length)];
    const drawn = damages[random(damages.length)]!;
    const needsOther = drawn === 'swap' || drawn === 'duplicate';
    const possible = other === undefined && needsOther ? 'flip' : drawn;
    const how = isHead(key) && (possible === 'delete' || possible === 'flip') ? 'empty' : possible;
    await damageKey(bucket, [key, other ?? key], how, random(1000) / 1000);
    done.set(key, how);
    if (how !== 'swap') continue;
    left.splice(left.indexOf(other!), 1);
    done.set(other!, how);
  }
  return done;
}

// What is published, with the digest of each document.
const published = new Map<string, string>();
const isNames = { acme: new Set<string>(), beta: new Set<string>() };
const startedAt = performance.now();
for (const [org, most] of [
  ['acme', versions],
  ['beta', Math.ceil(versions / 10)],
] as const) {
  const before = new Set((await filesOf(plain.bucket)).keys());
  for (let number = 0; number < most; number++) {
    const name = `@${org}/apis/api-${number % 30}`;
    const label = `1.${Math.floor(number / 30)}.0`;
    // Within the beginning of a pack, behind it, and too large for one.
    const times = number % 50 === 0 ? 250_000 : number % 10 === 0 ? 40_000 : 1;
    const filler = `${org} ${number} `.repeat(times);
    const { text } = await publishVersion(plain, name, label, { document: { filler } });
    published.set(`${name}@${label}`, digestOf(text));
  }
  for (const key of (await filesOf(plain.bucket)).keys()) {
    if (!before.has(key) && /^(?:objects|packs)\/|^log\/@/.test(key)) isNames[org].add(key);
  }
}
await plain.refs.settle();
await fillLog(plain.bucket);
for (const key of (await filesOf(plain.bucket)).keys())
  if (/^tree\/(?:batches|tiles)\/|^work\/heads\/(?:@acme|tree)\//.test(key)) isNames.acme.add(key);
const original = await filesOf(plain.bucket);
/** Pieces of the log's summary. Who finds one missing reads the entries, and makes it again with the next change. */
const { summaries } = await readLogContents(plain.bucket, createObjects(plain.bucket), '@acme');
const remade = new Set(summaries.map((digest) => objectKey(digest)));
echo(
  `${original.size} files of ${published.size} versions, in ${Math.round((performance.now() - startedAt) / 1000)} s`,
);

/** Reads every version through the server. Returns how many were refused; other bytes than the published ones are wrong. */
async function readAll(registry: Registry, title: string): Promise<number> {
  const context = { registry, queue: createTestQueue(registry), url: 'http://registry.test', isReady: () => true };
  const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
  let refused = 0;
  for (const [name, digest] of published) {
    const response = await fetch(`${listening.url}/${name}.json`, { headers: { 'accept-encoding': 'identity' } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (response.status !== 200) refused++;
    if (response.status === 200 && digestOf(bytes) !== digest)
      wrong.push(`${title}: ${name} was served with other bytes`);
    if (response.status !== 200 && name.startsWith('@beta')) wrong.push(`${title}: ${name} was not served`);
  }
  await listening.close(1000);
  return refused;
}

/** Whether a check tells of a damaged key. */
async function unfound(bucket: Bucket, done: ReadonlyMap<string, string>): Promise<string[]> {
  const checked = await fsck(openStore(bucket));
  const keys = new Set(checked.damages.map(({ key }) => key));
  const needs = new Set(checked.damages.flatMap(({ version }) => (version ? [version.needs, version.manifest] : [])));
  const unknown = new Set<string>();
  for (const [key, bytes] of original) {
    if (!done.has(key) || parseEntryKey(key) === null) continue;
    for (const [digest] of Buffer.from(bytes)
      .toString()
      .matchAll(/sha256:[0-9a-f]{64}/g))
      unknown.add(digest);
  }
  for (const { key } of checked.damages) if (key.includes('beta')) wrong.push(`fsck tells of ${key}, which is sound`);
  return [...done].flatMap(([key, how]) => {
    if (keys.has(key) || (how === 'delete' && remade.has(key))) return [];
    // The public log is read up to the first damage.
    if (key.startsWith('tree/') && [...keys].some((each) => each.startsWith('tree/'))) return [];
    // Of missing entries in a row, the first is reported. What stands after a damaged one need not follow it.
    const sequence = parseEntryKey(key)?.sequence;
    if (sequence !== undefined && how === 'delete' && done.has(entryKey('@acme', sequence - 1))) return [];
    const digest = `sha256:${key.slice(key.indexOf('/sha256/') + 8).replace('/', '')}`;
    // What is deleted is missed by its version, unless the entry that names the version is damaged too, or its pack.
    const isMissed = how === 'delete' && (needs.has(digest as never) || unknown.has(digest) || isBehind(digest));
    return isMissed ? [] : [`${key} ${how}`];
    function isBehind(layer: string): boolean {
      return (
        [...done.keys()].some(
          (pack) => pack.startsWith('packs/') && Buffer.from(original.get(pack)!).includes(layer),
        ) ||
        [...original].some(
          ([pack, bytes]) =>
            pack.startsWith('packs/') &&
            unknown.has(`sha256:${pack.slice(13).replace('/', '')}`) &&
            Buffer.from(bytes).includes(layer),
        )
      );
    }
  });
}

// Objects and entries, and a repair from a copy.
const bucket = await bucketOf(original);
const done = await damage(bucket, [...isNames.acme], count);
const missed = await unfound(bucket, done);
wrong.push(...missed.map((text) => `not found: ${text}`));
const refused = await readAll(openStore(bucket), 'damaged');
const repairs: Repaired[] = [];
const options = {
  from: await bucketOf(original),
  giveUp: false,
  author,
  report: (each: Repaired) => void repairs.push(each),
};
const repaired = await repairStore(openStore(bucket), () => fsck(openStore(bucket)), options);
if (repaired.damages.length > 0) wrong.push(`${repaired.damages.length} damages are left after the repair`);
const isMade = (key: string) => done.get(key) === 'delete' && remade.has(key);
const digests = (each: Files) =>
  Object.fromEntries([...each].flatMap(([key, bytes]) => (isMade(key) ? [] : [[key, digestOf(bytes)]])));
if (!isDeepStrictEqual(digests(await filesOf(bucket)), digests(original)))
  wrong.push('the repaired store is another one');
echo(
  `${done.size} damaged: ${done.size - missed.length} found, ${refused} of ${published.size} versions refused, ${repairs.length} repaired from the copy`,
);

// Objects only, given up.
const second = await bucketOf(original);
const lost = await damage(
  second,
  [...isNames.acme].filter((key) => /^(?:objects|packs)\//.test(key)),
  Math.ceil(count / 3),
);
const reports: Repaired[] = [];
const after = await repairStore(openStore(second), () => fsck(openStore(second)), {
  from: null,
  giveUp: true,
  author,
  report: (each) => void reports.push(each),
});
if (after.damages.length > 0) wrong.push(`${after.damages.length} damages are left after giving up`);
const registry = openStore(second);
let withdrawn = 0;
for await (const name of registry.refs.list('resources/acme/')) {
  const { value } = (await registry.refs.read<Resource>(name))!;
  withdrawn += value.versions.filter(({ status }) => status.state === 'withdrawn').length;
}
const gone = await readAll(registry, 'given up');
if (gone !== withdrawn) wrong.push(`${gone} versions are not served, but ${withdrawn} were withdrawn`);
echo(`${lost.size} lost: ${withdrawn} versions given up, ${reports.length} lines reported`);
echo(
  wrong.length === 0
    ? 'All damage was found, none of it was served, nothing else was touched.'
    : wrong.slice(0, 40).join('\n'),
);
if (wrong.length > 0) process.exitCode = 1;
