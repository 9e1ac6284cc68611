import { readSecret } from '../../config/environment.ts';
import { malformed } from '../../model/errors.ts';
import { parseVerifierKey, signingKey, type SigningKey } from '../../model/transparency/note.ts';
import { corrupt } from '../../store/records.ts';
import { deriveKey } from '../seal.ts';
import type { Registry } from '../registry.ts';

const shortest = 32;

/** What names the public log of a registry and its key: its address without a scheme. Null: it has no address. */
function logOrigin({ config }: Pick<Registry, 'config'>): string | null {
  return config.url === null ? null : `${config.url.replace(/^\w+:\/\//, '')}/log`;
}

/** Whether a registry has a public log: an address, and a key that all its nodes have. */
export function hasPublicLog(registry: Pick<Registry, 'config' | 'logKey'>): boolean {
  const { store, publicLog } = registry.config;
  return logOrigin(registry) !== null && (publicLog.key !== null || ('path' in store && registry.logKey !== undefined));
}

/**
 * The keys that sign the public log of a registry that has one, the present one first: `publicLog.key`, or the data folder's
 * own, which is made for a log that `isNew`. A secret has a line for each: what follows the first are keys from before, which
 * go on signing so that who knows only them believes the log's word for the present one. Throws `malformed` for a
 * `publicLog.key` that is missing or too short, and `corrupt` where the data folder's is, and the log has begun.
 */
export function logKeys(registry: Pick<Registry, 'config' | 'logKey'>, isNew: boolean): [SigningKey, ...SigningKey[]] {
  const origin = logOrigin(registry)!;
  const { key } = registry.config.publicLog;
  const text = key !== null ? readSecret(key) : isNew ? registry.logKey!.make() : registry.logKey!.read();
  const restore = 'Restore the file `.log-key` of the data folder.';
  if (text === null) throw corrupt(`The key of the public log is lost. ${restore}`);
  const lines = text.split('\n').map((line) => line.trim());
  const [first, ...before] = lines.filter((line) => line !== '');
  const keyFrom = (secret = ''): SigningKey => {
    const fault = `must have at least ${shortest} characters in each line.`;
    if (secret.length < shortest && key === null) throw corrupt(`The key of the public log ${fault} ${restore}`);
    if (secret.length < shortest) throw malformed(`publicLog.key ${fault}`);
    return signingKey(origin, deriveKey(secret, '', 'stele public log'));
  };
  return [keyFrom(first), ...before.map(keyFrom)];
}

/** Whether a log announces one of these keys, as verifier keys. By another name it is the same: the registry has moved. */
export function hasKey(keys: readonly string[], announced: string): boolean {
  const [known, ...own] = [announced, ...keys].map((text) => parseVerifierKey(text)?.key);
  return own.some((key) => known !== undefined && Buffer.compare(key!, known) === 0);
}
