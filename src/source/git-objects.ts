import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { runGit } from './command.ts';

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

/** Every object in a repository, by id. `isFresh`: not from memory. */
export type ListObjects = (options: ReadOptions, isFresh?: boolean) => Promise<ReadonlyMap<string, ObjectInfo>>;

/** The most objects that remembered lists have together: some 16 MB. */
const mostRemembered = 100_000;

/**
 * Lists the objects of repositories that consist of packs. Remembers the lists: git is asked again
 * when a repository has other packs, whose names say what is in them.
 */
export function createObjectLists(): ListObjects {
  const lists = new LRUCache<string, { packs: string; objects: ReadonlyMap<string, ObjectInfo> }>({
    maxSize: mostRemembered,
    sizeCalculation: ({ objects }) => objects.size + 1,
  });
  return async (options, isFresh = false) => {
    const before = await packsIn(options.folder);
    const known = isFresh ? undefined : lists.get(options.folder);
    if (known?.packs === before.names) return known.objects;
    const objects = await listObjects(options);
    const after = await packsIn(options.folder);
    // A list made while another process deleted the packs may lack some.
    if (after.changedAt === before.changedAt) lists.set(options.folder, { packs: before.names, objects });
    return objects;
  };
}

/** The names of a repository's packs and their indexes, and when one was last added or removed. */
async function packsIn(folder: string): Promise<{ names: string; changedAt: bigint }> {
  const packs = join(folder, 'objects', 'pack');
  const { ctimeNs } = await stat(packs, { bigint: true });
  const names = (await readdir(packs)).filter((name) => /\.(?:idx|pack)$/.test(name));
  return { names: names.sort().join(), changedAt: ctimeNs };
}

async function listObjects(options: ReadOptions): Promise<Map<string, ObjectInfo>> {
  return parseObjects(await cat(['--batch-check', '--batch-all-objects', '--unordered'], options));
}

/** The contents of these objects, by id. All must be in the repository. */
export type ReadObjects = (ids: readonly string[], options: ReadOptions) => Promise<Map<string, Buffer>>;

/** Bytes of the objects that are remembered, and of the largest of them. */
const mostContents = 16 * 2 ** 20;
const mostContent = 2 * 2 ** 20;

/**
 * Reads objects, and remembers them for each repository: a sync reads a commit three times, and
 * each document to detect it and to compile it.
 */
export function createObjectReader(): ReadObjects {
  const contents = new LRUCache<string, Buffer>({
    maxSize: mostContents,
    maxEntrySize: mostContent,
    sizeCalculation: (bytes) => bytes.byteLength + 200,
  });
  return async (ids, options) => {
    const keyOf = (id: string) => `${options.folder} ${id}`;
    const known = new Map(ids.map((id) => [id, contents.get(keyOf(id))]));
    const absent = ids.filter((id) => known.get(id) === undefined);
    const read = absent.length === 0 ? new Map<string, Buffer>() : await readObjects(absent, options);
    for (const [id, bytes] of read) {
      if (bytes.byteLength > mostContent) continue;
      // A copy of its own: what git printed is one buffer for all objects, and Node's pool has 64 KB.
      const own = Buffer.allocUnsafeSlow(bytes.byteLength);
      own.set(bytes);
      contents.set(keyOf(id), own);
    }
    return new Map(ids.map((id) => [id, known.get(id) ?? read.get(id)!]));
  };
}

/** The contents of these objects. All must be in the repository. */
export async function readObjects(ids: readonly string[], options: ReadOptions): Promise<Map<string, Buffer>> {
  return parseBatch(await cat(['--batch'], options, ids.map((id) => `${id}\n`).join('')));
}

/** Whether a commit is in the repository. */
export async function hasCommit(commit: string, { folder, searchPath, signal }: ReadOptions): Promise<boolean> {
  const args = ['cat-file', '-e', `${commit}^{commit}`];
  return (await runGit({ args, folder, protocols: 'none', searchPath, signal })).ok;
}

async function cat(
  args: readonly string[],
  { folder, searchPath, signal }: ReadOptions,
  input?: string,
): Promise<Buffer> {
  const command = { args: ['cat-file', ...args], folder, protocols: 'none', searchPath, signal };
  const { ok, stdout, stderr } = await runGit(input === undefined ? command : { ...command, input });
  if (!ok) throw new Error(`git cat-file failed: ${stderr}`);
  return stdout;
}

/** Parses the output of `git cat-file --batch-check`: lines of `<id> <type> <size>`. */
function parseObjects(output: Buffer): Map<string, ObjectInfo> {
  const found = new Map<string, ObjectInfo>();
  for (const line of output.toString('latin1').split('\n')) {
    const [id, type, size] = line.split(' ');
    if (id && type && size) found.set(id, { type, size: Number(size) });
  }
  return found;
}

/**
 * Parses the output of `git cat-file --batch`: `<id> <type> <size>`, a newline, the content, a
 * newline.
 */
function parseBatch(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let position = 0; position < output.length;) {
    const end = output.indexOf(10, position);
    const [id = '', , size] = output.toString('latin1', position, end).split(' ');
    if (size === undefined) throw new Error(`The mirror lost object ${id}.`);
    const start = end + 1;
    position = start + Number(size) + 1;
    contents.set(id, output.subarray(start, position - 1));
  }
  return contents;
}
