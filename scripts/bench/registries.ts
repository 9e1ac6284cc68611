/**
 * How fast a pinned document of 5 KB is read, beside registries that others run: Verdaccio (the metadata of a package of that size) and Docker's
 * registry (a blob of that size). Also one worker beside two, of Stele and of nginx, where servers and wrk share both cores.
 *
 *   node scripts/bench/registries.ts [--verdaccio FOLDER] [--rounds 5] [--seconds 2]
 *
 * FOLDER has node_modules with Verdaccio; without it, Verdaccio is left out. Needs docker-registry, nginx, wrk and taskset. Run it where nothing else runs.
 */
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { argv } from 'zx';
import { freePort } from '../../test/servers/ports.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';
import { makeDocument, measure, mediansOf, openWire, showRate, type Ask, type Rate, type Server } from './wire.ts';

const rounds = Number(argv['rounds'] ?? 5);
const seconds = Number(argv['seconds'] ?? 2);
const path = '/@bench/apis/small@1.0.0';

await using wire = await openWire({ organizations: { bench: { defaults: { visibility: 'public' } } } });
await writeFile(join(wire.folder, 'document.json'), makeDocument(5e3));
await wire.stele('publish', 'document.json', '@bench/apis/small', '--version', '1.0.0');

const one = await wire.serveStele();
const body = Buffer.from(await (await fetch(one.url + path)).arrayBuffer());
const results: Measured[] = [];
const singles: [Server, Ask][] = [[one, { url: one.url + path }]];
if (argv['verdaccio'] !== undefined && isAsked('verdaccio'))
  singles.push(await startVerdaccio(resolve(String(argv['verdaccio']))));
if (isAsked('docker-registry')) singles.push(await startDockerRegistry());
if (singles.length > 1) {
  const [ours, ...others] = await compare(singles, '1');
  for (const { name, rate } of others)
    results.push({
      row: name as 'verdaccio' | 'docker-registry',
      value: ours!.rate.wall / rate.wall,
      seen: `${showRate(ours!.rate)}, ${name} ${showRate(rate)}`,
    });
}
for (const [server] of singles) await wire.stop(server);

const both = '0,1';
if (isAsked('workers')) {
  const single = await wire.serveStele({ cores: both });
  const double = await wire.serveStele({ cores: both, args: ['--workers', '2'] });
  const workers = await compare(
    [
      [{ ...single, name: 'one' }, { url: single.url + path }],
      [{ ...double, name: 'two' }, { url: double.url + path }],
      await startNginx(1),
      await startNginx(2),
    ],
    both,
  );
  const [alone, two] = workers;
  const seen = workers.map(({ name, rate }) => `${name} ${showRate(rate)}`).join(', ');
  results.push({ row: 'workers', value: two!.rate.wall / alone!.rate.wall, seen });
}
await reportResults(results);

/** The medians of alternating rounds. `cores`: those of wrk. */
async function compare(servers: readonly [Server, Ask][], cores: string): Promise<{ name: string; rate: Rate }[]> {
  const rates = new Map<string, Rate[]>();
  for (let round = 0; round < rounds; round++)
    for (const [server, ask] of servers)
      rates.set(server.name, [...(rates.get(server.name) ?? []), await measure(server, ask, { seconds, cores })]);
  return [...rates].map(([name, all]) => ({ name, rate: mediansOf(all) }));
}

async function startVerdaccio(folder: string): Promise<[Server, Ask]> {
  const port = await freePort();
  const config = join(wire.folder, 'verdaccio.yaml');
  const rules = 'packages:\n  "**":\n    access: $all\n    publish: $all\n';
  await writeFile(config, `storage: ./verdaccio\nauth: {}\n${rules}log: { type: stdout, level: fatal }\n`);
  const command = [join(folder, 'node_modules/.bin/verdaccio'), '--config', config, '--listen', `127.0.0.1:${port}`];
  const server = await wire.serve('verdaccio', [process.execPath, ...command], `http://127.0.0.1:${port}/-/ping`);
  const version = { name: 'small', version: '1.0.0', description: 'x'.repeat(body.length - 500) };
  const tarball = Buffer.from('no tarball');
  const dist = {
    tarball: `${server.url}/small/-/small-1.0.0.tgz`,
    shasum: createHash('sha1').update(tarball).digest('hex'),
  };
  const published = await fetch(`${server.url}/small`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      _id: 'small',
      name: 'small',
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { ...version, dist } },
      _attachments: {
        'small-1.0.0.tgz': { content_type: 'application/octet-stream', data: tarball.toString('base64') },
      },
    }),
  });
  if (!published.ok) throw new Error(`Verdaccio: ${await published.text()}`);
  return [server, { url: `${server.url}/small` }];
}

async function startDockerRegistry(): Promise<[Server, Ask]> {
  const port = await freePort();
  const config = join(wire.folder, 'docker-registry.yaml');
  const storage = `storage: { cache: { blobdescriptor: inmemory }, filesystem: { rootdirectory: ${wire.folder}/docker } }`;
  await writeFile(
    config,
    `version: 0.1\nlog: { accesslog: { disabled: true }, level: error }\n${storage}\nhttp: { addr: "127.0.0.1:${port}" }\n`,
  );
  const server = await wire.serve(
    'docker-registry',
    ['docker-registry', 'serve', config],
    `http://127.0.0.1:${port}/v2/`,
  );
  const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  const begun = await fetch(`${server.url}/v2/small/blobs/uploads/`, { method: 'POST' });
  const target = new URL(begun.headers.get('location')!, server.url);
  target.searchParams.set('digest', digest);
  const put = await fetch(target, { method: 'PUT', body, headers: { 'content-type': 'application/octet-stream' } });
  if (put.status !== 201) throw new Error(`docker-registry: ${await put.text()}`);
  return [server, { url: `${server.url}/v2/small/blobs/${digest}` }];
}

async function startNginx(count: number): Promise<[Server, Ask]> {
  const port = await freePort();
  const files = join(wire.folder, 'files');
  await mkdir(files, { recursive: true });
  await writeFile(join(files, 'small'), body);
  const config = join(wire.folder, `nginx-${count}.conf`);
  const log = `pid ${wire.folder}/nginx-${count}.pid; error_log ${wire.folder}/nginx.log;`;
  await writeFile(
    config,
    `daemon off; worker_processes ${count}; ${log}
    events { worker_connections 1024; }
    http {
      access_log off; sendfile on; keepalive_requests 1000000000; open_file_cache max=100;
      server { listen 127.0.0.1:${port} reuseport; root ${files}; }
    }`,
  );
  const url = `http://127.0.0.1:${port}/small`;
  const server = await wire.serve('nginx', ['nginx', '-c', config], url, { cores: both });
  return [{ ...server, name: `nginx with ${count}` }, { url }];
}
