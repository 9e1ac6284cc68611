/**
 * How fast documents are read for the first time: by a `stele serve` that has just started, which verifies what it reads, by nginx, the same bytes
 * from files, and by a plain Node that reads these files and hashes them. Before each round the files are dropped from the page cache
 * (`dd iflag=nocache`, posix_fadvise). One reader asks for one document after the other.
 *
 *   node scripts/bench/cold.ts [--documents 60] [--bytes 100000] [--rounds 3]
 *
 * The goal is half of nginx's rate.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'zx';
import { publish } from '../../src/registry/publish.ts';
import { createUpload } from '../../src/source/upload.ts';
import { freePort } from '../../test/servers/ports.ts';
import { quantile } from '../load/quantile.ts';
import { reportResults } from './results.ts';
import { makeDocument, openWire } from './wire.ts';

const documents = Number(argv['documents'] ?? 60);
const bytes = Number(argv['bytes'] ?? 100_000);
const rounds = Number(argv['rounds'] ?? 3);
const numbers = Array.from({ length: documents }, (_, n) => n);
const pathOf = (n: number) => `/@bench/apis/of-${n}@1.0.0`;

await using wire = await openWire({ organizations: { bench: { defaults: { visibility: 'public' } } } });
const files = join(wire.folder, 'files');
await publishAll();
const port = await freePort();
const config = join(wire.folder, 'nginx.conf');
const lines = [
  `daemon off; master_process off; pid ${wire.folder}/nginx.pid; error_log ${wire.folder}/nginx.log;`,
  `events {} http { access_log off; sendfile on; default_type application/json; server { listen 127.0.0.1:${port}; root ${files}; } }`,
];
await writeFile(config, lines.join('\n'));
const plainPort = await freePort();
const rates: Record<'stele' | 'nginx' | 'plain', number[]> = { stele: [], nginx: [], plain: [] };
for (let round = 0; round < rounds; round++) {
  rates.stele.push(await rateOf(() => wire.serveStele()));
  const command = ['nginx', '-c', config];
  rates.nginx.push(await rateOf(() => wire.serve('nginx', command, `http://127.0.0.1:${port}${pathOf(0)}`)));
  const plainly = [process.execPath, join(import.meta.dirname, 'plain-files.ts'), String(plainPort), files];
  rates.plain.push(await rateOf(() => wire.serve('plain', plainly, `http://127.0.0.1:${plainPort}${pathOf(0)}`)));
}
const median = (server: keyof typeof rates) => Math.round(quantile(rates[server], 0.5));
await reportResults([
  {
    row: 'cold',
    value: median('stele') / median('nginx'),
    seen: `${median('stele')}/s, nginx ${median('nginx')}/s, plain Node ${median('plain')}/s, ${bytes} bytes`,
  },
]);

/** Publishes the documents, and writes what Stele answers to the files of nginx. */
async function publishAll(): Promise<void> {
  await wire.inRegistry(async (registry) => {
    for (const n of numbers)
      await publish(registry, {
        coordinate: { org: 'bench', type: 'apis', slug: `of-${n}` },
        snapshot: createUpload('a.json', Buffer.from(makeDocument(bytes, `Document ${n}`))),
        entry: 'a.json',
        version: '1.0.0',
        onConflict: 'reject',
        latest: true,
        dryRun: false,
        create: {},
        author: { actor: 'operator:bench', origin: null },
      });
  });
  const server = await wire.serveStele();
  await mkdir(join(files, '@bench/apis'), { recursive: true });
  for (const n of numbers) await wire.run`curl -sf -o ${files}${pathOf(n)} ${server.url}${pathOf(n)}`;
  await wire.stop(server);
}

/** Documents in a second of a server that has just started and whose files are not in memory. */
async function rateOf(start: () => ReturnType<typeof wire.serveStele>): Promise<number> {
  const server = await start();
  // Code that was never run, and connections, are not what is measured.
  await read(server.url, 0);
  await wire.run`find ${wire.folder}/data ${files} -type f -exec dd if={} iflag=nocache count=0 status=none ';'`;
  const startedAt = performance.now();
  for (const n of numbers.slice(1)) await read(server.url, n);
  const rate = (documents - 1) / ((performance.now() - startedAt) / 1000);
  await wire.stop(server);
  return rate;
}

async function read(url: string, n: number): Promise<void> {
  const answer = await fetch(url + pathOf(n), { headers: { 'accept-encoding': 'identity' } });
  if (!answer.ok) throw new Error(`${url}${pathOf(n)}: ${answer.status}`);
  await answer.arrayBuffer();
}
