import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RegistryError, tooLarge, malformed } from '../../model/errors.ts';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';

/** Bytes to copy at once. It takes less than a millisecond. */
const copiedAtOnce = 1024 * 1024;

/** Milliseconds between two pieces while several bodies are read. A piece takes less than half of them. */
const betweenPieces = 2;

let last: Promise<void> = Promise.resolve();
let waiting = 0;

/**
 * Resolves in a turn of the event loop of its own. Large bodies are read one piece per turn,
 * however many arrive at once, and with a pause if it is more than one, so that small requests are
 * answered in between.
 */
function ownTurn(): Promise<void> {
  waiting++;
  return (last = last.then(async () => {
    await (waiting > 1 ? delay(betweenPieces) : turn());
    waiting--;
  }));
}

/** Joins the pieces into one buffer without blocking the event loop. */
export async function joinPieces(pieces: readonly Buffer[]): Promise<Buffer<ArrayBuffer>> {
  const [only, ...more] = pieces;
  if (only !== undefined && more.length === 0) return only as Buffer<ArrayBuffer>;
  const whole = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    if (Math.floor(at / copiedAtOnce) < Math.floor((at + piece.length) / copiedAtOnce)) await turn();
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** How to read a body. */
export interface BodyReading {
  /** Bytes, as sent and after decompression. */
  limit: number;
  /** Whether to decompress a compressed body. If not, any coding is an error. */
  inflate: boolean;
  /** Called with every piece as it arrives. An error that it throws ends the reading. */
  look?: (piece: Buffer) => void;
}

/**
 * Documents compress 10 to 50 times. After the first bytes, a body that compresses further than
 * this is an attack.
 */
const maxInflation = 200;
const freeBytes = 1024 * 1024;

/** Bytes of a body to read in one turn. Most bodies are smaller. */
const atOnce = 64 * 1024;

/** Slowest transfer to accept: so many bytes in so many milliseconds. */
const pace = { bytes: 32 * 1024, milliseconds: 10_000 };

/**
 * Most bytes to read after an error, so that the client gets to read the response. `pace` and the
 * server's `requestTimeout` bound the time.
 */
const maxDiscardedBytes = 64 * 1024 * 1024;

const inflaters: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const invited = new WeakSet<IncomingMessage>();

/** Whether the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Reads a request's body in pieces, decompressed. Throws `too_large` for more bytes than the limit
 * (or a `Content-Length` above it) or too high a compression, `unsupported_media_type` for another
 * coding, and `malformed` if the body is incomplete, cannot be decompressed or arrives too slowly.
 */
export async function readPieces(
  request: IncomingMessage,
  response: ServerResponse,
  { limit, inflate, look }: BodyReading,
): Promise<Buffer[]> {
  if (!hasBody(request)) return [];
  if (Number(request.headers['content-length'] ?? 0) > limit) throw overLimit(limit);
  const inflater = createInflater(request, inflate);
  if (isAskedToInvite(request)) {
    invited.add(request);
    response.writeContinue();
  }
  const pieces: Buffer[] = [];
  let sent = 0;
  let size = 0;
  let bytes = 0;
  let inTurn = 0;
  let isReading = true;
  const stream: Readable = inflater === null ? request : request.pipe(inflater);
  let tick: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const cut = () => reject(malformed(tooEarly));
      let isOver = false;
      const waitForTurn = () => {
        inTurn = 0;
        stream.pause();
        ownTurn()
          .then(() => isReading && stream.resume())
          .catch(reject);
      };
      const take = (piece: Buffer) => {
        if (isOver) return;
        size += piece.length;
        try {
          if (size > limit) throw overLimit(limit);
          if (size > freeBytes && size > sent * maxInflation)
            throw tooLarge(`The body decompresses to more than ${maxInflation} times its size. Send it uncompressed.`);
          look?.(piece);
          pieces.push(piece);
          if ((inTurn += piece.length) >= atOnce) waitForTurn();
        } catch (error) {
          isOver = true;
          reject(error);
        }
      };
      request.on('data', (piece: Buffer) => void (sent += piece.length));
      stream.on('data', take).once('end', resolve).once('error', cut);
      request.once('error', cut).once('close', () => request.complete || cut());
      tick = setInterval(() => {
        // A request that waits for its turn is not slow.
        if (sent - bytes < pace.bytes && !stream.isPaused()) reject(malformed(tooSlow));
        bytes = sent;
      }, pace.milliseconds);
    });
  } finally {
    isReading = false;
    clearInterval(tick);
    request.removeAllListeners('data').pause();
    if (inflater !== null) {
      request.unpipe(inflater);
      inflater.removeAllListeners('data').destroy();
    }
  }
  return pieces;
}

const tooEarly = 'The body is incomplete, or does not match its Content-Encoding.';
const tooSlow = 'The body is arriving too slowly.';

function createInflater({ headers }: IncomingMessage, inflate: boolean): Transform | null {
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (coding === 'identity') return null;
  if (inflate && Object.hasOwn(inflaters, coding)) return inflaters[coding]!();
  const detail = inflate
    ? 'Send the body uncompressed, or with Content-Encoding: gzip.'
    : 'Send the body uncompressed.';
  throw new RegistryError('unsupported_media_type', detail);
}

function overLimit(limit: number): RegistryError {
  return tooLarge(`The body has more than ${limit} bytes.`, { extra: { limit } });
}

/** Whether the body is short enough to read to its end, so that the connection can stay open. */
function isSmall({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= 65_536;
}

/** RFC 9110 §10.1.1: the client waits for `100 Continue` before it sends the body. */
function isAskedToInvite(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue' && !invited.has(request);
}

/**
 * Ends the response to a request whose body may not have been read completely. A client that sends
 * everything before it reads would find the connection reset and never see the response. So the
 * rest is read and discarded, within limits, before the connection closes.
 */
export function endResponse(request: IncomingMessage, response: ServerResponse, body?: Buffer): void {
  if (!hasBody(request) || request.complete || request.destroyed) return void response.end(body);
  if (!isSmall(request) || isAskedToInvite(request)) response.setHeader('Connection', 'close');
  if (isAskedToInvite(request)) return void response.end(body);
  response.flushHeaders();
  if (body !== undefined) response.write(body);
  let bytes = 0;
  let seen = 0;
  const end = () => {
    clearInterval(tick);
    request.off('data', take).off('end', end).off('close', end);
    response.end();
  };
  const take = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxDiscardedBytes) end();
  };
  const tick = setInterval(() => {
    if (bytes - seen < pace.bytes) end();
    seen = bytes;
  }, pace.milliseconds);
  request.on('data', take).once('end', end).once('close', end).resume();
}
