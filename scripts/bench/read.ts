/**
 * How fast a pinned document of 100 KB is read, as a ratio: `stele serve` against nginx with the same bytes in files (`brotli_static`,
 * `gzip_static`), plain and packed. `wrk -t1 -c64`; the servers share one core, of which only one is asked at a time, and wrk has another.
 * Alternating rounds; prints medians: requests in a second, and requests in a second of the server's own processor time, which tells more
 * where the machine is busy with other things.
 *
 *   node scripts/bench/read.ts [--rounds 5] [--seconds 4]
 *
 * Needs wrk, nginx, taskset; without nginx's brotli module, br is left out. Run it where nothing else runs.
 */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $, argv, retry } from 'zx';

interface Server {
  name: string;
  url: string;
  pid: number;
}

/** Requests in a second. */
interface Rate {
  wall: number;
  own: number;
}

const rounds = Number(argv['rounds'] ?? 5);
const seconds = Number(argv['seconds'] ?? 4);
const root = new URL('../..', import.meta.url).pathname;
const node = process.execPath;
const brotliModule = '/usr/lib/nginx/modules/ngx_http_brotli_static_module.so';
const codings = existsSync(brotliModule) ? ['identity', 'br', 'gzip'] : ['identity', 'gzip'];

const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
// nginx's worker may be another user.
await chmod(folder, 0o755);
const quiet = $({ cwd: folder, quiet: true });
const running: ChildProcess[] = [];
try {
  const stele = await startStele();
  const nginx = await startNginx(stele.url);
  const measured = new Map<string, Rate[]>();
  for (let round = 0; round < rounds; round++) {
    for (const coding of codings) {
      for (const server of [stele, nginx]) {
        const rate = await measure(server, coding);
        const name = `${server.name} ${coding}`;
        measured.set(name, [...(measured.get(name) ?? []), rate]);
        console.log(`round ${round + 1}, ${name}: ${rate.wall} requests/s, ${rate.own} per second of its own`);
      }
    }
  }
  for (const coding of codings) {
    for (const kind of ['wall', 'own'] as const) {
      const [ours, theirs] = [stele, nginx].map(({ name }) =>
        median(measured.get(`${name} ${coding}`)!.map((rate) => rate[kind])),
      );
      console.log(`${coding}, ${kind}: stele ${ours}, nginx ${theirs}, ratio ${(ours! / theirs!).toFixed(2)}`);
    }
  }
} finally {
  for (const child of running) {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
  await rm(folder, { recursive: true, force: true });
}

/** Publishes the document and serves it on core 0. */
async function startStele(): Promise<Server> {
  await writeFile(join(folder, 'document.json'), makeDocument());
  const config = join(folder, 'config.mjs');
  await writeFile(config, `export default { organizations: { bench: { defaults: { visibility: 'public' } } } };`);
  const common = ['--config', config, '--data', join(folder, 'data')];
  await quiet`${node} ${root}/src/cli.ts publish document.json @bench/apis/document --version 1.0.0 ${common}`;
  const port = await freePort();
  const pid = start([node, `${root}/src/cli.ts`, 'serve', '--port', String(port), ...common]);
  const url = `http://127.0.0.1:${port}/@bench/apis/document@1.0.0`;
  await retry(50, '200ms', () => quiet`curl -sf -o /dev/null ${url}`);
  return { name: 'stele', url, pid };
}

/** Serves what Stele answers, coding by coding, from files on core 0. */
async function startNginx(source: string): Promise<Server> {
  const files = join(folder, 'files');
  await mkdir(files);
  const suffixes: Record<string, string> = { identity: '', br: '.br', gzip: '.gz' };
  for (const coding of codings) {
    await quiet`curl -sf -H ${`Accept-Encoding: ${coding}`} -o ${join(files, `document.json${suffixes[coding]!}`)} ${source}`;
  }
  const { byteLength } = await readFile(join(files, 'document.json'));
  console.log(`document of ${byteLength} bytes`);
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  const lines = [
    ...(codings.includes('br') ? [`load_module ${brotliModule};`] : []),
    `daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log;`,
    'events { worker_connections 1024; }',
    'http {',
    '  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;',
    '  types { application/json json; } gzip_static on;',
    ...(codings.includes('br') ? ['  brotli_static on;'] : []),
    `  server { listen 127.0.0.1:${port}; root ${files}; add_header Cache-Control "public, max-age=3600, immutable"; }`,
    '}',
  ];
  await writeFile(config, lines.join('\n'));
  const pid = start(['nginx', '-c', config]);
  const url = `http://127.0.0.1:${port}/document.json`;
  await retry(50, '200ms', () => quiet`curl -sf -o /dev/null ${url}`);
  return { name: 'nginx', url, pid };
}

/** Starts a command on core 0. Answers its process. */
function start(command: string[]): number {
  const child = spawn('taskset', ['-c', '0', ...command], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  running.push(child);
  return child.pid!;
}

/** Asks for as long as a round lasts. Ends the benchmark when any answer is something else than success. */
async function measure({ url, pid }: Server, coding: string): Promise<Rate> {
  const header = `Accept-Encoding: ${coding}`;
  const before = await ownSeconds(pid);
  const { stdout } = await quiet`taskset -c 1 wrk -t1 -c64 -d${seconds}s -H ${header} ${url}`;
  const used = (await ownSeconds(pid)) - before;
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
  const requests = Number(/(\d+) requests in/.exec(stdout)![1]);
  return { wall: Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1])), own: Math.round(requests / used) };
}

/** Processor time that a process has used, of user and system (proc(5), `stat`: hundredths of a second). */
async function ownSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** An OpenAPI document of about 100 KB, the same each time, that packs about as well as real ones do. */
function makeDocument(): string {
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
  const paths = Object.fromEntries(Array.from({ length: 235 }, (_, n) => [`/${word(n)}/${n}`, { get: operation(n) }]));
  return JSON.stringify({ openapi: '3.1.0', info: { title: 'Benchmark', version: '1.0.0' }, paths });
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

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
