/** The management API in a process of its own, over each store: `child.ts STORE…`, each a folder, or the settings of a bucket on S3 as JSON. Says where each listens, and runs until it is killed. */
import type { Bucket } from '../../../src/store/bucket.ts';
import { openFsBucket } from '../../../src/store/fs.ts';
import { createObjects } from '../../../src/store/objects.ts';
import { createRefs } from '../../../src/store/refs.ts';
import type { S3Settings } from '../../../src/store/s3.ts';
import { newId } from '../../../src/registry/registry.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import { openServer } from '../../../src/open-server.ts';
import { watchFiles, type WatchedFiles } from '../../store/watched-files.ts';
import { createTestRegistry } from '../registry.ts';
import { unlimited } from './api.ts';

/** What it may be told: to kill or stop itself before a file call, counted from then over all stores, and to set its clock. */
interface Orders {
  dieAfter?: number;
  stopAfter?: number;
  /** Milliseconds. */
  clock?: number;
}

let offset = 0;
/** What each store in a folder did to its files. */
const watched: WatchedFiles[] = [];

async function openBucket(store: string): Promise<Bucket> {
  if (store.startsWith('{')) {
    const { openS3Bucket } = await import('../../../src/store/s3.ts');
    return openS3Bucket(JSON.parse(store) as S3Settings);
  }
  const files = watchFiles(store);
  watched.push(files);
  return openFsBucket(store, { files });
}

async function open(store: string): Promise<string> {
  const bucket = await openBucket(store);
  const plain = { ...createTestRegistry(unlimited), now: () => new Date(Date.now() + offset) };
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain) });
  const registry = { ...plain, bucket, objects: createObjects(bucket), refs };
  const server = await openServer(registry, createSyncQueue(registry, createPulls), { host: '127.0.0.1', port: 0 });
  return server.url;
}

process.send!(await Promise.all(process.argv.slice(2).map(open)));
process.on('message', ({ dieAfter, stopAfter, clock }: Orders) => {
  if (clock !== undefined) offset += clock;
  if (dieAfter !== undefined) signalAfter(dieAfter, 'SIGKILL');
  if (stopAfter !== undefined) signalAfter(stopAfter, 'SIGSTOP');
});

function signalAfter(calls: number, signal: 'SIGKILL' | 'SIGSTOP'): void {
  let left = calls;
  for (const files of watched) {
    files.plan = () => {
      if (--left === 0) process.kill(process.pid, signal);
      return null;
    };
  }
}
