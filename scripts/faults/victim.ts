/**
 * A registry that `kills.ts` kills: the management API over a store in a folder. It says where it listens, does one job beside its requests, says
 * when that is done, and works until it is killed.
 */
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { backup, restore } from '../../src/registry/maintenance/backup.ts';
import { collectGarbage } from '../../src/registry/maintenance/gc.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { openServer } from '../../src/open-server.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { follow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { createWorld, type FakeSource } from '../../test/registry/world.ts';
import { createTestRegistry } from '../../test/server/registry.ts';
import { watchFiles } from '../../test/store/watched-files.ts';
import { folders, type Job, type Orders, type Told } from './victim-orders.ts';

// So high that nobody meets it.
const rateLimit = { key: 1e9, address: 1e9, failures: 1e9 };
const root = process.argv[2]!;
const files = watchFiles(root);
const openBucket = (folder: string) => openFsBucket(join(root, folder), { files });
const repository = {
  url: 'https://git.test/acme/sync.git',
  branch: null,
  credential: null,
  discover: '',
  visibility: 'public',
  validation: 'lenient',
} as const;

function say(told: Told): void {
  process.send!(told);
}

async function openRegistry(): Promise<Registry & { source: FakeSource }> {
  const bucket = await openBucket(folders.store);
  const plain = createTestRegistry({ url: 'http://registry.test', rateLimit });
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain) });
  const { source, compiler } = createWorld({}, bucket);
  // Uploads and repositories are compiled by the same one: it reads JSON as YAML.
  return { ...plain, bucket, objects: createObjects(bucket), refs, source, compiler };
}

const registry = await openRegistry();
const queue = createSyncQueue(registry, createPulls);

/** Pushes one commit for each round until now, the same as earlier victims did, and syncs the last. */
async function sync(round: number): Promise<void> {
  for (let n = 0; n <= round; n++) {
    const text = JSON.stringify({ openapi: '3.1.0', info: { title: 'Sync', version: `1.${n}.0` } });
    registry.source.push(repository.url, { 'sync.yaml': text });
  }
  const id = await follow(registry, 'acme', repository);
  const { state, detail } = await (await queue.request('acme', id, 'manual')).done;
  if (state !== 'succeeded') throw new Error(`The sync ${state}: ${detail}`);
}

const jobs: Record<Job, (round: number) => Promise<unknown>> = {
  publish: async () => undefined,
  sync,
  gc: async () => {
    for (;;) await collectGarbage(registry, { grace: 200, quarantine: 2000 });
  },
  backup: async () => backup(registry, await openBucket(folders.backup)),
  restore: async () => restore(await openBucket(folders.backup), await openBucket(folders.restored), []),
};

process.on('message', ({ dieAfter, job, round }: Orders) => {
  let left = dieAfter;
  files.plan = () => {
    if (--left === 0) process.kill(process.pid, 'SIGKILL');
    return null;
  };
  jobs[job](round).then(
    () => say({ done: true }),
    (error: unknown) => say({ failed: String(error) }),
  );
});

const { url } = await openServer(registry, queue, { host: '127.0.0.1', port: 0 });
// Compiled code is kept for the next victim.
flushCompileCache();
say({ url });
