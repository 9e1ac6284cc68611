/**
 * 16 clients publish documents of 5 KB into one organization on a disk, against 16 loops that only write the same files with the same fsyncs, in
 * alternating rounds; and the processor time of one publish.
 *
 *   node scripts/bench/clients.ts [--clients 16] [--each 10] [--rounds 3]
 */
import { link, mkdir, mkdtemp, open, rm, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { argv } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import { childrenTime } from '../load/processor-time.ts';
import { reportResults } from './results.ts';
import { publishSmall } from './small-document.ts';

const atOnce = Number(argv['clients'] ?? 16);
const each = Number(argv['each'] ?? 10);
const most = Number(argv['rounds'] ?? 3);
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const config = checkConfig({ log: { level: 'silent' } }, { base: folder, data: join(folder, 'data') });
const registry = await openRegistry(config, undefined, { hasSpare: true });
let written: { key: string; bytes: Uint8Array }[] = [];
const { putIfAbsent } = registry.bucket;
registry.bucket.putIfAbsent = (key, bytes) => {
  written.push({ key, bytes });
  return putIfAbsent(key, bytes);
};
let number = 0;
const publishAll = () =>
  Promise.all(
    Array.from({ length: atOnce }, async (_, client) => {
      for (let index = 0; index < each; index++) await publishSmall(registry, `client-${client}`, `1.${number++}.0`);
    }),
  );
await publishAll();
const rounds: { ours: number; bare: number; own: number; sandboxes: number }[] = [];
const count = atOnce * each;
for (let round = 0; round < most; round++) {
  written = [];
  const [cpu, children, started] = [process.cpuUsage(), childrenTime(), performance.now()];
  await publishAll();
  const ours = performance.now() - started;
  const { user, system } = process.cpuUsage(cpu);
  const sandboxes = (1000 * (childrenTime() - children)) / count;
  const bare = await writeBare(written, join(folder, `bare-${round}`));
  rounds.push({ ours, bare, own: (user + system) / 1000 / count, sandboxes });
}
await registry.close();
const of = (member: keyof (typeof rounds)[number]) => median(rounds.map((round) => round[member]));
const perSecond = (member: 'ours' | 'bare') => ((1000 * count) / of(member)).toFixed(0);
await reportResults([
  {
    row: 'publish-cpu',
    value: of('own') + of('sandboxes'),
    seen: `${of('own').toFixed(1)} ms in the server, ${of('sandboxes').toFixed(1)} ms in sandboxes`,
  },
  {
    row: 'publish-clients',
    value: median(rounds.map(({ ours, bare }) => bare / ours)),
    seen: `${perSecond('ours')} publishes a second, ${perSecond('bare')} by bare writes of ${(written.length / count).toFixed(1)} files each`,
  },
]);
await rm(folder, { recursive: true, force: true });
process.exit(0);

/** Milliseconds in which so many loops write the files as a folder bucket does, and do nothing else. */
async function writeBare(files: readonly { key: string; bytes: Uint8Array }[], to: string): Promise<number> {
  await mkdir(join(to, '.tmp'), { recursive: true });
  const made = new Set<string>();
  let next = 0;
  const syncOf = async (path: string) => {
    const opened = await open(path, 'r');
    await opened.sync();
    await opened.close();
  };
  const started = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < files.length) {
        const at = next++;
        const { key, bytes } = files[at]!;
        const [unnamed, target] = [join(to, '.tmp', String(at)), join(to, key)];
        const file = await open(unnamed, 'wx');
        await file.writeFile(bytes);
        await file.sync();
        await file.close();
        const parent = dirname(target);
        if (!made.has(parent)) {
          await mkdir(parent, { recursive: true });
          await syncOf(dirname(parent));
          made.add(parent);
        }
        await link(unnamed, target);
        await syncOf(parent);
        await unlink(unnamed);
      }
    }),
  );
  return performance.now() - started;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
