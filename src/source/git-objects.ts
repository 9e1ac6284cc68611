import type { Socket } from 'node:net';
import { tooLarge } from '../model/errors.ts';
import { untilAborted } from '../scheduling/waiting.ts';
import { startGit, runGit } from './command.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { objectId } from './git-format.ts';
import { createBareRepository } from './scratch.ts';

/** An object as git describes it. `bytes`: only when its contents were asked for. */
export interface GitObject {
  id: string;
  type: string;
  size: number;
  bytes: Buffer | null;
}

/** What to ask git for. */
export interface ObjectQuestion {
  /** Hexadecimal ids. */
  ids: readonly string[];
  wants: 'info' | 'contents';
  /** Bytes that one object may have when its contents are asked for. */
  maxBytes: number;
  signal: AbortSignal;
}

/** Milliseconds without a question, after which git is ended. */
const idle = 1000;

/**
 * Starts a `git cat-file` that answers one question after the other of a bare repository. It finds
 * packs that are added later. It ends by itself when nothing is asked for a second, or when this
 * process ends. `onEnd` is called once, when it answers no more.
 */
function startObjectProcess(at: { folder: string; searchPath: string }, onEnd: () => void) {
  const child = startGit(['cat-file', '--batch-command', '--buffer'], { ...at, protocols: 'none' });
  const output = createReader(child.stdout);
  let stderr = '';
  let isOver = false;
  let timer: NodeJS.Timeout | null = null;
  /** Questions without an answer, and those of them that nobody waits for. */
  let open = 0;
  let abandoned = 0;
  let lastAnswer: Promise<unknown> = Promise.resolve();

  function close(): void {
    if (timer) clearTimeout(timer);
    if (isOver) return;
    isOver = true;
    onEnd();
  }

  function kill(): void {
    close();
    child.kill('SIGKILL');
  }

  /** Ends git after what was asked. */
  function end(): void {
    close();
    child.stdin.end();
  }

  /** While nothing is asked, the git process does not keep this process alive. */
  function rest(): void {
    for (const handle of [child, child.stdin, child.stdout, child.stderr] as Socket[]) handle.unref();
    if (!isOver) timer = setTimeout(end, idle).unref();
  }

  function work(): void {
    if (timer) clearTimeout(timer);
    for (const handle of [child, child.stdin, child.stdout, child.stderr] as Socket[]) handle.ref();
  }

  /**
   * Reads what git prints for a question: `<id> <type> <size>` and a newline for each object, then
   * its contents and a newline where they were asked for; `<id> missing` for one that is not there.
   */
  async function readAnswer({ ids, wants, maxBytes }: ObjectQuestion): Promise<GitObject[]> {
    const objects: GitObject[] = [];
    for (let count = 0; count < ids.length; count++) {
      const line = await output.line();
      if (line === null) throw new Error(`git cat-file ended: ${stderr}`);
      const [id = '', type = '', digits] = line.split(' ');
      if (digits === undefined && type !== 'missing') throw new Error('git printed what it should not.');
      if (digits === undefined) continue;
      const size = Number(digits);
      if (wants === 'contents' && size > maxBytes)
        throw tooLarge(`Object ${id} of the repository has ${size} bytes, which is too large.`);
      const bytes = wants === 'contents' ? await output.bytes(size + 1) : null;
      objects.push({ id, type, size, bytes: bytes && bytes.subarray(0, size) });
    }
    return objects;
  }

  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, 4096)));
  child.stdin.on('error', () => undefined);
  child.on('error', close);
  child.on('close', close);
  rest();

  return {
    /** The objects that the repository has. Fails when git ends, or an object is too large. */
    ask(question: ObjectQuestion): Promise<GitObject[]> {
      const { ids, wants, signal } = question;
      signal.throwIfAborted();
      if (ids.length === 0) return Promise.resolve([]);
      const abandon = (): void => {
        abandoned++;
        if (abandoned === open) kill();
      };
      signal.addEventListener('abort', abandon, { once: true });
      open++;
      work();
      child.stdin.write(`${ids.map((id) => `${wants} ${id}\n`).join('')}flush\n`);
      const answer = lastAnswer.then(() => readAnswer(question));
      lastAnswer = answer
        .catch((error: unknown) => {
          kill();
          throw error;
        })
        .finally(() => {
          signal.removeEventListener('abort', abandon);
          open--;
          if (signal.aborted) abandoned--;
          if (open === 0) rest();
        });
      return untilAborted(lastAnswer as typeof answer, signal);
    },
    end,
  };
}

/** Reads lines and bytes from the start of a stream, one after the other. */
function createReader(stream: AsyncIterable<Buffer>): {
  /** The text up to the next newline. Null at the end of the stream. */
  line(): Promise<string | null>;
  bytes(size: number): Promise<Buffer | null>;
} {
  const chunks = stream[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  async function take(size: number): Promise<Buffer | null> {
    const parts = [rest];
    for (let length = rest.length; length < size; length += parts.at(-1)!.length) {
      const { done, value } = await chunks.next();
      if (done) return null;
      parts.push(value);
    }
    const whole = parts.length === 1 ? rest : Buffer.concat(parts);
    rest = whole.subarray(size);
    return whole.subarray(0, size);
  }

  return {
    async line() {
      for (;;) {
        const end = rest.indexOf(10);
        if (end >= 0) return (await take(end + 1))!.toString('latin1', 0, end);
        const { done, value } = await chunks.next();
        if (done) return null;
        rest = Buffer.concat([rest, value]);
      }
    },
    bytes: take,
  };
}

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

/** See `createGitObjects`. */
export type GitObjects = ReturnType<typeof createGitObjects>;

/** Processes that read repositories at the same time, or did within the last second. */
const maxProcesses = 16;
/** The most bytes of one object, unless a reader allows less. */
const maxObjectBytes = 256 * 2 ** 20;
/** Bytes of the objects that are remembered, and of the largest of them. */
const maxContents = 16 * 2 ** 20;
const maxContent = 2 * 2 ** 20;

/**
 * Reads objects of bare repositories, by one process of git for each, which
 * stays for as long as it is asked. Remembers what it read: a sync reads a commit three times, each document to detect it and to
 * compile it, and most trees are those of the commit before.
 */
export function createGitObjects() {
  const processes = new LRUCache<
    string,
    { process: ReturnType<typeof startObjectProcess>; packs: ReadonlySet<string> }
  >({ max: maxProcesses, dispose: ({ process }) => process.end() });
  const contents = new LRUCache<string, Buffer>({
    maxSize: maxContents,
    maxEntrySize: maxContent,
    sizeCalculation: (bytes) => bytes.byteLength + 200,
  });

  /** The process for a repository. One that may still hold packs which were deleted is replaced. */
  async function processFor({ folder, searchPath }: ReadOptions, isFresh: boolean) {
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
    /** Those of these objects that the repository has, by id. `isFresh`: asks a new process of git. */
    async look(ids: readonly string[], options: ReadOptions, isFresh = false): Promise<Map<string, ObjectInfo>> {
      const process = await processFor(options, isFresh);
      const { signal } = options;
      const objects = await process.ask({ ids: [...new Set(ids)], wants: 'info', maxBytes: 0, signal });
      return new Map(objects.map(({ id, type, size }) => [id, { type, size }]));
    },
    /** The contents of these objects, by id. All must be in the repository, and none larger. */
    async read(ids: readonly string[], options: ReadOptions, maxBytes = maxObjectBytes): Promise<Map<string, Buffer>> {
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

/** Whether a commit is in the repository. */
export async function hasCommit(commit: string, { folder, searchPath, signal }: ReadOptions): Promise<boolean> {
  const args = ['cat-file', '-e', `${commit}^{commit}`];
  return (await runGit({ args, folder, protocols: 'none', searchPath, signal })).ok;
}
