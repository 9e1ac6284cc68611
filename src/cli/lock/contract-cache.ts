import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { userCacheFolder } from '../../config/environment.ts';
import { formatOfFile } from '../../model/address.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import type { LockedContract } from '../../model/lock.ts';
import { openFolderCache, type Cache } from '../../store/cache.ts';
import { coordinateIn, layerOf, openContractSource } from './contract-source.ts';

/** Bytes that the cache keeps. */
const sizeLimit = 2 ** 29;

const place = (sha256: string): string => `sha256/${sha256.slice(0, 2)}/${sha256.slice(2)}`;

/** The bytes with a SHA-256 that this user has; null: none. */
async function cached(sha256: string): Promise<Uint8Array | null> {
  const bytes = await openCache()
    .get(place(sha256))
    .catch(() => null);
  return bytes !== null && hexOf(digestOf(bytes)) === sha256 ? bytes : null;
}

async function keep(sha256: string, bytes: Uint8Array): Promise<Uint8Array> {
  // Without a cache, it only takes longer.
  await openCache()
    .put(place(sha256), bytes)
    .catch(() => undefined);
  return bytes;
}

/** Opens the cache of this user. */
export function openCache(): Cache {
  return openFolderCache(join(userCacheFolder(), 'stele', 'contracts'), { sizeLimit });
}

/** Whether the bytes of an entry are here. */
export async function isCached({ sha256 }: LockedContract): Promise<boolean> {
  return (await cached(sha256)) !== null;
}

/**
 * Returns the bytes of an entry: from the cache of this user, by their SHA-256, else from the file itself in this
 * folder, else from its registry. `trusted`: the registry that gets the key. Rejects as `ContractSource.bytes` does.
 */
export async function bytesOf(
  entry: LockedContract,
  trusted: string | undefined,
  folder: string | null = null,
): Promise<Uint8Array> {
  const { path, version, registry, sha256 } = entry;
  const there = folder === null ? null : await readFile(join(folder, path)).catch(() => null);
  if (there !== null && hexOf(digestOf(there)) === sha256) return there;
  const source = openContractSource(registry, trusted);
  const fetched = async () =>
    keep(sha256, await source.bytes(coordinateIn(entry), version, formatOfFile(path), sha256));
  return (await cached(sha256)) ?? fetched();
}

/**
 * The SHA-256 of a version's bytes in the format of a file, as its manifest says, from the cache or its registry. Rejects as
 * `ContractSource.manifest` does.
 */
export async function sha256Of(
  entry: Pick<LockedContract, 'contract' | 'version' | 'registry' | 'path' | 'digest'>,
  trusted: string | undefined,
): Promise<string> {
  const { registry, contract, version, digest, path } = entry;
  const hex = hexOf(digest);
  const source = openContractSource(registry, trusted);
  const fetched = async () => keep(hex, await source.manifest(coordinateIn(entry), version, digest));
  const sha256 = layerOf((await cached(hex)) ?? (await fetched()), formatOfFile(path));
  if (sha256 !== null) return sha256;
  throw new RegistryError(
    'refused',
    `The manifest of ${contract}@${version} at ${registry} does not say what its bytes are.`,
  );
}
