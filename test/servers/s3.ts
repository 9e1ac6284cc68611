import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AddressInfo } from 'node:net';

/** How a stand-in for S3 treats `If-None-Match: *`. */
export type Enforcement =
  | 'holds'
  | 'ignored' // the last write stays, as in s3rver
  | 'looks first' // checks, then writes, as a store without a lock does
  | 'keeps the last' // one writer is told that it won, and the bytes of another stay
  | 'without metadata'
  | 'lists late' // as stores did that were consistent in the end only
  | 'refuses all'
  | 'not implemented';

interface Stored {
  bytes: Buffer;
  metadata: Record<string, string>;
}

/** A stand-in for S3 in memory, with one bucket: what `src/store/requests/` asks of it, and no signatures. */
export interface S3StandIn extends AsyncDisposable {
  port: number;
  endpoint: string;
  objects: Map<string, Stored>;
  /** Treats the header another way from now on, as after a change of the bucket's settings. */
  enforce(next: Enforcement): void;
}

/** Starts one. `bucket` may stand in the path or in front of the host. */
export async function startS3(bucket: string, atStart: Enforcement = 'holds'): Promise<S3StandIn> {
  let enforcement = atStart;
  const objects = new Map<string, Stored>();
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://s3');
    const isInHost = request.headers.host!.startsWith(`${bucket}.`);
    const [, named, ...rest] = decodeURIComponent(url.pathname).split('/');
    if (!isInHost && named !== bucket) return refuse(response, 404, 'NoSuchBucket');
    const key = (isInHost ? [named, ...rest] : rest).join('/');
    const body = await buffer(request);
    if (request.method === 'PUT') return put(request, response, key, body);
    if (request.method === 'DELETE') {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (key === '') return list(response, url.searchParams);
    const found = objects.get(key);
    if (found === undefined) return refuse(response, 404, request.method === 'HEAD' ? null : 'NoSuchKey');
    response.writeHead(200, { ...found.metadata, 'content-length': found.bytes.byteLength });
    response.end(request.method === 'HEAD' ? undefined : found.bytes);
  }

  async function put(request: IncomingMessage, response: ServerResponse, key: string, bytes: Buffer): Promise<void> {
    // S3 compares them, so that bytes which change on the way are not stored.
    const sum = createHash('sha256').update(bytes).digest('base64');
    if (request.headers['x-amz-checksum-sha256'] !== sum) return refuse(response, 400, 'BadDigest');
    const isConditional = request.headers['if-none-match'] === '*' && enforcement !== 'ignored';
    if (isConditional && enforcement === 'not implemented') return refuse(response, 501, 'NotImplemented');
    if (isConditional && (objects.has(key) || enforcement === 'refuses all')) {
      if (enforcement === 'keeps the last') objects.get(key)!.bytes = bytes;
      return refuse(response, 412, 'PreconditionFailed');
    }
    if (enforcement === 'looks first') await new Promise((resolve) => setImmediate(resolve));
    const metadata = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-'));
    if (enforcement === 'without metadata') metadata.length = 0;
    objects.set(key, { bytes, metadata: Object.fromEntries(metadata) as Record<string, string> });
    response.writeHead(200, { etag: '"x"' }).end();
  }

  function list(response: ServerResponse, query: URLSearchParams): void {
    const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
    const limit = Number(query.get('max-keys') ?? 1000);
    const known = enforcement === 'lists late' ? [] : [...objects.keys()];
    const keys = known.filter((key) => key.startsWith(query.get('prefix') ?? '') && key > after).sort();
    const page = keys.slice(0, limit);
    const more = keys.length > limit ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : '';
    const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
    const isTruncated = `<IsTruncated>${more !== ''}</IsTruncated>`;
    response.end(`<?xml version="1.0"?><ListBucketResult>${isTruncated}${more}${contents}</ListBucketResult>`);
  }

  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    endpoint: `http://127.0.0.1:${port}`,
    objects,
    enforce: (next) => void (enforcement = next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers with an error of S3; without a code, with no body. */
export function refuse(response: ServerResponse, status: number, code: string | null): void {
  response.writeHead(status, { 'content-type': 'application/xml' });
  response.end(code === null ? undefined : `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
}
