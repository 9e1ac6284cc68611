import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { objectId } from './blob.ts';
import { runGit } from '../command.ts';
import { startObjectProcess, type ObjectProcess } from './object-process.ts';
import { createBareRepository } from '../scratch.ts';

/** The type and size of an object. */
export interface ObjectInfo {
  type: string;
  size: number;
}

/** A bare repository to read. Missing objects are not fetched. */
export interface ReadOptions {
  folder: string;
  searchPath: string;
  signal: AbortSignal;
}

/** Reads the objects of bare repositories that consist of packs. */
export interface Objects {
  /** Those of these objects that the repository has, by id. `isFresh`: asks a new process of git. */
  look(ids: readonly string[], options: ReadOptions, isFresh?: boolean): Promise<Map<string, ObjectInfo>>;
  /** The contents of these objects, by id. All must be in the repository, and none larger. */
  read(ids: readonly string[], options: ReadOptions, maxBytes?: number): Promise<Map<string, Buffer>>;
}

/** Processes that read repositories at the same time, or did within the last second. */
const maxProcesses = 16;
/** The most bytes of one object, unless a reader allows less. */
const maxObjectBytes = 256 * 2 ** 20;
/** Bytes of the objects that are remembered, and of the largest of them. */
const maxContents = 16 * 2 ** 20;
const maxContent = 2 * 2 ** 20;

/**
 * Reads objects by one process of git for each repository, which stays for as long as it is asked.
 * Remembers what it read: a sync reads a commit three times, each document to detect it and to
 * compile it, and most trees are those of the commit before.
 */
export function createObjects(): Objects {
  const processes = new LRUCache<string, { process: ObjectProcess; packs: ReadonlySet<string> }>({
    max: maxProcesses,
    dispose: ({ process }) => process.end(),
  });
  const contents = new LRUCache<string, Buffer>({
    maxSize: maxContents,
    maxEntrySize: maxContent,
    sizeCalculation: (bytes) => bytes.byteLength + 200,
  });

  /** The process for a repository. One that may still hold packs which were deleted is replaced. */
  async function processFor({ folder, searchPath }: ReadOptions, isFresh: boolean): Promise<ObjectProcess> {
    const packs = new Set(await readdir(join(folder, 'objects', 'pack')).catch(() => []));
    const running = processes.get(folder);
    if (running && !isFresh && running.packs.isSubsetOf(packs)) {
      running.packs = packs;
      return running.process;
    }
    await createBareRepository(folder);
    processes.delete(folder);
    const process = startObjectProcess({ folder, searchPath }, () => {
      if (processes.peek(folder)?.process === process) processes.delete(folder);
    });
    processes.set(folder, { process, packs });
    return process;
  }

  return {
    async look(ids, options, isFresh = false) {
      const process = await processFor(options, isFresh);
      const { signal } = options;
      const objects = await process.ask({ ids: [...new Set(ids)], wants: 'info', maxBytes: 0, signal });
      return new Map(objects.map(({ id, type, size }) => [id, { type, size }]));
    },
    async read(ids, options, maxBytes = maxObjectBytes) {
      const keyOf = (id: string) => `${options.folder} ${id}`;
      const byId = new Map(ids.map((id) => [id, contents.get(keyOf(id))]));
      const absent = [...byId].flatMap(([id, bytes]) => (bytes === undefined ? [id] : []));
      const question = { ids: absent, wants: 'contents', maxBytes, signal: options.signal } as const;
      const objects = absent.length === 0 ? [] : await (await processFor(options, false)).ask(question);
      for (const { id, type, bytes } of objects) {
        if (objectId(type, bytes!) !== id) throw new Error(`Object ${id} is damaged.`);
        byId.set(id, bytes!);
        if (bytes!.byteLength > maxContent) continue;
        // Copies the bytes: otherwise one object would keep git's whole output, or Node's 64 KB pool, in memory.
        const copy = Buffer.allocUnsafeSlow(bytes!.byteLength);
        copy.set(bytes!);
        contents.set(keyOf(id), copy);
      }
      const all = [...byId].map(([id, bytes]) => {
        if (bytes === undefined) throw new Error(`The mirror lost object ${id}.`);
        return [id, bytes] as const;
      });
      return new Map(all);
    },
  };
}

/** The contents of these objects. All must be in the repository, which need not consist of packs. */
export async function readObjects(
  ids: readonly string[],
  { signal, ...at }: ReadOptions,
): Promise<Map<string, Buffer>> {
  const process = startObjectProcess(at, () => undefined);
  try {
    const objects = await process.ask({ ids, wants: 'contents', maxBytes: maxObjectBytes, signal });
    if (objects.length < ids.length) throw new Error('The repository lost an object.');
    return new Map(objects.map(({ id, bytes }) => [id, bytes!]));
  } finally {
    process.end();
  }
}

/** Whether a commit is in the repository. */
export async function hasCommit(commit: string, { folder, searchPath, signal }: ReadOptions): Promise<boolean> {
  const args = ['cat-file', '-e', `${commit}^{commit}`];
  return (await runGit({ args, folder, protocols: 'none', searchPath, signal })).ok;
}
