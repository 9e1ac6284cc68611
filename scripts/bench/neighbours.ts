/**
 * What one tenant feels of another: a quiet organization publishes a small document and reads it, alone and beside each attack by turns,
 * against one `stele serve`. Server, attacker and quiet tenant are processes of their own. Prints the 95th percentile of the publishes and the
 * 99th of the reads, and their ratios to those of the quiet rounds just before each.
 *
 *   node scripts/bench/neighbours.ts [--seconds 6] [--rounds 3] [--only compile,hooks]
 *
 * The first row is no attack: a process that only computes. It says what a process beside the server costs on this machine. Attackers have sessions
 * of their own that give way to the others (`sched_autogroup_enabled`). The goal is a ratio of at most 2. Exit code 1: one is over, or an attacker was
 * never answered.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv } from 'zx';
import { runStele, serveStele } from '../../test/e2e/stele.ts';
import { attackNames, control } from './attacks.ts';

const seconds = Number(argv['seconds'] ?? 6);
const rounds = Number(argv['rounds'] ?? 3);
const only = argv['only'] as string | undefined;
const secret = 'a secret that only this benchmark has';
const folder = await mkdtemp(join(tmpdir(), 'stele-neighbours-'));
const config = join(folder, 'config.mjs');
const common = ['--config', config, '--data', join(folder, 'data')];
await writeFile(
  config,
  `export default ${JSON.stringify({
    organizations: { quiet: { defaults: { visibility: 'public' } }, loud: {} },
    hosts: { gitea: { url: 'https://git.test', webhookSecret: { env: 'HOOK_SECRET' } } },
    rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 },
  })};`,
);

/** Milliseconds that each publish and each read took, and how many of them were refused. */
interface Times {
  publishes: number[];
  reads: number[];
  refused: number;
}

const keys = { quiet: await createKey('quiet'), loud: await createKey('loud') };
const stele = await serveStele(common, { env: { HOOK_SECRET: secret } });
let serial = 0;
let isOver = false;
try {
  await makeApi(keys.quiet, 'small');
  await makeApi(keys.loud, 'big');
  for (let warm = 0; warm < 10; warm++) await publishOnce();
  console.log(
    '| beside | publishes | alone p95 | p95 | ratio | reads | alone p99 | p99 | ratio | refused | attacker was answered |',
  );
  console.log('| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --- |');
  for (const name of attackNames)
    if (only === undefined || only.split(',').some((part) => name.includes(part))) await compare(name);
  console.log(`\n${rounds} rounds of ${seconds} s each; load of the machine at the end: ${loadavg()[0]!.toFixed(1)}`);
} finally {
  await stele.stop('SIGKILL');
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = isOver ? 1 : 0;

/** Measures quiet rounds and rounds of the attack by turns, and prints the row. */
async function compare(name: string): Promise<void> {
  const alone: Times = { publishes: [], reads: [], refused: 0 };
  const beside: Times = { publishes: [], reads: [], refused: 0 };
  const answers = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    await measure(alone);
    await attacked(name, answers, () => measure(beside));
    await settled(percentile(alone.publishes, 0.5));
  }
  const publish = [percentile(alone.publishes, 0.95), percentile(beside.publishes, 0.95)] as const;
  const read = [percentile(alone.reads, 0.99), percentile(beside.reads, 0.99)] as const;
  const ratios = [publish[1] / publish[0], read[1] / read[0]] as const;
  isOver ||= name !== control && (answers.size === 0 || ratios.some((ratio) => ratio > 2));
  const told = [...answers].map(([status, count]) => `${status} × ${count}`).join(', ');
  const show = ([from, to]: readonly [number, number]) => `${from.toFixed(0)} ms | ${to.toFixed(0)} ms`;
  console.log(
    `| ${name} | ${beside.publishes.length} | ${show(publish)} | ${ratios[0].toFixed(1)} ` +
      `| ${beside.reads.length} | ${show(read)} | ${ratios[1].toFixed(1)} | ${beside.refused} | ${told} |`,
  );
}

/** Does the work while the attack goes on, and adds what the attacker was answered. */
async function attacked(name: string, answers: Map<string, number>, work: () => Promise<void>): Promise<void> {
  const env = { ...process.env, ATTACK_URL: stele.url, ATTACK_KEY: keys.loud, ATTACK_SECRET: secret };
  const attacker = fork(new URL('attacks.ts', import.meta.url), [name], { env, detached: true });
  // An attacker has a machine of its own: here it gets only what the others leave.
  writeFileSync(`/proc/${attacker.pid}/autogroup`, '19');
  await once(attacker, 'message');
  attacker.send('begin');
  await delay(1000);
  await work();
  attacker.send('end');
  const [told] = (await once(attacker, 'message')) as [Record<string, number>];
  for (const [status, count] of Object.entries(told)) answers.set(status, (answers.get(status) ?? 0) + count);
}

/** Publishes one after the other, and reads beside it. */
async function measure(times: Times): Promise<void> {
  const end = performance.now() + seconds * 1000;
  const time = async (into: number[], pause: number, work: () => Promise<boolean>) => {
    while (performance.now() < end) {
      const started = performance.now();
      const isFine = await work().catch(() => false);
      into.push(performance.now() - started);
      if (!isFine) times.refused++;
      await delay(pause);
    }
  };
  await Promise.all([time(times.publishes, 50, publishOnce), time(times.reads, 5, readOnce)]);
}

/** Waits until a publish is as quick as it was again, or half a minute. */
async function settled(usual: number): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    const started = performance.now();
    await publishOnce().catch(() => false);
    if (performance.now() - started < usual * 1.5) return;
    await delay(500);
  }
}

async function makeApi(key: string, slug: string): Promise<void> {
  const response = await fetch(`${stele.url}/v1/apis`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: slug, slug, visibility: 'public' }),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

async function publishOnce(): Promise<boolean> {
  const version = `1.0.${++serial}`;
  const document = { openapi: '3.1.0', info: { title: 'Quiet', version }, paths: {} };
  const response = await fetch(`${stele.url}/v1/apis/small/spec`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.quiet}`, 'content-type': 'application/json' },
    body: JSON.stringify({ version, document }),
  });
  const text = await response.text();
  if (response.status !== 201 && serial < 10) throw new Error(text);
  return response.status === 201;
}

async function readOnce(): Promise<boolean> {
  const response = await fetch(`${stele.url}/@quiet/apis/small.json`);
  await response.arrayBuffer();
  return response.ok;
}

async function createKey(org: string): Promise<string> {
  const args = ['keys', 'create', '--org', org, '--scope', 'admin', '--name', 'bench', ...common];
  const { stdout, stderr } = await runStele(args);
  const key = /^stele_\w+$/m.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`No key: ${stdout}${stderr}`);
  return key;
}

function percentile(values: number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}
