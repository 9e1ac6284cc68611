import { readSecret } from '../config.ts';
import { RegistryError } from '../model/errors.ts';
import { decrypt, deriveKey, encrypt } from './cipher.ts';
import type { Registry } from './registry.ts';

/** Says of a stored secret that it stands there as it is: `secretKey` was not configured when it was written. */
const plain = 'plain:';
const sealed = 'sealed:';
const shortest = 32;

/** A secret that the store has to hold (of hooks, of webhooks), as it is to be written: sealed under `secretKey`, or, without one, as it is. */
export function sealSecret(registry: Pick<Registry, 'config' | 'randomBytes'>, secret: string): string {
  const [key] = keysOf(registry);
  return key === undefined ? plain + secret : sealed + encrypt(registry, key, secret);
}

/** The secret that was sealed. Refuses with `unavailable` when no line of `secretKey` opens it. */
export function openSecret(registry: Pick<Registry, 'config'>, stored: string): string {
  if (stored.startsWith(plain)) return stored.slice(plain.length);
  for (const key of keysOf(registry)) {
    const secret = stored.startsWith(sealed) ? tryDecrypt(key, stored.slice(sealed.length)) : null;
    if (secret !== null) return secret;
  }
  throw new RegistryError(
    'unavailable',
    'A stored secret was sealed under a secretKey that is not configured any more.',
  );
}

/** Refuses with `malformed` a `secretKey` that is not set or has a line of less than 32 characters: told at the start, not at the first secret. */
export function assertSecretKey(registry: Pick<Registry, 'config'>): void {
  keysOf(registry);
}

/** A key for each line of `secretKey`; none where it is not configured. */
function keysOf({ config }: Pick<Registry, 'config'>): Uint8Array[] {
  if (config.secretKey === null) return [];
  const lines = readSecret(config.secretKey)
    .split(/[\r\n]+/)
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.some((line) => line.length < shortest))
    throw new RegistryError('malformed', `secretKey must have at least ${shortest} characters a line.`);
  return lines.map((line) => deriveKey(line, '', 'stele stored secrets'));
}

function tryDecrypt(key: Uint8Array, text: string): string | null {
  try {
    return decrypt(key, text);
  } catch {
    return null;
  }
}
