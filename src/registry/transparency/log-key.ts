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
 * The keys that sign the public log, the present one first: `publicLog.key`, or the data folder's own, which is made when
 * it is first needed. A secret has a line for each: what follows the first are keys from before, which go on signing so
 * that who knows only them believes the log's word for the present one. Null for a registry without an address, and for
 * one in a bucket without `publicLog.key`: its nodes would each have another. Throws `malformed` for a key that is too short.
 */
export function logKeys(registry: Pick<Registry, 'config' | 'logKey'>): [SigningKey, ...SigningKey[]] | null {
  const origin = logOrigin(registry);
  const { store, publicLog } = registry.config;
  if (origin === null) return null;
  const own = publicLog.key !== null || store.kind !== 'fs' ? null : (registry.logKey?.make() ?? null);
  const text = publicLog.key === null ? own : readSecret(publicLog.key);
  if (text === null) return null;
  const [first, ...before] = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const keyFrom = (secret = ''): SigningKey => {
    if (secret.length < shortest)
      throw new RegistryError('malformed', `publicLog.key must have at least ${shortest} characters in each line.`);
    return signingKey(origin, deriveKey(secret, '', 'stele public log'));
  };
  return [keyFrom(first), ...before.map(keyFrom)];
}
