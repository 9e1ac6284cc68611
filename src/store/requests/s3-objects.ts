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
import { createTurns, repeating, within, type Patience } from './attempts.ts';
import { failureOf, notConfirmed, notReadable, notWritten } from './s3-errors.ts';

/** Objects of an S3 bucket under a prefix, by any key. Errors are those of the Bucket port. */
export interface S3Objects {
  /** The bytes, or those of a range whose end is exclusive. */
  get(key: string, range?: { start: number; end: number }): Promise<Buffer | null>;
  /** Writes the bytes unless the key exists. `id` names this call and is stored with the object. */
  put(key: string, bytes: Uint8Array, id: string): Promise<'created' | 'exists'>;
  /** Returns the id of the call that wrote the key; empty if it has none, null if the key is absent. */
  writerOf(key: string): Promise<string | null>;
  /** Returns up to `limit` keys with the prefix that follow `after`, in the order of their bytes. */
  list(prefix: string, after: string, limit: number): Promise<string[]>;
  delete(key: string): Promise<void>;
}

/** Name of the metadata that holds the id of the call that wrote an object. */
const writer = 'stele-writer';

/** Opens the objects of a bucket. `folder` is empty or ends with a slash. The client must not retry by itself. */
export function createS3Objects(client: S3Client, bucket: string, folder: string, patience: Patience): S3Objects {
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

    get: (key, range) =>
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

    async put(key, bytes, id) {
      const request = {
        ...at(key),
        Body: bytes,
        IfNoneMatch: '*',
        ChecksumSHA256: createHash('sha256').update(bytes).digest('base64'),
        Metadata: { [writer]: id },
      };
      const timeout = patience.timeout + bytes.byteLength / 1000;
      const next = createTurns(patience);
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

    async list(prefix, after, limit) {
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

    async delete(key) {
      await repeating(patience, () =>
        within(patience.timeout, (abortSignal) => client.send(new DeleteObjectCommand(at(key)), { abortSignal })),
      ).catch((error: unknown) => {
        if (failureOf(error) === 'absent') return;
        throw failureOf(error) === 'doubt' ? notConfirmed(error) : notWritten(error);
      });
    },
  };
}
