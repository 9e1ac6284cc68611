/**
 * The management API in a process of its own, over a folder's store: `child.ts FOLDER [CALL]`. Says on which port it listens, and runs until it is
 * killed, or kills itself before the file call of that number after it said so.
 */
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

const [folder, last] = process.argv.slice(2);
const files = watchFiles(folder!);
const bucket = await openFsBucket(folder!, { files });
const plain = createTestRegistry(unlimited);
const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain) });
const registry = { ...plain, bucket, objects: createObjects(bucket), refs };
const server = await openServer(registry, createSyncQueue(registry, createPulls), { host: '127.0.0.1', port: 0 });
process.send!(server.url);
if (last !== undefined) {
  const end = files.calls.length + Number(last);
  files.plan = ({ number }) => (number >= end && process.kill(process.pid, 'SIGKILL') ? null : null);
}
