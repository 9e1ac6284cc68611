/**
 * HEAD beside GET of the same pinned document of 5 KB, in processor time of the server for each request: wrk cannot ask for HEAD, because it waits for
 * the body that `Content-Length` announces. 64 connections of this process ask, in alternating rounds.
 *
 *   node scripts/bench/head.ts [--rounds 7] [--requests 20000]
 */
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { argv } from 'zx';
import { quantile } from '../load/quantile.ts';
import { reportResults } from './results.ts';
import { makeDocument, openWire, processorSeconds } from './wire.ts';

const rounds = Number(argv['rounds'] ?? 7);
const requests = Number(argv['requests'] ?? 20_000);
const connections = 64;
const path = '/@bench/apis/small@1.0.0';

await using wire = await openWire({ organizations: { bench: { defaults: { visibility: 'public' } } } });
await writeFile(join(wire.folder, 'document.json'), makeDocument(5e3));
await wire.stele('publish', 'document.json', '@bench/apis/small', '--version', '1.0.0');
const server = await wire.serveStele();
const { hostname: host, port } = new URL(server.url);
const body = (await (await fetch(server.url + path)).arrayBuffer()).byteLength;
const costs = { HEAD: [] as number[], GET: [] as number[] };
for (let round = -1; round < rounds; round++)
  for (const method of ['HEAD', 'GET'] as const) {
    const before = await processorSeconds(server.pids);
    await Promise.all(Array.from({ length: connections }, () => askOften(method)));
    const used = (await processorSeconds(server.pids)) - before;
    // The first round warms up.
    if (round >= 0) costs[method].push((used * 1e6) / requests);
  }
const [head, get] = [quantile(costs.HEAD, 0.5), quantile(costs.GET, 0.5)];
await reportResults([{ row: 'head', value: get / head, seen: `${head.toFixed(1)} µs, GET ${get.toFixed(1)} µs` }]);

/** Asks on one connection, each time when the answer before has ended. */
function askOften(method: 'HEAD' | 'GET'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(Number(port), host);
  const request = `${method} ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`;
  let left = Math.ceil(requests / connections);
  let pending: Buffer = Buffer.alloc(0);
  socket.on('error', reject).on('data', (bytes: Buffer) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    const end = pending.indexOf('\r\n\r\n');
    if (end === -1 || pending.length < end + 4 + (method === 'GET' ? body : 0)) return;
    if (!pending.subarray(0, 15).equals(Buffer.from('HTTP/1.1 200 OK'))) return reject(new Error(String(pending)));
    pending = Buffer.alloc(0);
    if (--left > 0) return void socket.write(request);
    socket.end();
    resolve();
  });
  socket.write(request);
  return promise;
}
