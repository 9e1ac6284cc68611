/**
 * How fast documents are read: `stele serve` beside nginx with the same bytes in files, and beside Node's own HTTP server with the same bytes and headers. The servers
 * share core 0, where one is asked at a time, and wrk has core 1. Alternating rounds; prints medians of
 * requests in a second, and of the server's own processor time for each request, which tells more
 * where the machine is busy with other things.
 *
 *   node scripts/bench/read.ts [--rounds 5] [--seconds 2] [--only 5KB]
 *
 * Needs wrk, nginx and taskset. Run it where nothing else runs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'zx';
import { freePort } from '../../test/servers/ports.ts';
import { note } from './history.ts';
import type { Recorded } from './plain-server.ts';
import { makeDocument, measure, mediansOf, openWire, root, showRate, type Rate, type Server } from './wire.ts';

/** A request whose rate is measured on each server. */
interface Row {
  name: string;
  path: string;
  coding?: string;
  /** The entity tag to send. */
  tag?: string | undefined;
  authorization?: string;
  /** How many connections ask at once. Default: 64. */
  connections?: number;
}

const rounds = Number(argv['rounds'] ?? 5);
const seconds = Number(argv['seconds'] ?? 2);

await using wire = await openWire({
  organizations: { bench: { defaults: { visibility: 'public' } }, closed: {} },
});
const pinned = (size: string) => `/@bench/apis/of-${size}@1.0.0`;
const all: Row[] = [
  { name: '5KB', path: pinned('5kb') },
  { name: '100KB br', path: pinned('100kb'), coding: 'br' },
  { name: '100KB', path: pinned('100kb') },
  { name: '1MB', path: pinned('1mb') },
  { name: '304 of 5KB', path: pinned('5kb'), tag: '' },
  { name: '304 of 10MB', path: pinned('10mb'), tag: '' },
  { name: '5KB, latest', path: '/@bench/apis/of-5kb' },
  { name: '5KB, YAML', path: `${pinned('5kb')}.yaml` },
  { name: '5KB, private with a key', path: '/@closed/apis/of-5kb@1.0.0', authorization: '' },
  { name: '5KB, one connection', path: pinned('5kb'), connections: 1 },
];
const rows = all.filter(({ name }) => argv['only'] === undefined || name.includes(String(argv['only'])));
const stele = await startStele();
const peers = [stele, await startNginx(), await startPlain()];
const measured = new Map<string, Rate[]>();
for (let round = 0; round < rounds; round++)
  for (const row of rows)
    for (const server of peers) {
      const name = `${row.name} ${server.name}`;
      measured.set(name, [...(measured.get(name) ?? []), await ask(server, row)]);
    }
const table = rows.map(({ name }) => {
  const medians = peers.map((peer) => mediansOf(measured.get(`${name} ${peer.name}`)!));
  const [ours, nginx, plain] = medians as [Rate, Rate, Rate];
  const ratio = (other: Rate) =>
    `${(ours.wall / other.wall).toFixed(2)} (own time ${(other.own / ours.own).toFixed(2)})`;
  return {
    what: name,
    stele: showRate(ours),
    nginx: showRate(nginx),
    plain: showRate(plain),
    'to nginx': ratio(nginx),
    'to plain': ratio(plain),
  };
});
console.table(table);
await note('read', table);

/** Publishes the documents of the rows and serves them. */
async function startStele(): Promise<Server> {
  const sizes: Record<string, number> = { '5kb': 5e3, '100kb': 1e5, '1mb': 1e6, '10mb': 1e7 };
  for (const coordinate of new Set(rows.map((row) => row.path.slice(1).replace(/@1.*$/, '')))) {
    await writeFile(join(wire.folder, 'document.json'), makeDocument(sizes[coordinate.replace(/.*-/, '')]!));
    await wire.stele('publish', 'document.json', coordinate, '--version', '1.0.0');
  }
  const key = /stele_\w+/.exec(
    await wire.stele('keys', 'create', '--org', 'closed', '--name', 'bench', '--scope', 'read', '--json'),
  )![0];
  const server = await wire.serveStele();
  for (const row of rows) {
    if (row.tag !== undefined) row.tag = await tagAt(`${server.url}${row.path}`);
    if (row.authorization !== undefined) row.authorization = `Bearer ${key}`;
  }
  return server;
}

/** Serves what Stele answers, row by row, from files. */
async function startNginx(): Promise<Server> {
  const files = join(wire.folder, 'files');
  for (const row of rows) {
    const file = join(files, nginxPath(row));
    await mkdir(join(file, '..'), { recursive: true });
    await wire.run`curl -sf ${curlOf({ ...row, tag: undefined })} -o ${file} ${stele.url}${row.path}`;
  }
  const port = await freePort();
  const config = join(wire.folder, 'nginx.conf');
  // nginx makes the entity tags of files from their size and time.
  const lines = [
    `daemon off; master_process off; worker_processes 1; pid ${wire.folder}/nginx.pid; error_log ${wire.folder}/nginx.log;`,
    'events { worker_connections 1024; }',
    'http {',
    '  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;',
    '  default_type application/json;',
    `  server { listen 127.0.0.1:${port}; root ${files}; add_header Cache-Control "public, max-age=3600, immutable"; }`,
    '}',
  ];
  await writeFile(config, lines.join('\n'));
  return wire.serve('nginx', ['nginx', '-c', config], `http://127.0.0.1:${port}${nginxPath(rows[0]!)}`);
}

/** Serves what Stele answers, with the same headers, from Node's own HTTP server. */
async function startPlain(): Promise<Server> {
  const recorded: Recorded[] = [];
  for (const [index, row] of rows.entries()) {
    const head = join(wire.folder, `${index}.head`);
    const body = join(wire.folder, `${index}.body`);
    await wire.run`curl -sf -D ${head} ${curlOf(row)} -o ${body} ${stele.url}${row.path}`;
    const [status, ...fields] = (await readFile(head, 'latin1')).trim().split('\r\n');
    const own = fields.filter((field) => !/^(?:date|connection|keep-alive):/i.test(field));
    recorded.push({
      url: row.path,
      coding: row.coding ?? null,
      status: Number(status!.split(' ')[1]),
      fields: own.flatMap((field) => /^([^:]+): (.*)$/.exec(field)!.slice(1)),
      file: row.tag === undefined ? body : null,
    });
  }
  const list = join(wire.folder, 'recorded.json');
  await writeFile(list, JSON.stringify(recorded));
  const port = await freePort();
  const command = [process.execPath, `${root}/scripts/bench/plain-server.ts`, String(port), list];
  return wire.serve('plain', command, `http://127.0.0.1:${port}/`);
}

/** A packed document is a file of its own. */
function nginxPath({ path, coding }: Row): string {
  return coding === undefined ? path : `${path}.${coding}`;
}

function fieldsOf({ coding, tag, authorization }: Row): string[] {
  return [
    ...(coding === undefined ? [] : [`Accept-Encoding: ${coding}`]),
    ...(tag === undefined ? [] : [`If-None-Match: ${tag}`]),
    ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
  ];
}

function curlOf(row: Row): string[] {
  return fieldsOf(row).flatMap((field) => ['-H', field]);
}

async function ask(server: Server, row: Row): Promise<Rate> {
  const url = `${server.url}${server.name === 'nginx' ? nginxPath(row) : row.path}`;
  const tag = row.tag !== undefined && server.name === 'nginx' ? await tagAt(url) : row.tag;
  const headers = fieldsOf({ ...row, ...(tag !== undefined && { tag }) });
  return measure(
    server,
    { url, headers, ...(row.connections !== undefined && { connections: row.connections }) },
    { seconds },
  );
}

async function tagAt(url: string): Promise<string> {
  return (await fetch(url, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })).headers.get('etag')!;
}
