/** The management API in a process of its own, over a folder's store: `child.ts FOLDER`. Says where it listens, and runs until it is killed. */
import { openFsBucket } from '../../../src/store/fs.ts';
import { createObjects } from '../../../src/store/objects.ts';
import { createRefs } from '../../../src/store/refs.ts';
import { newId } from '../../../src/registry/registry.ts';
import { createPulls } from '../../../src/pulls/pulls.ts';
import { createSyncQueue } from '../../../src/sync/queue.ts';
import { openServer } from '../../../src/server/server.ts';
import { watchFiles } from '../../store/watched-files.ts';
import { createTestRegistry } from '../registry.ts';
import { unlimited } from './api.ts';

/** What it may be told: to kill or stop itself before a file call, counted from then, and to set its clock. */
interface Orders {
  dieAfter?: number;
  stopAfter?: number;
  /** Milliseconds. */
  clock?: number;
}

const [folder] = process.argv.slice(2);
let offset = 0;
const files = watchFiles(folder!);
const bucket = await openFsBucket(folder!, { files });
const plain = { ...createTestRegistry(unlimited), now: () => new Date(Date.now() + offset) };
const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain) });
const registry = { ...plain, bucket, objects: createObjects(bucket), refs };
const server = await openServer(registry, createSyncQueue(registry, createPulls), { host: '127.0.0.1', port: 0 });
process.send!(server.url);
process.on('message', ({ dieAfter, stopAfter, clock }: Orders) => {
  if (clock !== undefined) offset += clock;
  if (dieAfter !== undefined) signalAt(files.calls.length + dieAfter, 'SIGKILL');
  if (stopAfter !== undefined) signalAt(files.calls.length + stopAfter, 'SIGSTOP');
});

function signalAt(end: number, signal: 'SIGKILL' | 'SIGSTOP'): void {
  files.plan = ({ number }) => {
    if (number === end) process.kill(process.pid, signal);
    return null;
  };
}
