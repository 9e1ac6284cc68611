import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { RegistryError } from '../model/errors.ts';
import { assertGit, environmentOf } from './git-environment.ts';

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

/** A `git cat-file` that answers one question after the other. */
export interface ObjectProcess {
  /** The objects that the repository has. Fails when git ends, or an object is too large. */
  ask(question: ObjectQuestion): Promise<GitObject[]>;
  /** Ends git after what was asked. */
  end(): void;
}

/** One question, and what has come so far. */
interface Asked extends ObjectQuestion {
  objects: GitObject[];
  left: number;
  isStopped: boolean;
  resolve(objects: GitObject[]): void;
  reject(reason: unknown): void;
}

/** Milliseconds without a question, after which git is ended. */
const idle = 1000;

/**
 * Starts git to read a bare repository. It finds packs that are added later. It ends by itself when
 * nothing is asked for a second, or when this process ends. `onEnd` is called once, when it answers
 * no more.
 */
export function startObjectProcess(
  { folder, searchPath }: { folder: string; searchPath: string },
  onEnd: () => void,
): ObjectProcess {
  assertGit(searchPath);
  const waiting: Asked[] = [];
  const child = spawn('git', ['cat-file', '--batch-command', '--buffer'], {
    cwd: folder,
    env: environmentOf({ folder, searchPath, protocols: 'none' }),
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, which the signals of a terminal do not reach.
    detached: true,
  });
  let said = '';
  let isOver = false;
  let timer: NodeJS.Timeout | null = null;

  function close(): void {
    if (timer) clearTimeout(timer);
    if (isOver) return;
    isOver = true;
    onEnd();
  }

  function fail(reason: unknown): void {
    close();
    child.kill('SIGKILL');
    for (const asked of waiting.splice(0)) asked.reject(reason);
  }

  function end(): void {
    close();
    child.stdin.end();
  }

  /** While nothing is asked, git keeps nobody from ending. */
  function rest(): void {
    keepAlive(child, false);
    if (!isOver) timer = setTimeout(end, idle).unref();
  }

  const parse = createParser(
    () => waiting[0],
    (object) => {
      const [asked] = waiting;
      if (asked === undefined) return fail(new Error('git printed what nobody asked for.'));
      if (object !== null) asked.objects.push(object);
      if (--asked.left > 0) return;
      waiting.shift();
      asked.resolve(asked.objects);
      if (waiting.length === 0) rest();
    },
  );
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      parse(chunk);
    } catch (error) {
      fail(error);
    }
  });
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(0, 4096)));
  child.stdin.on('error', () => undefined);
  child.on('error', fail);
  child.on('close', () => fail(new Error(`git cat-file ended: ${said}`)));
  rest();

  return {
    ask(question) {
      const { ids, wants, signal } = question;
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<GitObject[]>();
      if (ids.length === 0) return Promise.resolve([]);
      const asked: Asked = { ...question, objects: [], left: ids.length, isStopped: false, resolve, reject };
      const stop = (): void => {
        asked.isStopped = true;
        reject(signal.reason);
        // Others that wait get their answers.
        if (waiting.every(({ isStopped }) => isStopped)) fail(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      waiting.push(asked);
      if (timer) clearTimeout(timer);
      keepAlive(child, true);
      child.stdin.write(`${ids.map((id) => `${wants} ${id}\n`).join('')}flush\n`);
      return promise.finally(() => signal.removeEventListener('abort', stop));
    },
    end,
  };
}

function keepAlive(child: ChildProcessByStdio<Writable, Readable, Readable>, isNeeded: boolean): void {
  const handles = [child, child.stdin, child.stdout, child.stderr] as (Socket | typeof child)[];
  for (const handle of handles) {
    if (isNeeded) handle.ref();
    else handle.unref();
  }
}

/**
 * Parses what `git cat-file --batch-command` prints: `<id> <type> <size>` and a newline for each
 * object, then its contents and a newline where they were asked for; `<id> missing` for one that is
 * not there, which is null here.
 */
function createParser(
  current: () => ObjectQuestion | undefined,
  onObject: (object: GitObject | null) => void,
): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let needed = 1;
  let head: GitObject | null = null;

  /** Takes one object from the start. Returns how many bytes it took; 0: more are needed. */
  function take(rest: Buffer): number {
    if (head === null) {
      const end = rest.indexOf(10);
      if (end < 0) {
        needed = rest.length + 1;
        return 0;
      }
      const [id = '', type = '', size] = rest.toString('latin1', 0, end).split(' ');
      if (size === undefined) {
        if (type !== 'missing') throw new Error('git printed what it should not.');
        onObject(null);
        return end + 1;
      }
      head = { id, type, size: Number(size), bytes: null };
      const question = current();
      if (question?.wants === 'contents') {
        if (head.size > question.maxBytes) throw tooLarge(head);
        return end + 1;
      }
      onObject(head);
      head = null;
      return end + 1;
    }
    const { size } = head;
    if (rest.length <= size) {
      needed = size + 1;
      return 0;
    }
    onObject({ ...head, bytes: rest.subarray(0, size) });
    head = null;
    return size + 1;
  }

  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < needed) return;
    needed = 1;
    let rest: Buffer = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    for (let taken = -1; rest.length > 0 && taken !== 0; rest = rest.subarray(taken)) taken = take(rest);
    chunks = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
  };
}

function tooLarge({ id, size }: GitObject): RegistryError {
  return new RegistryError('too_large', `Object ${id} of the repository has ${size} bytes, which is too large.`);
}
