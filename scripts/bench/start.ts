/**
 * How long it takes to start: `stele serve` over a full store, until `/readyz` answers, a first document is read and the search is complete, and
 * its memory then; and commands of the packed build, beside redocly's. Run `npm run build` first.
 *
 *   node scripts/bench/start.ts [--rounds 7] [--resources 10000] [--versions 20] [--bars help,start-ready]
 *
 * All versions of the store have one document, so the search reads little from the disk.
 */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { $, argv } from 'zx';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { quantile } from '../load/quantile.ts';
import { fillOrganization } from './fill.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';
import { waitForSnapshots } from './wait-for-snapshot.ts';
import { makeDocument, openWire, root } from './wire.ts';

const rounds = Number(argv['rounds'] ?? 7);
const resources = Number(argv['resources'] ?? 10_000);
const versions = Number(argv['versions'] ?? 20);
const built = join(root, 'dist/cli.js');
const redocly = join(root, 'node_modules/@redocly/cli/bin/cli.js');

await using wire = await openWire({ organizations: { bench: { defaults: { visibility: 'public' } } } });
const results: Measured[] = [];
if (isAsked('help', 'lint-small')) await measureCommands();
if (isAsked('start-ready', 'start-first', 'start-search', 'start-memory')) await measureServer();
await reportResults(results.filter(({ row }) => isAsked(row as 'help')));
process.exit(0);

async function measureCommands(): Promise<void> {
  if (!existsSync(built)) throw new Error('There is no build. Run npm run build first.');
  const env = { PATH: process.env['PATH'], HOME: wire.folder, REDOCLY_TELEMETRY: 'off' };
  const quiet = $({ cwd: wire.folder, quiet: true, nothrow: true, env });
  const node = process.execPath;
  const info = '{ title: Small, version: 1.0.0 }';
  await writeFile(join(wire.folder, 'small.yaml'), `openapi: 3.1.0\ninfo: ${info}\npaths: {}\n`);
  const commands = {
    help: () => quiet`${node} ${built} --help`,
    lint: () => quiet`${node} ${built} lint small.yaml`,
    redocly: () => quiet`${node} ${redocly} lint --extends=recommended small.yaml`,
  };
  const times: Record<string, number[]> = { help: [], lint: [], redocly: [] };
  await commands.lint();
  await waitForSnapshots(wire.folder, ['all']);
  for (let round = -1; round < rounds; round++)
    for (const [name, run] of Object.entries(commands)) {
      const startedAt = performance.now();
      await run();
      if (round >= 0) times[name]!.push(performance.now() - startedAt);
    }
  const [help, lint, peer] = ['help', 'lint', 'redocly'].map((name) => quantile(times[name]!, 0.5));
  results.push(
    { row: 'help', value: help!, seen: `${rounds} rounds` },
    { row: 'lint-small', value: lint! / peer!, seen: `${lint!.toFixed(0)} ms, redocly ${peer!.toFixed(0)} ms` },
  );
}

async function measureServer(): Promise<void> {
  await writeFile(join(wire.folder, 'document.json'), makeDocument(5e3));
  await wire.stele('publish', 'document.json', '@bench/apis/small', '--version', '1.0.0');
  await fillStore();
  const [ready, first, complete, memory]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    const startedAt = performance.now();
    const server = await wire.serveStele({ cores: '0,1' });
    ready.push((performance.now() - startedAt) / 1000);
    first.push(await readOne(server.url));
    while (!(await isComplete(server.url))) await delay(50);
    complete.push((performance.now() - startedAt) / 1000);
    const status = await readFile(`/proc/${server.pids[0]!}/status`, 'utf8');
    memory.push(Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024);
    await wire.stop(server);
  }
  const seen = `${resources} × ${versions}, of ${ready.length} starts`;
  results.push(
    { row: 'start-ready', value: quantile(ready, 0.5), seen },
    { row: 'start-first', value: quantile(first, 0.5), seen },
    { row: 'start-search', value: quantile(complete, 0.5), seen },
    { row: 'start-memory', value: quantile(memory, 0.5), seen: `${seen}, the most until then` },
  );
}

/** Milliseconds until a document is there that nobody read since the start. */
async function readOne(url: string): Promise<number> {
  // A connection is not what is measured.
  await (await fetch(`${url}/healthz`)).arrayBuffer();
  const startedAt = performance.now();
  const answer = await fetch(`${url}/@many/apis/api-000077@1.${versions - 1}.0`);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`The first read was answered with ${answer.status}.`);
  return performance.now() - startedAt;
}

async function isComplete(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/search?q=invoice`);
  return answer.ok && ((await answer.json()) as { complete: boolean }).complete;
}

function fillStore(): Promise<void> {
  return wire.inRegistry(async (registry) => {
    const small = { org: 'bench', type: 'apis', slug: 'small' } as const;
    const published = await registry.refs.read<Resource>(resourceRef(small));
    const make = (slug: string) =>
      newResource(registry, { org: 'many', type: 'apis', slug }, { name: slug, visibility: 'public' });
    await fillOrganization(registry.refs, make, { resources, versions, like: published!.value.versions[0]! });
  });
}
