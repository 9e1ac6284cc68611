import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { Registry } from './registry.ts';

/**
 * Derives a key for AES-256 from a secret (HKDF, RFC 5869). Each salt and purpose gives a different
 * key.
 */
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

/** Decrypts what `encrypt` returned. Throws if the key is wrong or the bytes were changed. */
export function decrypt(key: Uint8Array, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 });
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString();
}
