import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { digestOf, type Digest } from '../model/digest.ts';

/** Bytes that are hashed before other work goes on: some 1 ms. */
const frame = 1024 * 1024;
/** Bytes that are hashed at once. */
const small = 256 * 1024;

let last: Promise<unknown> = Promise.resolve();

/** Digests of what is named before it is stored, and is not hashed again for that. */
const digests = new WeakMap<Uint8Array, Digest>();

/** As `digestOf`, for bytes that never change and are hashed more than once. */
export function digestOnce(bytes: Uint8Array): Digest {
  return digests.getOrInsertComputed(bytes, digestOf);
}

/** As `digestOnce`, for bytes that may be many. The event loop turns after each MB, also when several callers hash. */
export async function digestInTurns(bytes: Uint8Array): Promise<Digest> {
  if (bytes.byteLength > small && !digests.has(bytes)) {
    last = last.then(() => hashFrames(bytes));
    digests.set(bytes, (await last) as Digest);
  }
  return digestOnce(bytes);
}

async function hashFrames(bytes: Uint8Array): Promise<Digest> {
  const hash = createHash('sha256');
  // The first `setImmediate` runs in the same turn as received data, the second in the next.
  await setImmediate();
  for (let at = 0; at < bytes.byteLength; at += frame) {
    await setImmediate();
    hash.update(bytes.subarray(at, at + frame));
  }
  return `sha256:${hash.digest('hex')}`;
}

/** Bytes whose line endings are changed at once: some 2 ms. */
const part = 256 * 1024;

/** The digest of a text with LF instead of CRLF, or if it has no CRLF, with CRLF instead of LF. Null without any. */
export async function digestWithOtherEndings(bytes: Uint8Array): Promise<Digest | null> {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const hasCrlf = view.includes('\r\n');
  if (!hasCrlf && !view.includes('\n')) return null;
  const hash = createHash('sha256');
  for (let at = 0; at < view.byteLength;) {
    if (at > 0) await setImmediate();
    let end = Math.min(view.byteLength, at + part);
    if (view[end - 1] === 13 && view[end] === 10) end++;
    const text = view.toString('latin1', at, end);
    hash.update(hasCrlf ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n'), 'latin1');
    at = end;
  }
  return `sha256:${hash.digest('hex')}`;
}
