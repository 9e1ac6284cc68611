import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';

/** A response as bytes, ready to be written. Only its date changes. */
export interface Prebuilt {
  status: number;
  /** The head, and the body behind it if it is small. */
  bytes: Buffer;
  /** Where the date stands in the bytes. */
  dateAt: number;
  /** The second that it says, since 1970. */
  second: number;
  /** Whether a socket may still be sending the bytes. */
  isLent: boolean;
  /** A body that was too large to be copied behind the head. */
  body: Uint8Array | null;
}

/** Bytes of a body up to which copying it is cheaper than a second write. */
const smallBody = 64 * 1024;

/** Ends of all heads, as Node writes them on connections that are kept alive. */
const ending = (keepAlive: number) =>
  `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAlive / 1000)}\r\n\r\n`;

/**
 * Builds a response. `fields`: names and values in turn, checked here and not again.
 * `keepAlive`: milliseconds for which the server keeps a connection.
 */
export function prebuild(
  status: '200 OK' | '304 Not Modified' | '307 Temporary Redirect',
  fields: readonly string[],
  keepAlive: number,
  body: Uint8Array = none,
): Prebuilt {
  let head = `HTTP/1.1 ${status}\r\n`;
  for (let i = 0; i < fields.length; i += 2) {
    const [name, value] = [fields[i]!, fields[i + 1]!];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  head += 'Date: ';
  const dateAt = head.length;
  const second = secondNow();
  const text = `${head}${dateOf(second)}${ending(keepAlive)}`;
  const isSmall = body.byteLength <= smallBody;
  // Not from Node's buffer pool: keeping one small response would keep its whole 64 KB.
  const bytes = Buffer.allocUnsafeSlow(text.length + (isSmall ? body.byteLength : 0));
  bytes.write(text, 'latin1');
  if (isSmall) bytes.set(body, text.length);
  return { status: parseInt(status), bytes, dateAt, second, isLent: false, body: isSmall ? null : body };
}

const none = new Uint8Array();

/** Writes a response with the current date. */
export function writePrebuilt(socket: Socket, prebuilt: Prebuilt): void {
  const second = secondNow();
  if (prebuilt.second !== second) redate(prebuilt, second);
  const { bytes, body } = prebuilt;
  if (body === null) socket.write(bytes);
  else {
    socket.cork();
    socket.write(bytes);
    socket.write(body);
    socket.uncork();
  }
  if (socket.writableLength > 0) prebuilt.isLent = true;
}

function redate(prebuilt: Prebuilt, second: number): void {
  if (prebuilt.isLent) {
    const copy = Buffer.allocUnsafeSlow(prebuilt.bytes.byteLength);
    copy.set(prebuilt.bytes);
    prebuilt.bytes = copy;
    prebuilt.isLent = false;
  }
  prebuilt.bytes.write(dateOf(second), prebuilt.dateAt, 'latin1');
  prebuilt.second = second;
}

function secondNow(): number {
  return Math.floor(Date.now() / 1000);
}

let last = { second: 0, text: '' };

function dateOf(second: number): string {
  if (last.second !== second) last = { second, text: new Date(second * 1000).toUTCString() };
  return last.text;
}
