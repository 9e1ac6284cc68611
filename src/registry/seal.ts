import { createHmac, timingSafeEqual, createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { readSecret } from '../config/environment.ts';
import { unavailable, malformed } from '../model/errors.ts';
import type { Registry } from './registry.ts';

type Sealing = Pick<Registry, 'config' | 'randomBytes' | 'ownKey'>;

/** Prefix of a secret that an older version stored as it is. */
const plain = 'plain:';
const sealed = 'sealed:';
const shortest = 32;

/**
 * Encrypts a secret for the store (of hooks, of webhooks) with the first line of `secretKey`, or
 * with the registry's own key.
 */
export function sealSecret(registry: Sealing, secret: string): string {
  return sealed + encrypt(registry, sealingKeys(registry)[0]!, secret);
}

/** Decrypts a stored secret. Throws `unavailable` if no line of `secretKey` and not the registry's own key opens it. */
export function openSecret(registry: Pick<Registry, 'config' | 'ownKey'>, stored: string): string {
  if (stored.startsWith(plain)) return stored.slice(plain.length);
  const ownKey = registry.ownKey.read();
  for (const key of [...configuredKeys(registry), ...(ownKey === null ? [] : [keyOf(ownKey)])]) {
    const secret = stored.startsWith(sealed) ? decrypt(key, stored.slice(sealed.length)) : null;
    if (secret !== null) return secret;
  }
  throw unavailable(unopened);
}

const unopened =
  'A stored secret cannot be decrypted: its key is missing. Add the key as another line of `secretKey`, or restore the file `.secret-key` in the data folder.';

/**
 * Throws `malformed` if `secretKey` is unset or has a line of less than 32 characters. Called at
 * the start, so that the error does not wait for the first secret. `name`: what the configuration calls it.
 */
export function assertSecretKey(registry: Pick<Registry, 'config'>, name?: string): void {
  configuredKeys(registry, name);
}

/** A key for each line of `secretKey`; none if it is not configured. */
function configuredKeys({ config }: Pick<Registry, 'config'>, name = 'secretKey'): Uint8Array[] {
  if (config.secretKey === null) return [];
  const lines = readSecret(config.secretKey)
    .split(/[\r\n]+/)
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.some((line) => line.length < shortest))
    throw malformed(`Each line of ${name} must have at least ${shortest} characters.`);
  return lines.map(keyOf);
}

function keyOf(secret: string): Uint8Array {
  return deriveKey(secret, '', 'stele stored secrets');
}

/**
 * Encrypts a value for a client that brings it back, such as a position in a list that it must not
 * read, as text that a URL takes. `purpose` keeps values of different kinds apart.
 */
export function sealValue(registry: Sealing, purpose: string, value: unknown): string {
  const encrypted = encrypt(registry, sealingKeys(registry)[0]!, JSON.stringify([purpose, value]));
  return Buffer.from(encrypted, 'base64').toString('base64url');
}

/** Decrypts what `sealValue` returned for this purpose. Undefined for anything else. */
export function openValue(registry: Sealing, purpose: string, sealedValue: string): unknown {
  for (const key of sealingKeys(registry)) {
    const opened = decrypt(key, Buffer.from(sealedValue, 'base64url').toString('base64'));
    if (opened === null) continue;
    const [made, value] = JSON.parse(opened) as [string, unknown];
    if (made === purpose) return value;
  }
  return undefined;
}

/** A signature of a text, in 16 characters (96 bits), for a short link that works for a day. `purpose` as for `sealValue`. */
export function signText(registry: Sealing, purpose: string, text: string): string {
  return signWith(sealingKeys(registry)[0]!, purpose, text);
}

/** Whether `signText` made a signature. */
export function isSigned(registry: Sealing, purpose: string, text: string, signature: string): boolean {
  const given = Buffer.from(signature);
  return sealingKeys(registry).some((key) => {
    const expected = Buffer.from(signWith(key, purpose, text));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

function signWith(key: Uint8Array, purpose: string, text: string): string {
  const mac = createHmac('sha256', key).update(JSON.stringify(['signed', purpose, text]));
  return mac.digest().subarray(0, 12).toString('base64url');
}

/** Those of `secretKey`, or the registry's own. The first one seals. */
function sealingKeys(registry: Sealing): readonly Uint8Array[] {
  const configured = configuredKeys(registry);
  return configured.length > 0 ? configured : [keyOf(registry.ownKey.make())];
}

/** Derives a key for AES-256 from a secret (HKDF, RFC 5869). Each salt and purpose gives a different key. */
export function deriveKey(secret: string, salt: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, purpose, 32));
}

/** Encrypts with AES-256-GCM and a fresh nonce. Returns base64 of nonce, tag and ciphertext. */
export function encrypt({ randomBytes }: Pick<Registry, 'randomBytes'>, key: Uint8Array, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const bytes = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), bytes]).toString('base64');
}

/** Decrypts what `encrypt` returned. Null if the key is wrong or the bytes were changed. */
export function decrypt(key: Uint8Array, encrypted: string): string | null {
  const bytes = Buffer.from(encrypted, 'base64');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
  } catch {
    return null;
  }
}
