/**
 * Ends processes while they append to the public log, and checks that no size ever has two heads, that each head goes on
 * from all that were seen before it, and that each version is in the log.
 *
 * First in memory: each life ends at a random write, before it or after it, unheard, beside another process that goes on.
 * Then for real: a process over a data folder is killed with SIGKILL at a random moment, and another takes its place.
 *
 *   node scripts/faults/log-heads.ts [--simulated 2000] [--real 60] [--seed 1]
 *
 * Exit code 1: one of that did not hold.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { argv } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { parseCheckpoint, type Checkpoint } from '../../src/model/transparency/checkpoint.ts';
import { formatNote } from '../../src/model/transparency/note.ts';
import {
  decodeBundle,
  nodesIn,
  tileWidth,
  isConsistent,
  leafHash,
  proveConsistency,
} from '../../src/model/transparency/tree.ts';
import { decodeLeaf } from '../../src/model/transparency/leaf.ts';
import { openRegistry } from '../../src/open.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { keepLog, publicLogOf, type PublicLog } from '../../src/registry/transparency/public-log.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryBucket } from '../../test/memory-store.ts';
import { createLoggedWorld, put } from '../../test/registry/transparency/logged.ts';
import { createRandom } from './operations.ts';

const upTo = createRandom(Number(argv['seed'] ?? 1));
const below = (limit: number): number => upTo(limit) - 1;

/** What was seen of a log: the signed head of each size. */
function createObserver() {
  const heads = new Map<number, string>();
  const wrong: string[] = [];
  return {
    wrong,
    heads,
    note(head: string) {
      const { size } = parseCheckpoint(head)!;
      const before = heads.get(size);
      if (before !== undefined && before !== head) wrong.push(`size ${size} has two heads:\n${before}\n${head}`);
      heads.set(size, head);
    },
    /** Checks all heads against the log at its end. `labels`: versions that must be in it. */
    async conclude(log: PublicLog, labels: ReadonlySet<string>) {
      const last = await log.checkpoint();
      const leaves = await leavesOf(log, last);
      const nodes = nodesIn(async (level, index) => {
        if (level > 0) return (await log.tile({ level, index, width: Math.min(tileWidth, Math.floor(last.size / tileWidth ** level) - index * tileWidth) }))!; // prettier-ignore
        return Buffer.concat(leaves.slice(index * tileWidth, (index + 1) * tileWidth).map(leafHash));
      }, last.size);
      for (const head of heads.values()) {
        const older = parseCheckpoint(head)!;
        const proof = older.size > last.size ? [] : await proveConsistency(nodes, older.size, last.size);
        if (older.size === 0) continue;
        if (!isConsistent(older, last, proof)) wrong.push(`the head of ${older.size} leaves is not of this log`);
      }
      const logged = leaves.flatMap((bytes) => {
        const leaf = decodeLeaf(bytes)!;
        return leaf.event === 'published' || leaf.event === 'listed' ? [`${leaf.coordinate}@${leaf.label}`] : [];
      });
      const there = new Set(logged);
      for (const label of labels) if (!there.has(label)) wrong.push(`${label} is not in the log`);
      return { leaves: last.size, heads: heads.size, twice: logged.length - there.size };
    },
  };
}

async function leavesOf(log: PublicLog, { size }: Checkpoint): Promise<Buffer[]> {
  const leaves: Buffer[] = [];
  for (let index = 0; index * tileWidth < size; index++) {
    const width = Math.min(tileWidth, size - index * tileWidth);
    leaves.push(...decodeBundle((await log.tile({ level: 'entries', index, width }))!)!);
  }
  return leaves;
}

/** A bucket that ends its process at a write. */
function endingAt(bucket: Bucket, call: number, before: boolean): Bucket {
  let calls = 0;
  return {
    ...bucket,
    async putIfAbsent(key, bytes) {
      if (++calls < call) return bucket.putIfAbsent(key, bytes);
      if (calls === call && !before) await bucket.putIfAbsent(key, bytes);
      throw new Error('This process has ended.');
    },
  };
}

async function simulate(lives: number): Promise<string[]> {
  const observer = createObserver();
  const bucket = createMemoryBucket();
  const { registry, another } = createLoggedWorld(bucket);
  const labels = new Set<string>();
  const open = async (made: Registry, over: Bucket) => (await publicLogOf({ ...made, bucket: over }))!;
  let survivor = await open(another(), { ...bucket });
  for (let life = 0; life < lives; life++) {
    for (let count = 1 + below(3); count > 0; count--) {
      const name = `@${below(2) ? 'acme' : 'other'}/apis/pay-${below(4)}@1.${life}.${count}`;
      await put(registry, name);
      labels.add(name);
    }
    const dying = await open(another(), endingAt(bucket, 1 + below(4), below(2) === 0)).catch(() => null);
    const works = [
      dying === null ? Promise.resolve() : dying.update().catch(() => undefined),
      below(2) ? survivor.update() : Promise.resolve(),
    ];
    await Promise.all(works);
    // Who cannot note a head signs none.
    const seen = await dying?.checkpoint().catch(() => null);
    for (const head of [seen, await survivor.checkpoint()]) if (head) observer.note(formatNote(head.note));
    if (life % 50 === 0) survivor = await open(another(), { ...bucket });
  }
  const last = await open(another(), { ...bucket });
  await last.update();
  const seen = await observer.conclude(last, labels);
  console.log(`${lives} lives that ended at a write: ${seen.heads} heads of ${seen.leaves} leaves, ${labels.size} versions, ${seen.twice} listed twice, ${observer.wrong.length} wrong`); // prettier-ignore
  return observer.wrong;
}

const url = 'https://registry.test';
const openFolder = (data: string) =>
  openRegistry(checkConfig({ url, organizations: { acme: {} } }, { base: data, data }));

/** What is killed: publishes as fast as it can, keeps the log, and tells each version and each head. */
async function victim(data: string, life: number): Promise<void> {
  const registry = await openFolder(data);
  await keepLog(registry, 100);
  const log = (await publicLogOf(registry))!;
  const tell = setInterval(() => {
    void log.checkpoint().then(({ note }) => process.send!({ head: formatNote(note) }));
  }, 5);
  for (let count = 0; count < 10_000; count++) {
    const name = `@acme/apis/pay@1.${life}.${count}`;
    await put(registry, name);
    process.send!({ name });
  }
  clearInterval(tell);
}

async function kill(lives: number): Promise<string[]> {
  const observer = createObserver();
  const data = await mkdtemp(join(tmpdir(), 'stele-heads-'));
  const labels = new Set<string>();
  try {
    for (let life = 0; life < lives; life++) {
      const child = fork(fileURLToPath(import.meta.url), ['--victim', data, '--life', String(life)]);
      const ended = once(child, 'exit');
      const before = labels.size;
      child.on('message', ({ head, name }: { head?: string; name?: string }) => {
        if (head !== undefined) observer.note(head);
        if (name !== undefined) labels.add(name);
      });
      while (labels.size === before && child.exitCode === null) await delay(5);
      if (labels.size === before) throw new Error('A process ended before it had published anything.');
      await delay(below(1500));
      child.kill('SIGKILL');
      await ended;
    }
    const registry = await openFolder(data);
    const log = (await publicLogOf(registry))!;
    await log.update();
    const seen = await observer.conclude(log, labels);
    console.log(`${lives} processes that were killed: ${seen.heads} heads of ${seen.leaves} leaves, ${labels.size} versions, ${seen.twice} listed twice, ${observer.wrong.length} wrong`); // prettier-ignore
    await registry.compiler.close();
    return observer.wrong;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

if (argv['victim'] === undefined) {
  const wrong = [...(await simulate(Number(argv['simulated'] ?? 2000))), ...(await kill(Number(argv['real'] ?? 60)))];
  for (const each of wrong.slice(0, 20)) console.error(each);
  process.exit(wrong.length > 0 ? 1 : 0);
} else await victim(String(argv['victim']), Number(argv['life']));
