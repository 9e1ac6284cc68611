import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Whether the signature is the body's HMAC-SHA256 under one of the secrets, as 64 hexadecimal
 * digits. Takes constant time. An empty secret is ignored.
 */
export function isHmacOf(signature: string | undefined, body: Uint8Array, secrets: readonly string[]): boolean {
  if (signature === undefined || !/^[0-9a-f]{64}$/.test(signature)) return false;
  const given = Buffer.from(signature, 'hex');
  return fitsSome(secrets, (secret) => timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given));
}

/**
 * Whether the text is one of the secrets. Takes constant time, and compares digests, so that the
 * time does not reveal a secret's length.
 */
export function isOneOf(text: string, secrets: readonly string[]): boolean {
  const digest = (value: string) => createHmac('sha256', 'one of').update(value).digest();
  const given = digest(text);
  return fitsSome(secrets, (secret) => timingSafeEqual(digest(secret), given));
}

/** Whether one of the secrets fits. Always tries all of them. */
export function fitsSome(secrets: readonly string[], fits: (secret: string) => boolean): boolean {
  return secrets
    .filter((secret) => secret !== '')
    .map(fits)
    .includes(true);
}

/** The value after `sha256=`, or undefined. */
export function behindSha256(value: string | undefined): string | undefined {
  return value?.startsWith('sha256=') ? value.slice('sha256='.length) : undefined;
}
