import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { formatVerifierKey, type SigningKey } from '../model/transparency/note.ts';
import type { Bucket } from '../store/bucket.ts';
import { followLog } from './follow-log.ts';
import { createWitness, type WitnessedLog } from './witness.ts';

/** Bytes of a request: 63 hashes and a checkpoint with many signatures. */
const maxRequest = 64 * 1024;

export interface WitnessOptions {
  /** All of one name. */
  keys: readonly SigningKey[];
  logs: readonly WitnessedLog[];
  port: number;
  host: string;
  /** Seconds between two looks at the logs with an address; 0: they are not followed. */
  interval: number;
  log: (level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown>) => void;
}

/** Serves a witness (C2SP tlog-witness): `add-checkpoint`, the newest checkpoint of each log, and its keys at `/key`. */
export async function serveWitness(
  bucket: Bucket,
  options: WitnessOptions,
): Promise<{ url: string; close(): Promise<void> }> {
  const { keys, logs, port, host, interval, log } = options;
  const witness = createWitness(bucket, { keys, logs, now: () => new Date() });
  const stop = new AbortController();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!;
    const send = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
    };
    if (path === '/add-checkpoint' && request.method === 'POST') {
      const body = await readRequest(request);
      if (body === null) return send(413, 'The request is too large.\n');
      const { status, body: text } = await witness.add(body);
      if (status !== 200) log('warn', 'checkpoint not cosigned', { status, detail: text.trim() });
      return send(status, text, status === 409 ? 'text/x.tlog.size' : undefined);
    }
    const [, originHash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path) ?? [];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && path === '/key') return send(200, keys.map((key) => `${formatVerifierKey(key)}\n`).join(''));
    const text = isRead && originHash !== undefined ? await witness.latest(originHash) : null;
    return text === null ? send(404, 'Nothing is here.\n') : send(200, text);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      log('error', 'request failed', { error: String(error) });
      if (!response.headersSent) response.writeHead(500).end();
      else response.destroy();
    });
  });
  server.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });

  async function follow(): Promise<void> {
    while (!stop.signal.aborted && interval > 0) {
      for (const each of logs) {
        const { url } = each;
        if (url === null) continue;
        await followLog(witness, { ...each, url }).then(
          (answered) => {
            const fields = { log: each.key.name, status: answered?.status, detail: answered?.body.trim() };
            if (answered !== null) log(answered.status === 200 ? 'info' : 'error', 'log followed', fields);
          },
          (error: unknown) => log('warn', 'log not followed', { log: each.key.name, error: String(error) }),
        );
      }
      await delay(interval * 1000, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  }

  const following = follow();
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${bound}`,
    async close() {
      stop.abort();
      server.closeAllConnections();
      await Promise.all([following, new Promise((resolve) => server.close(resolve))]);
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxRequest) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
