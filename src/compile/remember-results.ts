import { isUrlPath } from '../model/address.ts';
import { LRUCache } from 'lru-cache';
import { digestOf } from '../model/digest.ts';
import { isBlocking } from '../model/problem.ts';
import type { SnapshotFile } from '../source/snapshot.ts';
import type { CompileInput, Compiled, Load, Compiler } from './compile.ts';
import { mapBytes } from './sandbox/pieces.ts';

interface Remembered {
  read: readonly SnapshotFile[];
  compiled: Compiled;
}

/** Bytes of results that are kept: one of the largest documents, or thousands of usual ones. */
const maxBytes = 48 * 1024 * 1024;

/**
 * The compiler without the work that it did before: the same input from the same organization, with
 * the same bytes in every file that was read and the same problem with every file that could not
 * be, gives the same result. Files are compared byte for byte. Only accepted documents are
 * remembered: repeating a rejected one waits in the queue each time.
 */
export function rememberResults<C extends Compiler>(
  compiler: C,
  limit = maxBytes,
): C & { use: () => { bytes: number; limit: number } } {
  const results = new LRUCache<string, Remembered>({ maxSize: limit, sizeCalculation: sizeOf });
  return {
    ...compiler,
    use: () => ({ bytes: results.calculatedSize, limit }),
    async compile(input, load, turn) {
      const [entry] = await load([input.entry]);
      if (!entry?.found) return compiler.compile(input, load, turn);
      const key = keyOf(input, turn?.org ?? '', entry.bytes.byteLength);
      const remembered = results.get(key);
      const again = remembered && (await readAgain(remembered, entry, load));
      if (again) return withFiles(remembered.compiled, again);
      const read = new Map<string, SnapshotFile>([[entry.path, entry]]);
      const compiled = await compiler.compile(
        input,
        async (paths) => {
          const missing = paths.filter((path) => !read.has(path));
          if (missing.length > 0) for (const file of await load(missing)) read.set(file.path, file);
          return paths.map((path) => read.get(path)!);
        },
        turn,
      );
      if (!isBlocking(compiled.report)) results.set(key, withOwnBytes({ read: [...read.values()], compiled }));
      return compiled;
    },
  };
}

/** All but the bytes of files. Organizations learn nothing from how long others' documents take. */
function keyOf({ ruleset, ...input }: CompileInput, org: string, size: number): string {
  const extended = Object.entries(ruleset?.extended ?? {}).map(([name, { digest }]) => [name, digest]);
  return digestOf(JSON.stringify([org, size, input, ruleset && [ruleset.digest, ruleset.name, extended]]));
}

/** The files as they are now, if all are as they were; else null. */
async function readAgain(
  { read }: Remembered,
  entry: SnapshotFile & { found: true },
  load: Load,
): Promise<Map<string, SnapshotFile> | null> {
  const [first, ...others] = read;
  if (!isSame(first!, entry)) return null;
  const now = new Map<string, SnapshotFile>([[entry.path, entry]]);
  // Documents of the registry come last, since reading them records a dependency.
  for (const isOfRegistry of [false, true]) {
    const before = others.filter(({ path }) => isUrlPath(path) === isOfRegistry);
    const loaded = before.length === 0 ? [] : await load(before.map(({ path }) => path));
    if (!loaded.every((file, at) => isSame(before[at]!, file))) return null;
    for (const file of loaded) now.set(file.path, file);
  }
  return now;
}

function isSame(before: SnapshotFile, now: SnapshotFile): boolean {
  if (before.path !== now.path) return false;
  if (before.found && now.found) return Buffer.compare(before.bytes, now.bytes) === 0;
  return !before.found && !now.found && JSON.stringify(before.problem) === JSON.stringify(now.problem);
}

/** The result with the files as they were read now: an upload has no blobs, a commit has. */
function withFiles(compiled: Compiled, files: ReadonlyMap<string, SnapshotFile>): Compiled {
  const now = compiled.files.map((before) => {
    const file = files.get(before.path);
    return file?.found ? { ...before, blob: file.blob } : before;
  });
  return { ...compiled, files: now };
}

/**
 * The same with bytes that keep no others in memory: those of an artifact are parts of one message,
 * those of small files parts of a pool.
 */
function withOwnBytes(remembered: Remembered): Remembered {
  const copies = new Map<Uint8Array, Uint8Array>();
  const copyOf = (bytes: Uint8Array) =>
    copies.getOrInsertComputed(bytes, () => Buffer.from(new Uint8Array(bytes).buffer));
  return mapBytes(remembered, (bytes) => (bytes.byteLength === bytes.buffer.byteLength ? bytes : copyOf(bytes)));
}

function sizeOf({ read, compiled: { artifact, report } }: Remembered): number {
  const files = read.reduce((sum, file) => sum + (file.found ? file.bytes.byteLength : 200), 0);
  const total = artifact?.representations.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) ?? 0;
  return 1000 + files + total + report.problems.length * 500;
}
