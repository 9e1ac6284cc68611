import { isRegistryError } from '../model/errors.ts';
import type { Bucket } from './bucket.ts';

/** Where garbage collection keeps the bytes of a key until nobody can need them any more. */
export function quarantineKey(key: string): string {
  return `quarantine/${key}`;
}

/** Moves the bytes of a key into quarantine. Returns them, or null if the key is absent. */
export async function putIntoQuarantine(bucket: Bucket, key: string): Promise<number | null> {
  const bytes = await bucket.get(key);
  if (bytes === null) return null;
  await bucket.putIfAbsent(quarantineKey(key), bytes);
  await bucket.delete(key);
  return bytes.byteLength;
}

/**
 * Writes what is in quarantine back under its key, and returns it. Null if it is not there. The copy
 * stays: a deletion that was given up may still arrive.
 */
export async function bringBack(bucket: Bucket, key: string): Promise<Uint8Array | null> {
  const bytes = await bucket.get(quarantineKey(key));
  if (bytes === null) return null;
  await bucket.putIfAbsent(key, bytes).catch((error: unknown) => {
    // A full disk stops no reader. The next one tries again.
    if (!isRegistryError(error)) throw error;
  });
  return bytes;
}
