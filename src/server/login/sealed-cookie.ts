import { hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, jwtDecrypt, type JWTPayload } from 'jose';
import { RegistryError } from '../../model/errors.ts';

/**
 * Seals values: only this registry can read them, nobody can change them, and they expire (RFC
 * 7516, `dir` with A256GCM).
 */
export interface Seal {
  seal(value: Record<string, unknown>, expiresAt: Date): Promise<string>;
  /** The value; null if it is invalid, expired, or sealed for another purpose or registry. */
  open(text: string): Promise<Record<string, unknown> | null>;
}

export interface SealOptions {
  /** One secret per line. The first seals; all of them open, so that a secret can be replaced. */
  secret: string;
  /** Values of one purpose are not valid for another. */
  purpose: string;
  /** The registry's URL: values of another registry are invalid, even with the same secret. */
  url: string;
  /** `Registry.expiryTime` */
  expiryTime: () => Date;
}

const shortest = 32;

/**
 * Creates a seal with keys derived from the secret (HKDF, RFC 5869). Throws `malformed` if a secret
 * has less than 32 characters.
 */
export function createSeal({ secret, purpose, url, expiryTime }: SealOptions): Seal {
  const secrets = secret.split(/[\r\n]+/).filter((text) => text !== '');
  if (secrets.length === 0 || secrets.some((text) => text.length < shortest)) {
    throw new RegistryError('malformed', `login.sessionSecret must have at least ${shortest} characters.`);
  }
  const keys = secrets.map((text) => new Uint8Array(hkdfSync('sha256', text, url, `stele ${purpose}`, 32)));
  return {
    async seal(value, expiresAt) {
      const jwt = new EncryptJWT({ value }).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
      return jwt.setIssuedAt(expiryTime()).setExpirationTime(expiresAt).encrypt(keys[0]!);
    },
    async open(text) {
      for (const key of keys) {
        const payload = await decrypt(text, key, expiryTime());
        if (payload !== null) return payload['value'] as Record<string, unknown>;
      }
      return null;
    },
  };
}

async function decrypt(text: string, key: Uint8Array, currentDate: Date): Promise<JWTPayload | null> {
  try {
    const { payload } = await jwtDecrypt(text, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      requiredClaims: ['exp', 'value'],
      currentDate,
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}
