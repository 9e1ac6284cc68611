import { join } from 'node:path';
import { userCacheFolder } from '../../config/environment.ts';
import { formatOfFile } from '../../model/address.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import type { LockedContract } from '../../model/graph/lock.ts';
import { openFolderCache } from '../../store/cache.ts';
import { coordinateIn, openContractSource } from './contract-source.ts';

/** Bytes that the cache keeps. */
const sizeLimit = 2 ** 29;

/**
 * Returns the bytes of an entry: from the cache of this user, by their SHA-256, else from its registry.
 * `trusted`: the registry that gets the key. Rejects as `ContractSource.bytes` does.
 */
export async function bytesOf(entry: LockedContract, trusted: string | undefined): Promise<Uint8Array> {
  const { path, version, registry, sha256 } = entry;
  const cache = openFolderCache(join(userCacheFolder(), 'stele', 'contracts'), { sizeLimit });
  const key = `sha256/${sha256.slice(0, 2)}/${sha256.slice(2)}`;
  const cached = await cache.get(key).catch(() => null);
  if (cached !== null && hexOf(digestOf(cached)) === sha256) return cached;
  const source = openContractSource(registry, trusted);
  const bytes = await source.bytes(coordinateIn(entry), version, formatOfFile(path), sha256);
  // Without a cache, it only takes longer.
  await cache.put(key, bytes).catch(() => undefined);
  return bytes;
}
