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
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $, argv, retry } from 'zx';
import { note } from './history.ts';
import type { Recorded } from './plain-server.ts';

interface Server {
  name: string;
  url: string;
  pid: number;
}

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

interface Rate {
  /** Requests in a second. */
  wall: number;
  /** Microseconds of the server's own processor time for each. */
  own: number;
  /** Microseconds within which half of them were answered. */
  half: number;
}

const rounds = Number(argv['rounds'] ?? 5);
const seconds = Number(argv['seconds'] ?? 2);
const root = new URL('../..', import.meta.url).pathname;
const node = process.execPath;

const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
// nginx's worker may be another user.
await chmod(folder, 0o755);
const quiet = $({ cwd: folder, quiet: true });
const running: ChildProcess[] = [];
try {
  const path = (size: string) => `/@bench/apis/of-${size}@1.0.0`;
  const all: Row[] = [
    { name: '5KB', path: path('5kb') },
    { name: '100KB br', path: path('100kb'), coding: 'br' },
    { name: '100KB', path: path('100kb') },
    { name: '1MB', path: path('1mb') },
    { name: '304 of 5KB', path: path('5kb'), tag: '' },
    { name: '304 of 10MB', path: path('10mb'), tag: '' },
    { name: '5KB, latest', path: '/@bench/apis/of-5kb' },
    { name: '5KB, YAML', path: `${path('5kb')}.yaml` },
    { name: '5KB, private with a key', path: '/@closed/apis/of-5kb@1.0.0', authorization: '' },
    { name: '5KB, one connection', path: path('5kb'), connections: 1 },
  ];
  const rows = all.filter(({ name }) => argv['only'] === undefined || name.includes(String(argv['only'])));
  const { stele, key } = await startStele(rows);
  for (const row of rows) {
    if (row.tag !== undefined) row.tag = await tagAt(`${stele.url}${row.path}`);
    if (row.authorization !== undefined) row.authorization = `Bearer ${key}`;
  }
  const peers = [stele, await startNginx(stele, rows), await startPlain(stele, rows)];
  const measured = new Map<string, Rate[]>();
  for (let round = 0; round < rounds; round++)
    for (const row of rows)
      for (const server of peers) {
        const name = `${row.name} ${server.name}`;
        measured.set(name, [...(measured.get(name) ?? []), await measure(server, row)]);
      }
  const table = rows.map(({ name }) => {
    const medians = peers.map((peer) => mediansOf(measured.get(`${name} ${peer.name}`)!));
    const [ours, nginx, plain] = medians as [Rate, Rate, Rate];
    const show = ({ wall, own, half }: Rate) => `${wall}/s ${own.toFixed(1)} µs (p50 ${half})`;
    const ratio = (other: Rate) =>
      `${(ours.wall / other.wall).toFixed(2)} (own time ${(other.own / ours.own).toFixed(2)})`;
    return {
      what: name,
      stele: show(ours),
      nginx: show(nginx),
      plain: show(plain),
      'to nginx': ratio(nginx),
      'to plain': ratio(plain),
    };
  });
  console.table(table);
  await note('read', table);
} finally {
  for (const child of running) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
}

/** Publishes the documents of the rows and serves them on core 0. */
async function startStele(rows: readonly Row[]): Promise<{ stele: Server; key: string }> {
  const config = join(folder, 'config.mjs');
  await writeFile(
    config,
    `export default { organizations: { bench: { defaults: { visibility: 'public' } }, closed: {} } };`,
  );
  const common = ['--config', config, '--data', join(folder, 'data')];
  const cli = `${root}/src/cli.ts`;
  const sizes: Record<string, number> = { '5kb': 5e3, '100kb': 1e5, '1mb': 1e6, '10mb': 1e7 };
  for (const coordinate of new Set(rows.map((row) => row.path.slice(1).replace(/@1.*$/, '')))) {
    await writeFile(join(folder, 'document.json'), makeDocument(sizes[coordinate.replace(/.*-/, '')]!));
    await quiet`${node} ${cli} publish document.json ${coordinate} --version 1.0.0 ${common}`;
  }
  const { stdout } = await quiet`${node} ${cli} keys create --org closed --name bench --scope read --json ${common}`;
  const key = /stele_\w+/.exec(stdout)![0];
  const port = await freePort();
  const pid = start([node, cli, 'serve', '--port', String(port), ...common]);
  const url = `http://127.0.0.1:${port}`;
  await retry(50, '200ms', () => quiet`curl -sf -o /dev/null ${url}/readyz`);
  return { stele: { name: 'stele', url, pid }, key };
}

/** Serves what Stele answers, row by row, from files on core 0. */
async function startNginx(stele: Server, rows: readonly Row[]): Promise<Server> {
  const files = join(folder, 'files');
  for (const row of rows) {
    const file = join(files, nginxPath(row));
    await mkdir(join(file, '..'), { recursive: true });
    await quiet`curl -sf ${curlOf({ ...row, tag: undefined })} -o ${file} ${stele.url}${row.path}`;
  }
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  // nginx makes the entity tags of files from their size and time.
  const lines = [
    `daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;`,
    'events { worker_connections 1024; }',
    'http {',
    '  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;',
    '  default_type application/json;',
    `  server { listen 127.0.0.1:${port}; root ${files}; add_header Cache-Control "public, max-age=3600, immutable"; }`,
    '}',
  ];
  await writeFile(config, lines.join('\n'));
  const pid = start(['nginx', '-c', config]);
  const url = `http://127.0.0.1:${port}`;
  await retry(50, '200ms', () => quiet`curl -sf -o /dev/null ${url}${nginxPath(rows[0]!)}`);
  return { name: 'nginx', url, pid };
}

/** Serves what Stele answers, with the same headers, from Node's own HTTP server on core 0. */
async function startPlain(stele: Server, rows: readonly Row[]): Promise<Server> {
  const recorded: Recorded[] = [];
  for (const [index, row] of rows.entries()) {
    const head = join(folder, `${index}.head`);
    const body = join(folder, `${index}.body`);
    await quiet`curl -sf -D ${head} ${curlOf(row)} -o ${body} ${stele.url}${row.path}`;
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
  await writeFile(join(folder, 'recorded.json'), JSON.stringify(recorded));
  const port = await freePort();
  const pid = start([node, `${root}/scripts/bench/plain-server.ts`, String(port), join(folder, 'recorded.json')]);
  const url = `http://127.0.0.1:${port}`;
  const [first] = rows;
  await retry(50, '200ms', () => quiet`curl -sf ${curlOf(first!)} -o /dev/null ${url}${first!.path}`);
  return { name: 'plain', url, pid };
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

/** Starts a command on core 0. Answers its process. */
function start(command: string[]): number {
  const child = spawn('taskset', ['-c', '0', ...command], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  running.push(child);
  return child.pid!;
}

/** Asks for as long as a round lasts. Ends the benchmark when any answer is something else than success. */
async function measure({ name, url, pid }: Server, row: Row): Promise<Rate> {
  const target = `${url}${name === 'nginx' ? nginxPath(row) : row.path}`;
  const tag = row.tag !== undefined && name === 'nginx' ? await tagAt(target) : row.tag;
  const headers = curlOf({ ...row, ...(tag !== undefined && { tag }) });
  const before = await ownSeconds(pid);
  const { stdout } =
    await quiet`taskset -c 1 wrk -t1 -c${row.connections ?? 64} -d${seconds}s --latency ${headers} ${target}`;
  const used = (await ownSeconds(pid)) - before;
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${name}, ${row.name}: ${stdout}`);
  const requests = Number(/(\d+) requests in/.exec(stdout)![1]);
  const [, half, unit] = /50%\s+([\d.]+)(us|ms)/.exec(stdout)!;
  return {
    wall: Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1])),
    own: (used * 1e6) / requests,
    half: Number(half) * (unit === 'ms' ? 1000 : 1),
  };
}

async function tagAt(url: string): Promise<string> {
  return (await fetch(url, { method: 'HEAD', headers: { 'Accept-Encoding': 'identity' } })).headers.get('etag')!;
}

/** Processor time that a process has used, of user and system (proc(5), `stat`: hundredths of a second). */
async function ownSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** An OpenAPI document of about this many bytes, the same each time, that packs about as well as real ones do. */
function makeDocument(bytes: number): string {
  const words =
    'amount account balance card charge customer dispute event invoice ledger mandate order payment refund'.split(' ');
  const word = (n: number) => words[Math.floor(Math.abs(Math.sin(n) * 1e6)) % words.length]!;
  const sentence = (n: number) => Array.from({ length: 12 }, (_, i) => word(n * 31 + i)).join(' ');
  const operation = (n: number) => ({
    operationId: `get${n}`,
    summary: sentence(n),
    responses: {
      200: {
        description: sentence(n + 1000),
        content: {
          'application/json': {
            schema: { type: 'object', properties: { [word(n)]: { type: 'string' }, id: { type: 'integer' } } },
          },
        },
      },
    },
  });
  const count = Math.ceil(bytes / 426);
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`/${word(n)}/${n}`, { get: operation(n) }]),
  );
  return JSON.stringify({ openapi: '3.1.0', info: { title: `Benchmark ${bytes}`, version: '1.0.0' }, paths });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

function mediansOf(rates: readonly Rate[]): Rate {
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
  return {
    wall: median(rates.map(({ wall }) => wall)),
    own: median(rates.map(({ own }) => own)),
    half: median(rates.map(({ half }) => half)),
  };
}
