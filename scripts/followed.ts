/**
 * What it costs one node to follow very many repositories in which nothing happens: requests a second, connections at a time, processor time,
 * memory, and how late the event loop is. The records are real and on a disk; the git server is a program beside it, which speaks git's protocol
 * and has one commit.
 *
 *   node --expose-gc scripts/followed.ts [--repositories 20000] [--organizations 20] [--interval 60] [--rounds 3]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { argv } from 'zx';
import { checkConfig } from '../src/config/load-config.ts';
import { repositoryId, repositoryRef, type Repository } from '../src/model/connection.ts';
import { resourceRef, type Resource } from '../src/model/resource.ts';
import { openRegistry } from '../src/open.ts';
import { createPulls } from '../src/pulls/pulls.ts';
import { newResource } from '../src/registry/change-resource.ts';
import { createSyncQueue } from '../src/sync/queue.ts';
import { openReconciler } from '../src/sync/reconcile.ts';

const commit = 'a'.repeat(40);
const packet = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text;

/** What the server saw in each second. */
interface Seconds {
  requests: number[];
  connections: number;
}

if (argv['serve']) serveGit();
else await measure();

function serveGit(): void {
  const requests: number[] = [];
  let begin = performance.now();
  let connections = 0;
  const server = createServer((request, response) => {
    const second = Math.floor((performance.now() - begin) / 1000);
    requests[second] = (requests[second] ?? 0) + 1;
    const isAdvertisement = request.method === 'GET';
    const type = `application/x-git-upload-pack-${isAdvertisement ? 'advertisement' : 'result'}`;
    request.resume().on('end', () => {
      response.setHeader('content-type', type);
      response.end(
        isAdvertisement
          ? `${packet('# service=git-upload-pack\n')}0000${packet('version 2\n')}${packet('agent=git/test\n')}${packet('ls-refs\n')}${packet('fetch=shallow filter\n')}${packet('object-format=sha1\n')}0000`
          : `${packet(`${commit} HEAD symref-target:refs/heads/main\n`)}0000`,
      );
    });
  });
  server.on('connection', () => {
    server.getConnections((_, count) => (connections = Math.max(connections, count)));
  });
  server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
  process.on('message', () => {
    process.send!({ requests: Array.from(requests, (count) => count ?? 0), connections } satisfies Seconds);
    requests.length = 0;
    connections = 0;
    begin = performance.now();
  });
}

async function measure(): Promise<void> {
  const count = Number(argv['repositories'] ?? 20_000);
  const organizations = Number(argv['organizations'] ?? 20);
  const interval = Number(argv['interval'] ?? 60);
  const rounds = Number(argv['rounds'] ?? 3);
  const folder = await mkdtemp(join(tmpdir(), 'stele-followed-'));
  const server = fork(import.meta.filename, ['--serve'], { execArgv: [] });
  try {
    const [port] = (await once(server, 'message')) as [number];
    const names = Array.from({ length: organizations }, (_, number) => `org-${number}`);
    const config = checkConfig(
      {
        organizations: Object.fromEntries(names.map((name) => [name, {}])),
        store: { kind: 'fs', path: join(folder, 'store') },
        sync: { interval, hosts: [`http://127.0.0.1:${port}`] },
      },
      { base: folder, data: join(folder, 'data') },
    );
    const registry = await openRegistry(
      config,
      (level, event, fields) => level !== 'info' && say(`${event} ${JSON.stringify(fields)}`.slice(0, 300)),
    );
    const begin = performance.now();
    const numbers = Array.from({ length: count }, (_, number) => number);
    for (let from = 0; from < count; from += 1000)
      await Promise.all(numbers.slice(from, from + 1000).map((number) => followOne(number, port)));
    say(`${count} repositories of ${organizations} organizations, written in ${seconds(begin)} s`);

    async function followOne(number: number, at: number): Promise<void> {
      const org = names[number % organizations]!;
      const url = `http://127.0.0.1:${at}/${org}/service-${number}.git`;
      const coordinate = { org, type: 'apis', slug: `service-${number}` } as const;
      const change = { actor: 'operator:bench', origin: null, action: 'follow' };
      const connection = { repository: url, branch: null, path: 'openapi.yaml', tags: null, credential: null };
      const resource: Resource = {
        ...newResource(registry, coordinate, { name: coordinate.slug }),
        connection: { ...connection, onConflict: 'revise', found: true },
      };
      const state = { resource: `@${org}/apis/${coordinate.slug}`, outcome: 'unchanged', label: '1.0.0' } as const;
      const read = { report: null, inputs: null, rulesetName: null, ruleset: null, compiler: registry.compiler.id };
      const repository: Repository = {
        org,
        url,
        branch: null,
        credential: null,
        discover: '',
        visibility: 'private',
        validation: 'strict',
        state: 'following',
        detail: null,
        gone: null,
        commit,
        trusted: commit,
        syncedAt: registry.now().toISOString(),
        documents: { 'openapi.yaml': { ...state, ...read } },
        tags: {},
      };
      const name = repositoryRef(org, repositoryId(url, null));
      await registry.refs.update<Repository>(name, () => ({ value: repository, change }));
      await registry.refs.update<Resource>(resourceRef(coordinate), () => ({ value: resource, change }));
    }

    const queue = createSyncQueue(registry, createPulls);
    const started = performance.now();
    const before = process.cpuUsage();
    const reconciler = await openReconciler(registry, queue);
    await reconciler.first;
    const { user, system } = process.cpuUsage(before);
    say(
      `the start: each asked once in ${seconds(started)} s, ${((user + system) / 1e6).toFixed(1)} s of processor time`,
    );
    await ask();
    say('round | polls a second: median, most | connections | processor s | loop late ms: p99, most | MB');
    for (let round = 1; round <= rounds; round++) {
      const late = monitorEventLoopDelay({ resolution: 5 });
      late.enable();
      const cpu = process.cpuUsage();
      await delay(interval * 1000);
      const used = process.cpuUsage(cpu);
      const { requests, connections } = await ask();
      late.disable();
      const sorted = requests.toSorted((one, other) => one - other);
      globalThis.gc?.();
      const cells = [
        round,
        `${sorted[Math.floor(sorted.length / 2)] ?? 0}, ${sorted.at(-1) ?? 0}`,
        connections,
        ((used.user + used.system) / 1e6).toFixed(1),
        `${(late.percentile(99) / 1e6).toFixed(0)}, ${(late.max / 1e6).toFixed(0)}`,
        (process.memoryUsage.rss() / 2 ** 20).toFixed(0),
      ];
      say(cells.join(' | '));
    }
    await reconciler.close();
    await queue.close();
    await registry.close();

    async function ask(): Promise<Seconds> {
      server.send('seconds');
      const [told] = (await once(server, 'message')) as [Seconds];
      return told;
    }
  } finally {
    server.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

function seconds(begin: number): string {
  return ((performance.now() - begin) / 1000).toFixed(1);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
