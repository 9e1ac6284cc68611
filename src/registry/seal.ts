import { readSecret } from '../config.ts';
import { RegistryError } from '../model/errors.ts';
import { decrypt, deriveKey, encrypt } from './cipher.ts';
import type { Registry } from './registry.ts';

/** Says of a stored secret that it stands there as it is: written by a version that had no key of its own, or without a data folder. */
const plain = 'plain:';
const sealed = 'sealed:';
const shortest = 32;

/** A secret that the store has to hold (of hooks, of webhooks), sealed: under the first line of `secretKey`, or else under the registry's own key. */
export function sealSecret(registry: Pick<Registry, 'config' | 'randomBytes' | 'ownKey'>, secret: string): string {
  const [key] = configuredKeys(registry);
  const own = key === undefined ? registry.ownKey?.make() : undefined;
  if (key === undefined && own === undefined) return plain + secret;
  return sealed + encrypt(registry, key ?? keyOf(own!), secret);
}

/** The secret that was sealed. Refuses with `unavailable` when neither a line of `secretKey` nor the registry's own key opens it. */
export function openSecret(registry: Pick<Registry, 'config' | 'ownKey'>, stored: string): string {
  if (stored.startsWith(plain)) return stored.slice(plain.length);
  const own = registry.ownKey?.read() ?? null;
  for (const key of [...configuredKeys(registry), ...(own === null ? [] : [keyOf(own)])]) {
    const secret = stored.startsWith(sealed) ? tryDecrypt(key, stored.slice(sealed.length)) : null;
    if (secret !== null) return secret;
  }
  throw new RegistryError('unavailable', unopened);
}

const unopened =
  'A stored secret cannot be decrypted: its key is missing. Add the key as another line of `secretKey`, or restore the file `.secret-key` in the data folder.';

/** Refuses with `malformed` a `secretKey` that is not set or has a line of less than 32 characters: told at the start, not at the first secret. */
export function assertSecretKey(registry: Pick<Registry, 'config'>): void {
  configuredKeys(registry);
}

/** A key for each line of `secretKey`; none where it is not configured. */
function configuredKeys({ config }: Pick<Registry, 'config'>): Uint8Array[] {
  if (config.secretKey === null) return [];
  const lines = readSecret(config.secretKey)
    .split(/[\r\n]+/)
    .filter((line) => line !== '');
  if (lines.length === 0 || lines.some((line) => line.length < shortest))
    throw new RegistryError('malformed', `Each line of secretKey must have at least ${shortest} characters.`);
  return lines.map(keyOf);
}

function keyOf(secret: string): Uint8Array {
  return deriveKey(secret, '', 'stele stored secrets');
}

function tryDecrypt(key: Uint8Array, text: string): string | null {
  try {
    return decrypt(key, text);
  } catch {
    return null;
  }
}
