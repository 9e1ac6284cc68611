import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsBucket } from '../../src/store/fs.ts';
import { createMemoryBucket } from '../memory-store.ts';
import type { OpenedBucket } from '../contract/bucket.ts';

/** A folder that is gone when its user is done. */
export async function openFolder(): Promise<{ folder: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'stele-test-'));
  return { folder, close: () => rm(folder, { recursive: true, force: true }) };
}

/** Every bucket that needs no service, by name. */
export const localBuckets: readonly { name: string; open(): Promise<OpenedBucket> }[] = [
  { name: 'memory', open: async () => ({ bucket: createMemoryBucket(), close: async () => {} }) },
  {
    name: 'a folder',
    async open() {
      const { folder, close } = await openFolder();
      return { bucket: await openFsBucket(join(folder, 'data')), close };
    },
  },
];
