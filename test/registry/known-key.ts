import type { OwnKey } from '../../src/store/own-key.ts';

/** A key of a registry's own that is in no file. */
export function knownKey(secret: string): OwnKey {
  return { read: () => secret, make: () => secret };
}
