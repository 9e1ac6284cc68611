import type { Detected } from '../compile/repository-reader.ts';
import type { Repository } from '../model/connection.ts';
import type { Problem } from '../model/problem.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Registry } from '../registry/registry.ts';

/** A document that was found in a repository. */
export type DetectedDocument = Pick<Detected, 'path' | 'type' | 'title'> & Partial<Pick<Detected, 'version'>>;

const batchBytes = 32 * 1024 * 1024;
const batchFiles = 500;

/**
 * Finds the files that are documents by their content, in batches of bounded size. `unread`: files
 * that cannot be read.
 */
export async function detectDocuments(
  registry: Registry,
  { org }: Repository,
  snapshot: Snapshot,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ detected: Detected[]; unread: Problem[] }> {
  const unread: Problem[] = [];
  const detected: Detected[] = [];
  let batch: { path: string; bytes: Uint8Array }[] = [];
  let size = 0;
  const flush = async () => {
    if (batch.length > 0)
      detected.push(...(await registry.compiler.detect(batch, registry.config.limits, { org, signal })));
    batch = [];
    size = 0;
  };
  for (let start = 0; start < paths.length; start += batchFiles) {
    signal?.throwIfAborted();
    for (const file of await snapshot.read(paths.slice(start, start + batchFiles))) {
      if (!file.found) {
        unread.push(file.problem);
        continue;
      }
      batch.push({ path: file.path, bytes: file.bytes });
      size += file.bytes.byteLength;
      if (size > batchBytes) await flush();
    }
  }
  await flush();
  return { detected, unread };
}
