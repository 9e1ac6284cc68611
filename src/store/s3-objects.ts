import { RegistryError, unavailable } from '../model/errors.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { addAbortSignal, type Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';

/**
 * What a failed request says: `absent` (no such key), `taken` (a conditional write lost), `refused`
 * (not done, and a retry will not help), `busy` (not done, a retry may help), or `doubt` (it may
 * have been done, or may still be).
 */
export type RequestFailure = 'absent' | 'taken' | 'refused' | 'busy' | 'doubt';

/** Codes of connections that were never made, so that nothing was sent. */
const notConnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
/** S3 says with these that it did not process the request. */
const busy = new Set(['SlowDown', 'TooManyRequests', 'ThrottlingException', 'RequestTimeTooSkewed']);

const reasons = new Map([
  ['NoSuchBucket', 'its bucket does not exist'],
  ['AccessDenied', 'permission denied'],
  ['Forbidden', 'permission denied'],
  ['InvalidAccessKeyId', 'its access key is not known'],
  ['SignatureDoesNotMatch', 'its secret key is wrong'],
  ['ExpiredToken', 'its credentials have expired'],
  ['CredentialsProviderError', 'no credentials were found'],
  ['PermanentRedirect', 'its bucket is in another region'],
  ['AuthorizationHeaderMalformed', 'its bucket is in another region'],
  ['QuotaExceeded', 'its quota is used up'],
  ['XMinioStorageFull', 'no space is left'],
  ['NotImplemented', 'it does not support a needed feature of S3'],
  ['SlowDown', 'it is overloaded'],
]);

interface Thrown {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

function failureOf(error: unknown): RequestFailure {
  const { name = '', code = '', $metadata } = error as Thrown;
  const status = $metadata?.httpStatusCode ?? 0;
  if (name === 'NoSuchKey') return 'absent';
  if (notConnected.has(code) || busy.has(name) || status === 429) return 'busy';
  if (status === 409 || status === 412) return 'taken';
  if (name === 'CredentialsProviderError' || status === 501 || status === 507) return 'refused';
  // 408, and 400 with the name RequestTimeout: the body did not arrive in time.
  if (status >= 300 && status < 500 && status !== 408 && name !== 'RequestTimeout') return 'refused';
  return 'doubt';
}

function reasonOf(error: unknown): string {
  const { name = '', $metadata } = error as Thrown;
  const reason = reasons.get(name);
  if (reason !== undefined) return reason;
  const status = $metadata?.httpStatusCode ?? 0;
  if (status === 403) return 'permission denied';
  if (status === 507) return 'no space is left';
  return status === 0 ? 'it does not answer' : `it answers with the status ${status}`;
}

/** Returns the error for a write that certainly did not happen. */
function notWritten(cause: unknown): RegistryError {
  const message = `The store is not writable: ${reasonOf(cause)}; nothing was written.`;
  return unavailable(message, { cause, retryAfter: 5 });
}

/** Returns the error for a write whose outcome could not be read back. */
function notConfirmed(cause: unknown): RegistryError {
  const message = 'The store did not confirm the write, so it may be lost. Retry with the same Idempotency-Key.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 5 });
}

/** Returns the error for a failed read. */
export function notReadable(cause: unknown): RegistryError {
  return unavailable(`The store cannot be read: ${reasonOf(cause)}.`, { cause, retryAfter: 5 });
}

/** How long requests may take and how often they are tried. Times in milliseconds. */
export interface Patience {
  /** Time for one attempt; for a write, and another second for each megabyte. */
  timeout: number;
  attempts: number;
  /** Pause before the second attempt at most; it doubles with each further one. */
  pause: number;
  /** Time after which no further attempt begins. */
  total: number;
}

export const usualPatience: Patience = { timeout: 10_000, attempts: 5, pause: 100, total: 30_000 };

/**
 * Runs one attempt. The signal aborts it when `timeout` milliseconds have passed since it began or
 * since it last called `moved`.
 */
async function within<T>(timeout: number, work: (signal: AbortSignal, moved: () => void) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeout);
  try {
    return await work(abort.signal, () => void timer.refresh());
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a function that waits before the next attempt; false if there is none. */
export function createRequestTurns({ attempts, pause, total }: Patience): () => Promise<boolean> {
  const end = performance.now() + total;
  let attempt = 0;
  return async () => {
    // Full jitter, so that many writers do not come back at the same time.
    const wait = Math.random() * pause * 2 ** attempt;
    if (++attempt >= attempts || performance.now() + wait > end) return false;
    await sleep(wait);
    return true;
  };
}

/** Repeats idempotent work until it succeeds or a retry cannot help. */
async function repeating<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  const next = createRequestTurns(patience);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'absent' || failure === 'refused' || !(await next())) throw error;
    }
  }
}

/** See `createS3Objects`. */
export type S3Objects = ReturnType<typeof createS3Objects>;

/** Name of the metadata that holds the id of the call that wrote an object. */
const writer = 'stele-writer';

/**
 * Objects of an S3 bucket under a prefix, by any key. Errors are those of the Bucket port. `folder` is
 * empty or ends with a slash. The client must not retry by itself.
 */
export function createS3Objects(client: S3Client, bucket: string, folder: string, patience: Patience) {
  const at = (key: string) => ({ Bucket: bucket, Key: folder + key });

  /** Reads with retries; null if the key is absent. */
  async function read<T>(work: (signal: AbortSignal, moved: () => void) => Promise<T>): Promise<T | null> {
    try {
      return await repeating(patience, () => within(patience.timeout, work));
    } catch (error) {
      if (failureOf(error) === 'absent') return null;
      throw notReadable(error);
    }
  }

  /** Returns the id of the call that wrote the key; empty if it has none, null if the key is absent. */
  const writerOf = (key: string): Promise<string | null> =>
    read(async (abortSignal) => {
      const head = await client.send(new HeadObjectCommand(at(key)), { abortSignal }).catch((error: unknown) => {
        // An answer to HEAD has no body that could name the error.
        if ((error as Error).name === 'NotFound') return null;
        throw error;
      });
      return head === null ? null : (head.Metadata?.[writer] ?? '');
    });

  /** Reads back who wrote the key; null if nobody did yet. */
  async function outcomeOf(key: string, id: string): Promise<'created' | 'exists' | null> {
    const writtenBy = await writerOf(key).catch((cause: unknown) => {
      throw notConfirmed(cause);
    });
    if (writtenBy === null) return null;
    return writtenBy === id ? 'created' : 'exists';
  }

  return {
    writerOf,

    /** The bytes, or those of a range whose end is exclusive. */
    get: (key: string, range?: { start: number; end: number }): Promise<Buffer | null> =>
      read(async (abortSignal, moved) => {
        const asked = { ...at(key), ...(range && { Range: `bytes=${range.start}-${range.end - 1}` }) };
        const answer = await client.send(new GetObjectCommand(asked), { abortSignal }).catch((error: unknown) => {
          // RFC 9110, section 15.5.17: there is nothing at or after its start.
          if (range && (error as S3ServiceException).$metadata?.httpStatusCode === 416) return null;
          throw error;
        });
        if (answer === null) return Buffer.alloc(0);
        const { Body, ContentRange } = answer;
        const chunks: Uint8Array[] = [];
        for await (const chunk of addAbortSignal(abortSignal, Body as Readable)) {
          moved();
          chunks.push(chunk as Uint8Array);
        }
        const bytes = Buffer.concat(chunks);
        // A server may send everything (RFC 9110, section 14.2).
        return range && ContentRange === undefined ? bytes.subarray(range.start, range.end) : bytes;
      }),

    /** Writes the bytes unless the key exists. `id` names this call and is stored with the object. */
    async put(key: string, bytes: Uint8Array, id: string): Promise<'created' | 'exists'> {
      const request = {
        ...at(key),
        Body: bytes,
        IfNoneMatch: '*',
        ChecksumSHA256: createHash('sha256').update(bytes).digest('base64'),
        Metadata: { [writer]: id },
      };
      const timeout = patience.timeout + bytes.byteLength / 1000;
      const next = createRequestTurns(patience);
      let doubt: unknown;
      for (;;) {
        try {
          await within(timeout, (abortSignal) => client.send(new PutObjectCommand(request), { abortSignal }));
          return 'created';
        } catch (error) {
          const failure = failureOf(error);
          if (failure === 'doubt') doubt ??= error;
          // Also after the first attempt: a proxy may have sent it twice, so that it lost to itself.
          const outcome = failure === 'taken' ? await outcomeOf(key, id) : null;
          if (outcome !== null) return outcome;
          if (failure === 'refused' || failure === 'absent' || !(await next())) {
            if (doubt === undefined) throw notWritten(error);
            const last = await outcomeOf(key, id);
            if (last !== null) return last;
            throw notConfirmed(doubt);
          }
        }
      }
    },

    /** Returns up to `limit` keys with the prefix that follow `after`, in the order of their bytes. */
    async list(prefix: string, after: string, limit: number): Promise<string[]> {
      const keys: string[] = [];
      let token: string | undefined;
      do {
        const page = await read((abortSignal) =>
          client.send(
            new ListObjectsV2Command({
              Bucket: bucket,
              Prefix: folder + prefix,
              MaxKeys: Math.min(limit - keys.length, 1000),
              ...(token !== undefined ? { ContinuationToken: token } : after !== '' && { StartAfter: folder + after }),
            }),
            { abortSignal },
          ),
        );
        for (const { Key } of page?.Contents ?? []) keys.push(Key!.slice(folder.length));
        token = page?.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined && keys.length < limit);
      return keys;
    },

    async delete(key: string): Promise<void> {
      await repeating(patience, () =>
        within(patience.timeout, (abortSignal) => client.send(new DeleteObjectCommand(at(key)), { abortSignal })),
      ).catch((error: unknown) => {
        if (failureOf(error) === 'absent') return;
        throw failureOf(error) === 'doubt' ? notConfirmed(error) : notWritten(error);
      });
    },
  };
}
