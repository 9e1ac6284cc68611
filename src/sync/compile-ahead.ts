import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import type { Snapshot } from '../source/snapshot.ts';
import { publishPast, type ImportWork, type Past, type PublishedPast } from './import/import-past.ts';
import { type Compiled, type Compiler, hasDied } from '../compile/compile.ts';

/** A document of a tag, ready to be read. */
export interface OpenPast extends Past {
  tag: { name: string; label: string };
  snapshot: Snapshot;
  /** The files of the commit: blob ids by path. */
  files: ReadonlyMap<string, string>;
}

/** Compiles these documents in order, some ahead of their publication, and fetches their files in few requests. */
export function compileAhead(
  work: ImportWork,
  pasts: readonly OpenPast[],
  likely: readonly string[],
): { publish(index: number): Promise<PublishedPast>; end(): Promise<void> } {
  const { registry, remote, signal } = work;
  const places = availableParallelism();
  const compilerFor = rememberCompiled(registry.compiler, 2 * places + 1);
  const queue = new PQueue({ concurrency: places });
  const paths = new Set([...likely, ...pasts.map(({ path }) => path)]);
  const compiling: Promise<void>[] = [];
  const lastOf = new Map<string, Promise<void>>();
  let bringing: Promise<void> | null = null;
  let isOver = false;

  function publishOne(past: OpenPast, dryRun: boolean): Promise<PublishedPast> {
    const compiler = compilerFor(past.snapshot);
    return publishPast({ ...work, registry: { ...registry, compiler } }, past, past.snapshot, { dryRun });
  }

  /** Fetches the known paths of all documents from here on. What fails is fetched, and reported, when it is read. */
  async function bring(from: number): Promise<void> {
    const rest = pasts.slice(from);
    const blobs = new Set(rest.flatMap(({ files }) => [...paths].flatMap((path) => files.get(path) ?? [])));
    if (blobs.size === 0) return;
    await registry.source.bringBlobs(remote, rest[0]!.commit, [...blobs], signal).catch(() => undefined);
  }

  /** Notes which files a document needed. Fetches those of the documents that follow. */
  function learn(index: number, read: readonly string[]): void {
    const fresh = read.filter((path) => !paths.has(path));
    for (const path of fresh) paths.add(path);
    const isNeeded = pasts.slice(index + 1).some(({ files }) => fresh.some((path) => files.has(path)));
    if (isNeeded) bringing = Promise.all([bringing, bring(index + 1)]).then(() => undefined);
  }

  async function compile(index: number): Promise<void> {
    if (isOver) return;
    bringing ??= bring(0);
    await bringing;
    const { read } = await publishOne(pasts[index]!, true);
    learn(index, read ?? []);
  }

  function start(index: number): Promise<void> {
    const { path, files } = pasts[index]!;
    const blob = files.get(path)!;
    // Waits for an equal document, whose result it may share. An error here occurs again, and is
    // reported, when the document is published.
    const started = Promise.resolve(lastOf.get(blob))
      .then(() => queue.add(() => compile(index)))
      .catch(() => undefined);
    lastOf.set(blob, started);
    return started;
  }

  return {
    async publish(index) {
      while (compiling.length < Math.min(pasts.length, index + 2 * places)) compiling.push(start(compiling.length));
      await compiling[index];
      return publishOne(pasts[index]!, false);
    },
    async end() {
      isOver = true;
      queue.clear();
      await queue.onIdle();
    },
  };
}

interface Remembered {
  /** The input, as text. */
  asked: string;
  compiled: Compiled;
}

/**
 * A compiler for each snapshot that does not compile the same twice: equal settings and equal blobs
 * of every file that was read give the same artifact and report. All of them share the `most` last
 * results.
 */
function rememberCompiled<C extends Compiler>(compiler: C, most: number): (snapshot: Snapshot) => C {
  const results: Remembered[] = [];
  return (snapshot) => ({
    ...compiler,
    async compile(input, load, turn) {
      const asked = JSON.stringify({ ...input, ruleset: input.ruleset?.digest ?? null });
      const ids = new Map((await snapshot.entries()).map(({ path, id }) => [path, id]));
      const isSame = ({ path, blob }: Compiled['files'][number]) => (ids.get(path) ?? null) === blob;
      const match = results.find((result) => result.asked === asked && result.compiled.files.every(isSame));
      if (match !== undefined) return match.compiled;
      const compiled = await compiler.compile(input, load, turn);
      if (!hasDied(compiled.report)) results.unshift({ asked, compiled });
      results.splice(most);
      return compiled;
    },
  });
}
