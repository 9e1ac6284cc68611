/**
 * Where everything durable is: named bytes that are written once. The whole port; every promise below is checked by
 * `test/contract/bucket.ts` against each adapter.
 *
 * Keys are 1 to 1,024 of `[A-Za-z0-9._+=@-]` in segments between single `/`, no segment `.` or `..`, none over 200 characters
 * or starting with `.`; any other key is a bug of the caller and throws a TypeError. A key is never also the folder of another.
 */
export interface Bucket {
  /** The bytes under the key, or null when there are none. Never part of them. Rejects when it cannot tell. */
  get(key: string): Promise<Uint8Array | null>;

  /**
   * Writes the bytes unless the key has some already. Of any number of calls for one key, in any number of processes, exactly one
   * is told `created`; after that answer the bytes survive kill -9 and power loss. A reader sees all of the bytes or none.
   * When it rejects, the bytes may or may not be there: read back to know. It rejects with `unavailable` when it knows that nothing
   * was written (a full disk), and with `outcome_unknown` when reading back proves nothing either (an fsync that failed).
   */
  putIfAbsent(key: string, bytes: Uint8Array): Promise<'created' | 'exists'>;

  /**
   * Up to `limit` (default 1,000) keys that start with the prefix and follow `after`, in ascending order of their UTF-8 bytes. Every
   * key created before the call is in the pages, none twice. `after` need not exist.
   */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<string[]>;

  /** Removes the key. Absent already: nothing happens. For garbage collection and purges alone. */
  delete(key: string): Promise<void>;

  /** Writes bytes where no key is, durably, and reads them back. Rejects with `unavailable` and why, when writes would fail now. */
  check(): Promise<void>;
}

const segment = /^[A-Za-z0-9_+=@-][A-Za-z0-9._+=@-]{0,199}$/;

/** Whether the text may be a key. */
export function isKey(text: string): boolean {
  return text.length <= 1024 && text.split('/').every((part) => segment.test(part));
}

/** Throws a TypeError unless the text may be a key. Adapters call it first. */
export function assertKey(key: string): void {
  if (!isKey(key)) {
    throw new TypeError(`Not a bucket key: ${JSON.stringify(key.slice(0, 200))}`);
  }
}

/** Every key with the prefix, page by page. */
export async function* listAll(bucket: Bucket, prefix: string): AsyncGenerator<string> {
  let after: string | undefined;
  for (;;) {
    const page = await bucket.list(prefix, after === undefined ? {} : { after });
    yield* page;
    if (page.length === 0) return;
    after = page.at(-1)!;
  }
}
