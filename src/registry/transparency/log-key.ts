import { readSecret } from '../../config/environment.ts';
import { RegistryError } from '../../model/errors.ts';
import { signingKey, type SigningKey } from '../../model/transparency/note.ts';
import { deriveKey } from '../cipher.ts';
import type { Registry } from '../registry.ts';

const shortest = 32;

/** What names the public log of a registry and its key: its address without a scheme. Null: it has no address. */
function logOrigin({ config }: Pick<Registry, 'config'>): string | null {
  return config.url === null ? null : `${config.url.replace(/^\w+:\/\//, '')}/log`;
}

/** Whether a registry has a public log: an address, and a key that all its nodes have. */
export function hasPublicLog(registry: Pick<Registry, 'config' | 'logKey'>): boolean {
  const { store, publicLog } = registry.config;
  return (
    logOrigin(registry) !== null && (publicLog.key !== null || (store.kind === 'fs' && registry.logKey !== undefined))
  );
}

/**
 * The key that signs the public log: `publicLog.key`, or the data folder's own, which is made when it is
 * first needed. Null for a registry without an address, and for one in a bucket without `publicLog.key`:
 * its nodes would each have another. Throws `malformed` for a key that is too short.
 */
export function logKey(registry: Pick<Registry, 'config' | 'logKey'>): SigningKey | null {
  const origin = logOrigin(registry);
  const { store, publicLog } = registry.config;
  if (origin === null) return null;
  if (publicLog.key === null) {
    const own = store.kind === 'fs' ? registry.logKey?.make() : undefined;
    return own === undefined ? null : keyFrom(origin, own);
  }
  const secret = readSecret(publicLog.key).trim();
  if (secret.length < shortest)
    throw new RegistryError('malformed', `publicLog.key must have at least ${shortest} characters.`);
  return keyFrom(origin, secret);
}

function keyFrom(origin: string, secret: string): SigningKey {
  return signingKey(origin, deriveKey(secret, '', 'stele public log'));
}
