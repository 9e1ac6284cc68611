import { isRegistryError, RegistryError } from '../model/errors.ts';

/**
 * Durable storage: named bytes that are written once. `test/contract/bucket.ts` checks every
 * promise below against each adapter.
 *
 * Keys are 1 to 1,024 characters of `[A-Za-z0-9._+=@-]` in segments separated by single `/`. No
 * segment is longer than 200 characters or starts with `.`. Any other key throws a TypeError. A key
 * is never also the folder of another.
 */
export interface Bucket {
  /** Returns all bytes under the key, or null if the key is absent. Rejects if it cannot tell. */
  get(key: string): Promise<Uint8Array | null>;

  /**
   * Returns the bytes from `start` up to `end` (exclusive), fewer where they end before, or null if
   * the key is absent. Rejects if it cannot tell.
   */
  getPart(key: string, start: number, end: number): Promise<Uint8Array | null>;

  /**
   * Writes the bytes unless the key exists. Of all calls for one key, in all processes, exactly one
   * returns `created`; from then on the bytes survive kill -9 and power loss. A reader sees all of
   * the bytes or none. Rejects with `unavailable` if nothing was written (a full disk), and with
   * `outcome_unknown` if reading back proves nothing either (a failed fsync). After any other
   * rejection the bytes may or may not be there: read them back.
   */
  putIfAbsent(key: string, bytes: Uint8Array): Promise<'created' | 'exists'>;

  /**
   * Returns up to `limit` (default 1,000) keys that start with the prefix and follow `after`, in
   * ascending order of their UTF-8 bytes. The pages contain every key created before the call, each
   * once. `after` need not exist.
   */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<string[]>;

  /** Removes the key. Does nothing if it is absent. Only for garbage collection and purges. */
  delete(key: string): Promise<void>;

  /**
   * Writes probe bytes durably and reads them back. Rejects with `unavailable` if writes fail, or if
   * a remote store no longer refuses a second write of a key (tried once a minute).
   */
  check(): Promise<void>;
}

const segment = /^[A-Za-z0-9_+=@-][A-Za-z0-9._+=@-]{0,199}$/;

/** Reports whether the text is a valid key. */
export function isKey(text: string): boolean {
  return text.length <= 1024 && text.split('/').every((part) => segment.test(part));
}

/** Throws a TypeError unless the text is a valid key. Adapters call it first. */
export function assertKey(key: string): void {
  if (!isKey(key)) {
    throw new TypeError(`Not a bucket key: ${JSON.stringify(key.slice(0, 200))}`);
  }
}

/** Yields every key with the prefix, or those after one, page by page. */
export async function* listAll(bucket: Bucket, prefix: string, start?: string): AsyncGenerator<string> {
  for (let after = start; ;) {
    const page = await bucket.list(prefix, after === undefined ? {} : { after });
    yield* page;
    if (page.length === 0) return;
    after = page.at(-1)!;
  }
}

/**
 * Writes the bytes under a key that several writers want. Returns whether they are stored there
 * now; false means that another writer's are. `isOurs` recognizes our bytes when the answer was
 * lost; it may throw `corrupt`. Rejects with `unavailable` if nothing was written, and with
 * `outcome_unknown` if that cannot be found out.
 */
export async function putOwn(
  bucket: Bucket,
  key: string,
  bytes: Uint8Array,
  isOurs: (stored: Uint8Array) => boolean,
): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    const answer = await bucket.putIfAbsent(key, bytes).catch((error: unknown) => ({ error }));
    if (answer === 'created') return true;
    const failure = typeof answer === 'object' ? answer.error : undefined;
    // Reading back would prove nothing.
    if (isRegistryError(failure, 'outcome_unknown')) throw outcomeUnknown(failure);
    // After the first attempt, an earlier write may still arrive.
    if (attempt === 0 && isRegistryError(failure, 'unavailable')) throw failure;
    const stored = await bucket.get(key).catch((error: unknown) => {
      throw outcomeUnknown(error);
    });
    if (stored !== null) return isOurs(stored);
    // It may still arrive. Writing the same bytes again is safe.
    if (attempt === 2) throw outcomeUnknown(failure);
  }
}

/** The error for a write of which it cannot be known whether it counts. */
export function outcomeUnknown(cause: unknown): RegistryError {
  const message =
    'The store did not confirm the change. Retry with the same Idempotency-Key, or check whether it was made.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
