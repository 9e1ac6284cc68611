import { randomBytes } from 'node:crypto';
import type { UserConfig } from '../../../src/config.ts';
import { checkConfig } from '../../../src/config/load-config.ts';
import { parseCoordinate } from '../../../src/model/address.ts';
import type { CommitNote } from '../../../src/model/resource.ts';
import type { Visibility } from '../../../src/model/access.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import { publish } from '../../../src/registry/publish.ts';
import { createAnswerCache } from '../../../src/registry/answer-cache.ts';
import { newId, type Registry } from '../../../src/registry/registry.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../../src/server/listen.ts';
import { createMemoryCache, createMemoryBucket } from '../../memory-store.ts';
import { createObjects } from '../../../src/store/objects.ts';
import { createRefs } from '../../../src/store/refs.ts';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createWorld, snapshotOf } from '../../registry/world.ts';

/** A registry in memory with the real compiler, served. */
export interface OpenSite extends AsyncDisposable {
  url: string;
  registry: Registry;
  /** Publishes a text through the real verb; it must come to a version. */
  publish(coordinate: string, file: string, text: string, options?: PublishOptions): Promise<string>;
}

export interface PublishOptions {
  version?: string;
  visibility?: Visibility;
  repository?: string;
  commit?: string;
  note?: CommitNote;
  /** Other files of the commit. */
  files?: Record<string, string>;
}

export async function openSite(user: UserConfig = {}): Promise<OpenSite> {
  const compiler = shareCompiler();
  const now = () => new Date();
  const monotonic = () => performance.now();
  const random = (length: number) => new Uint8Array(randomBytes(length));
  const bucket = createMemoryBucket();
  const refs = createRefs(bucket, { now, monotonic, uniqueId: () => newId({ now, randomBytes: random }), maxAge: 0 });
  const registry: Registry = {
    ...createWorld().registry,
    config: checkConfig(user, { base: '/', data: '/nowhere' }),
    bucket,
    objects: createObjects(bucket),
    refs,
    answers: createAnswerCache(refs),
    cache: createMemoryCache(),
    compiler,
    now,
    monotonic,
    expiryTime: now,
    randomBytes: random,
    logKey: {
      read: () => 'the secret of the key of this public log',
      make: () => 'the secret of the key of this public log',
    },
  };
  let app: Parameters<typeof listen>[0] = (_request, response) => void response.writeHead(503).end();
  const listening = await listen((request, response) => app(request, response), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${listening.port}`;
  app = createApp({ registry, queue: createSyncQueue(registry, createPulls), url, isReady: () => true });
  return {
    url,
    registry,
    async publish(
      name,
      file,
      text,
      { version, visibility = 'public', repository = null, commit = null, note, files = {} } = {} as never,
    ) {
      const { coordinate } = parseCoordinate(name)!;
      const result = await publish(registry, {
        coordinate,
        snapshot: { ...snapshotOf(repository, commit, { ...files, [file]: text }), note: note ?? null },
        entry: file,
        version: version ?? null,
        onConflict: 'revise',
        latest: true,
        dryRun: false,
        create: { visibility, validation: 'lenient' },
        author: { actor: 'operator:test', origin: null },
      });
      if (result.outcome !== 'published')
        throw new Error(`${name} was not published: ${JSON.stringify(result, null, 1).slice(0, 2000)}`);
      return result.version.label;
    },
    async [Symbol.asyncDispose]() {
      await listening.close(1000);
    },
  };
}
