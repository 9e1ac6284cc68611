/**
 * How fast documents are read: `stele serve` beside nginx with the same bytes in files, with and without sendfile, and beside Node's own HTTP server
 * with the same bytes and headers. The servers share core 0, where one is asked at a time, and wrk has core 1. Alternating rounds; prints medians of
 * requests in a second, and of the server's own processor time for each request, which tells more
 * where the machine is busy with other things.
 *
 *   node scripts/bench/read.ts [--rounds 5] [--seconds 2] [--bars 304-nginx,latest]
 *
 * Needs wrk, nginx and taskset. Run it where nothing else runs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'zx';
import { freePort } from '../../test/servers/ports.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';
import type { BarName } from './bars.ts';
import type { Recorded } from './plain-server.ts';
import { makeDocument, measure, mediansOf, openWire, root, showRate, type Rate, type Server } from './wire.ts';

/** A request whose rate is measured on each server. */
interface Row {
  name: string;
  /** The bars that need it. */
  bars: readonly BarName[];
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

await using wire = await openWire({ organizations: { bench: { defaults: { visibility: 'public' } }, closed: {} } });
const pinned = (size: string) => `/@bench/apis/of-${size}@1.0.0`;
/** What others are compared with. */
const small = '5 KB';
const all: Row[] = [
  { name: small, path: pinned('5kb'), bars: ['noise', '5kb-plain', '5kb-nginx', 'latest', 'yaml', 'private'] },
  { name: '100 KB br', path: pinned('100kb'), coding: 'br', bars: ['100kb-br-plain', '100kb-br-nginx'] },
  { name: '100 KB', path: pinned('100kb'), bars: ['100kb-nginx', '100kb-copying'] },
  { name: '1 MB', path: pinned('1mb'), bars: ['1mb-nginx', '1mb-copying'] },
  { name: '304 of 5 KB', path: pinned('5kb'), tag: '', bars: ['304-nginx', '304-large'] },
  { name: '304 of 10 MB', path: pinned('10mb'), tag: '', bars: ['304-large'] },
  { name: 'latest', path: '/@bench/apis/of-5kb', bars: ['latest'] },
  { name: 'YAML', path: `${pinned('5kb')}.yaml`, bars: ['yaml'] },
  { name: 'private', path: '/@closed/apis/of-5kb@1.0.0', authorization: '', bars: ['private'] },
  { name: 'one connection', path: pinned('5kb'), connections: 1, bars: ['one-connection'] },
];
const rows = all.filter((row) => isAsked(...row.bars));
const stele = await startStele();
const peers = [
  stele,
  await startNginx('nginx', true),
  await startPlain(),
  await startNginx('copying', false),
  await startNginx('twin', true),
];
const measured = new Map<string, Rate[]>();
for (let round = 0; round < rounds; round++)
  for (const row of rows)
    for (const server of peers) {
      if (server.name === 'copying' && !row.bars.some((bar) => bar.endsWith('copying'))) continue;
      if (server.name === 'twin' && !row.bars.includes('noise')) continue;
      const name = `${row.name} ${server.name}`;
      measured.set(name, [...(measured.get(name) ?? []), await ask(server, row)]);
    }
const rateOf = (row: string, server = 'stele') => mediansOf(measured.get(`${row} ${server}`)!);
const speed = ({ wall }: Rate) => wall;
const results: Measured[] = [
  isAsked('noise') ? [noise()] : [],
  compare('5kb-plain', small, 'plain'),
  compare('5kb-nginx', small, 'nginx'),
  compare('100kb-br-plain', '100 KB br', 'plain'),
  compare('100kb-br-nginx', '100 KB br', 'nginx'),
  compare('100kb-nginx', '100 KB', 'nginx'),
  compare('100kb-copying', '100 KB', 'copying'),
  compare('1mb-nginx', '1 MB', 'nginx'),
  compare('1mb-copying', '1 MB', 'copying'),
  compare('304-nginx', '304 of 5 KB', 'nginx'),
  compare('304-large', '304 of 10 MB', 'stele', '304 of 5 KB'),
  compare('latest', 'latest', 'stele', small),
  compare('yaml', 'YAML', 'stele', small),
  compare('private', 'private', 'stele', small),
  compare('one-connection', 'one connection', 'nginx', undefined, ({ half }) => half),
].flat();
await reportResults(results);

/** What the machine makes of two equal servers: the ratio of their medians, and between which values single rounds lay. */
function noise(): Measured {
  const [first, second] = ['nginx', 'twin'].map((server) => measured.get(`${small} ${server}`)!.map(speed));
  const ratios = first!.map((rate, round) => second![round]! / rate);
  const spread = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2)).join(' to ');
  const value = rateOf(small, 'twin').wall / rateOf(small, 'nginx').wall;
  return { row: 'noise', value, seen: `${ratios.length} rounds, ${spread}: a ratio within that says nothing` };
}

/** Stele's median of a row to a peer's of the same, or of another, row. */
function compare(bar: BarName, row: string, peer: string, other = row, figure = speed): Measured[] {
  if (!isAsked(bar)) return [];
  const [ours, its] = [rateOf(row), rateOf(other, peer)];
  const seen = `${showRate(ours)}, ${peer === 'stele' ? other : peer} ${showRate(its)}`;
  return [{ row: bar, value: figure(ours) / figure(its), seen }];
}

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
async function startNginx(name: string, sendfile: boolean): Promise<Server> {
  const files = join(wire.folder, 'files');
  for (const row of rows) {
    const file = join(files, nginxPath(row));
    await mkdir(join(file, '..'), { recursive: true });
    await wire.run`curl -sf ${curlOf({ ...row, tag: undefined })} -o ${file} ${stele.url}${row.path}`;
  }
  const port = await freePort();
  const config = join(wire.folder, `${name}.conf`);
  // nginx makes the entity tags of files from their size and time.
  const lines = [
    `daemon off; master_process off; worker_processes 1; pid ${wire.folder}/${name}.pid; error_log ${wire.folder}/${name}.log;`,
    'events { worker_connections 1024; }',
    'http {',
    `  access_log off; sendfile ${sendfile ? 'on' : 'off'}; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;`,
    '  default_type application/json;',
    `  server { listen 127.0.0.1:${port}; root ${files}; add_header Cache-Control "public, max-age=3600, immutable"; }`,
    '}',
  ];
  await writeFile(config, lines.join('\n'));
  return wire.serve(name, ['nginx', '-c', config], `http://127.0.0.1:${port}${nginxPath(rows[0]!)}`);
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
  const url = `${server.url}${isNginx(server) ? nginxPath(row) : row.path}`;
  const tag = row.tag !== undefined && isNginx(server) ? await tagAt(url) : row.tag;
  const headers = fieldsOf({ ...row, ...(tag !== undefined && { tag }) });
  return measure(
    server,
    { url, headers, ...(row.connections !== undefined && { connections: row.connections }) },
    { seconds },
  );
}

function isNginx({ name }: Server): boolean {
  return name === 'nginx' || name === 'copying';
}

async function tagAt(url: string): Promise<string> {
  return (await fetch(url, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })).headers.get('etag')!;
}
