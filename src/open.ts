import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { Config } from './config.ts';
import { allowedHosts } from './config/credential-config.ts';
import { hasExtraCertificates, readProxies, readSecret } from './config/environment.ts';
import type { Isolation } from './compile/sandbox/isolation.ts';
import { rememberResults } from './compile/remember-results.ts';
import { openLocalCompiler } from './compile/sandbox/local-compiler.ts';
import { createLog } from './log.ts';
import { openTracer, traceBucket, traceCompiler } from './trace.ts';
import { openSource } from './source/mirror.ts';
import { createExpiryClock } from './registry/keys/expiry-clock.ts';
import { createAnswerCache } from './registry/answer-cache.ts';
import { newId, type Log, type Registry } from './registry/registry.ts';
import { createHosts } from './hosts/hosts.ts';
import { openFolderCache } from './store/cache.ts';
import type { Bucket } from './store/bucket.ts';
import { openFsBucket } from './store/fs.ts';
import { assertOwn } from './store/files.ts';
import { createObjects } from './store/objects.ts';
import { createOwnKey } from './store/own-key.ts';
import { assertNeeds } from './registry/maintenance/needs.ts';
import { assertFormat } from './store/format.ts';
import type { S3Settings } from './store/s3.ts';
import { createRefs } from './store/refs.ts';

/** A registry that owns processes and open folders. Close it. */
export interface OpenRegistry extends Registry {
  /**
   * Returns how documents are isolated. Rejects with `unavailable` if the configured isolation does
   * not work here.
   */
  isolation(): Promise<Isolation>;
  /** Starts a sandbox before somebody waits for a page. Never rejects. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds between two notes of how far the logs reach. */
const headEvery = 5000;

/**
 * Opens the registry of a configuration. Only this file names backends and hosts. `hasSpare`: a sandbox
 * is started in advance and results are remembered, for a process that serves many requests.
 * `isForeground`: sandboxes do not give way to other processes, for a command that somebody waits for.
 */
export async function openRegistry(
  config: Config,
  log: Log = createLog(config.log),
  { hasSpare = false, isForeground = false } = {},
): Promise<OpenRegistry> {
  const now = () => new Date();
  const monotonic = () => performance.now();
  const random = (length: number) => new Uint8Array(randomBytes(length));
  const tracer = await openTracer(log);
  await assertOwn(config.cacheFolder);
  const stored = await openBucket(config.store);
  const bucket = tracer === null ? stored : traceBucket(tracer, stored);
  await assertFormat(bucket);
  const compiler = openLocalCompiler(config.sandbox, {
    hasSpare,
    isForeground,
    codeFolder: `${config.cacheFolder}/code`,
  });
  const source = openSource({
    folder: `${config.cacheFolder}/mirrors`,
    allowLocalRepositories: true,
    hosts: allowedHosts(config),
    knownHosts: config.sync.knownHosts,
    timeLimit: config.sync.timeLimit,
    sizeLimit: config.sync.sizeLimit,
    proxies: readProxies(),
    sharesCertificates: hasExtraCertificates(),
    limits: { fileBytes: config.limits.fileBytes, entries: config.limits.treeEntries },
  });
  const objects = createObjects(bucket);
  const refs = createRefs(bucket, {
    now,
    monotonic,
    uniqueId: () => newId({ now, randomBytes: random }),
    headEvery,
    failed: (error) => log('error', 'log not readable or not summarized', { error: inspect(error) }),
  });
  await assertNeeds({ refs }).catch(async (error: unknown) => {
    await Promise.all([refs.settle(), compiler.close(), tracer?.close()]);
    throw error;
  });
  const answers = createAnswerCache(refs);
  const traced = tracer === null ? compiler : traceCompiler(tracer, compiler);
  const remembering = hasSpare ? rememberResults(traced) : null;
  return {
    config,
    bucket,
    objects,
    refs,
    answers,
    cache: openFolderCache(`${config.cacheFolder}/derived`),
    source,
    hosts: createHosts(config),
    compiler: remembering ?? traced,
    ownKey: createOwnKey(config.dataFolder, '.secret-key'),
    logKey: createOwnKey(config.dataFolder, '.log-key'),
    now,
    monotonic,
    expiryTime: createExpiryClock({ now, monotonic, log, refs }),
    randomBytes: random,
    log,
    ...(tracer && { tracer }),
    caches: () => ({
      logs: refs.use(),
      objects: objects.use(),
      answers: answers.use(),
      ...(remembering && { results: remembering.use() }),
    }),
    isolation: () => compiler.isolation(),
    prepare: () => compiler.prepareForReaders(config.limits),
    async close() {
      await refs.settle();
      await compiler.close();
      await tracer?.close();
    },
  };
}

/** How the bucket of each service is opened. Loaded only when configured: an SDK is as large as the rest of Stele. */
const services: Readonly<Record<string, (settings: S3Settings) => Promise<Bucket>>> = {
  s3: async (settings) => (await import('./store/s3.ts')).openS3Bucket(settings),
};

/** Opens the bucket of a configuration, whatever is in it. */
export async function openBucket(store: Config['store']): Promise<Bucket> {
  if ('path' in store) return openFsBucket(store.path);
  const { credentials } = store;
  return services[store.kind]!({
    ...store,
    proxies: readProxies(),
    credentials: credentials && {
      accessKeyId: readSecret(credentials.accessKeyId),
      secretAccessKey: readSecret(credentials.secretAccessKey),
    },
  });
}
