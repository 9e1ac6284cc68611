import { createHmac, timingSafeEqual } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

/** Bytes to hash in one turn of the event loop. They take some milliseconds at most. */
const atOnce = 1024 * 1024;

/**
 * HMAC-SHA256 of a body under a key, `before` put in front of it. Yields to the event loop, so that
 * a large body does not block it.
 */
export async function hmacOf(key: string | Uint8Array, body: Uint8Array, before = ''): Promise<Buffer> {
  const hmac = createHmac('sha256', key).update(before);
  for (let from = 0; from < body.length; from += atOnce) {
    if (from > 0) await turn();
    hmac.update(body.subarray(from, from + atOnce));
  }
  return hmac.digest();
}

/**
 * Whether the signature is the body's HMAC-SHA256 under one of the secrets, as 64 hexadecimal
 * digits. Takes constant time. An empty secret is ignored.
 */
export async function isHmacOf(
  signature: string | undefined,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<boolean> {
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  return fitsSome(secrets, async (secret) => timingSafeEqual(await hmacOf(secret, body), given));
}

/**
 * Whether the text is one of the secrets. Takes constant time, and compares digests, so that the
 * time does not reveal a secret's length.
 */
export function isOneOf(text: string, secrets: readonly string[]): boolean {
  const digest = (value: string) => createHmac('sha256', 'one of').update(value).digest();
  const given = digest(text);
  const matches = secrets.map((secret) => secret !== '' && timingSafeEqual(digest(secret), given));
  return matches.includes(true);
}

/** Whether one of the secrets fits; an empty one does not. Always tries all of them. */
export async function fitsSome(
  secrets: readonly string[],
  fits: (secret: string) => Promise<boolean>,
): Promise<boolean> {
  let isMatch = false;
  for (const secret of secrets) if (secret !== '' && (await fits(secret))) isMatch = true;
  return isMatch;
}

/** The value after `sha256=`, or undefined. */
export function behindSha256(value: string | undefined): string | undefined {
  return value?.startsWith('sha256=') ? value.slice('sha256='.length) : undefined;
}
