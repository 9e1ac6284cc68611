import { randomUUID } from 'node:crypto';
import { isRegistryError, type RegistryError, unavailable } from '../model/errors.ts';
import { type S3Objects, usualPatience, type Patience, createS3Objects, notReadable } from './s3-objects.ts';
import { S3Client } from '@aws-sdk/client-s3';
import { noProxies, proxyFor, type Proxies } from '../model/proxy.ts';
import { assertKey, isKey, type Bucket } from './bucket.ts';

const writers = 32;
const rounds = 3;

/**
 * Looks whether the store keeps the promises that S3 makes: of 32 writers that race for one key,
 * exactly one wins, its bytes and its metadata are there, and the next list has the key. Returns
 * what was seen instead; null: it keeps them. Rejects with `unavailable` if it cannot be written.
 */
async function probe(objects: S3Objects): Promise<string | null> {
  const folder = `.probe/${randomUUID()}/`;
  for (let round = 1; round <= rounds; round++) {
    const seen = await race(objects, `${folder}${round}`).catch((error: unknown) => {
      throw isRegistryError(error, 'outcome_unknown') ? notReadable(error.cause) : error;
    });
    if (seen !== null) return seen;
  }
  return null;
}

async function race(objects: S3Objects, key: string): Promise<string | null> {
  const ids = Array.from({ length: writers }, () => randomUUID());
  try {
    const answers = await Promise.all(ids.map((id) => objects.put(key, Buffer.from(id), id)));
    const winners = ids.filter((_, index) => answers[index] === 'created');
    if (winners.length !== 1)
      return `of ${writers} writers of one new key, ${winners.length} were told that they created it`;
    const [winner] = winners;
    const stored = await objects.get(key);
    if (stored?.toString() !== winner) return 'the bytes of another writer than the winner were stored';
    if ((await objects.writerOf(key)) !== winner) return 'it does not keep the metadata of an object';
    return (await objects.list(key, '', 1)).includes(key) ? null : 'a list does not have the key that was just written';
  } finally {
    await objects.delete(key).catch(() => undefined);
  }
}

/** Makes sure that the store still refuses to write a key that is there: its settings may change while Stele runs. */
async function assertRefused(objects: S3Objects, key: string): Promise<void> {
  const id = randomUUID();
  if ((await objects.put(key, Buffer.from(id), id)) === 'exists') return;
  await objects.delete(key).catch(() => undefined);
  throw lie('it wrote a key that was there already');
}

function lie(detail: string): RegistryError {
  const message = `This S3 store cannot be used: ${detail}. Stele needs writes with If-None-Match (a conditional PUT) that hold for all writers. Use a store that has them, such as Amazon S3, Ceph or MinIO.`;
  return unavailable(message);
}

/** Where an S3 bucket is. */
export interface S3Settings {
  bucket: string;
  /** Key prefix of everything that Stele writes, without a slash at the end; empty for none. */
  prefix: string;
  /** URL of the service; null for Amazon S3. */
  endpoint: string | null;
  /** Null: that of the environment, or `us-east-1` if there is an endpoint. */
  region: string | null;
  /** Whether the bucket stands in the path of the URL and not in the name of its host. */
  pathStyle: boolean;
  /** Null: the SDK finds them (environment, files, roles of the machine). */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** Default: none. */
  proxies?: Proxies;
}

/**
 * Opens a bucket on S3 or a service like it, and probes it (design §5). Rejects with `unavailable`
 * if it does not answer or does not hold what S3 promises. A store that can be read but not written can be
 * served and copied: each write probes it first, until a probe succeeds. Tests replace the patience.
 */
export async function openS3Bucket(settings: S3Settings, patience: Patience = usualPatience): Promise<Bucket> {
  const objects = await openObjects(settings, patience);
  const bucket = createS3Bucket(objects);
  /** Why the store could not be probed; null once it was. */
  let refusal: unknown = null;
  const prove = async (): Promise<void> => {
    let failure: unknown = null;
    const seen = await probe(objects).catch((error: unknown) => {
      failure = error;
      return null;
    });
    if (seen !== null) throw lie(seen);
    refusal = failure;
  };
  await prove();
  if (refusal === null) return bucket;
  if ((await objects.get('format').catch(() => null)) === null) throw refusal;
  let proving: Promise<void> | null = null;
  const assertWritable = async (): Promise<void> => {
    if (refusal !== null) await (proving ??= prove().finally(() => void (proving = null)));
    if (refusal !== null) throw refusal;
  };
  return {
    ...bucket,
    putIfAbsent: async (key, bytes) => assertWritable().then(() => bucket.putIfAbsent(key, bytes)),
    check: async () => assertWritable().then(() => bucket.check()),
  };
}

/** Where Amazon's buckets are, for `NO_PROXY`. */
const amazon = 'https://amazonaws.com';

/** Opens the objects of a bucket without a probe. */
export async function openObjects(settings: S3Settings, patience: Patience = usualPatience): Promise<S3Objects> {
  const { bucket, prefix, endpoint, region, pathStyle, credentials, proxies = noProxies } = settings;
  const proxy = proxyFor(endpoint ?? amazon, proxies);
  const proxyEnv = proxy === null ? {} : { http_proxy: proxy, https_proxy: proxy };
  const agent = { keepAlive: true, maxSockets: 128, proxyEnv };
  const client = new S3Client({
    ...(endpoint !== null && { endpoint, region: 'us-east-1' }),
    ...(region !== null && { region }),
    ...(credentials !== null && { credentials }),
    forcePathStyle: pathStyle,
    // Only our own loop knows which attempt may have been applied.
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 3000, httpAgent: agent, httpsAgent: agent },
  });
  await client.config.region().catch((cause: unknown) => {
    throw unavailable('The store has no region. Set store.region, or AWS_REGION.', { cause });
  });
  return createS3Objects(client, bucket, prefix === '' ? '' : `${prefix}/`, patience);
}

/** Milliseconds for which a refused second write shows that the store still enforces `If-None-Match`. */
const enforcedFor = 60_000;

/** Creates a bucket of the keys that are valid in the port. Keys with a dot in front hold probes. */
export function createS3Bucket(objects: S3Objects, monotonic = (): number => performance.now()): Bucket {
  /** When the store refused a second write last. */
  let refusedAt = Number.NEGATIVE_INFINITY;

  return {
    async get(key) {
      assertKey(key);
      return objects.get(key);
    },

    async getPart(key, start, end) {
      assertKey(key);
      return objects.get(key, { start, end });
    },

    async putIfAbsent(key, bytes) {
      assertKey(key);
      return objects.put(key, bytes, randomUUID());
    },

    async list(prefix, { after = '', limit = 1000 } = {}) {
      const keys: string[] = [];
      // No key has other characters, and S3 may refuse some.
      if (!/^[A-Za-z0-9._+=@/-]*$/.test(prefix)) return keys;
      let from = after;
      while (keys.length < limit) {
        const wanted = limit - keys.length;
        const page = await objects.list(prefix, from, wanted);
        keys.push(...page.filter((key) => key > after && isKey(key)));
        if (page.length < wanted) break;
        from = page.at(-1)!;
      }
      return keys;
    },

    async delete(key) {
      assertKey(key);
      await objects.delete(key);
    },

    async check() {
      const id = randomUUID();
      const key = `.check/${id}`;
      try {
        await objects.put(key, Buffer.from(id), id);
        if (monotonic() - refusedAt >= enforcedFor) {
          await assertRefused(objects, key);
          refusedAt = monotonic();
        }
        if ((await objects.get(key))?.toString() !== id) throw new Error('The probe does not read back as written.');
        await objects.delete(key);
      } catch (error) {
        if (isRegistryError(error, 'unavailable')) throw error;
        throw unavailable('The store does not confirm writes.', { cause: error, retryAfter: 5 });
      }
    },
  };
}
