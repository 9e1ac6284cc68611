import { readdirSync, readFileSync } from 'node:fs';
import { digestOf, hexOf } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { createReport, problemAtFile } from '../../model/problem.ts';
import { startChild, type Child, type JobOptions, type Outcome } from './child.ts';
import { createFairQueue } from '../../scheduling/fair-queue.ts';
import { filesTooLarge, tooManyFiles, type LoadedFile } from '../collect.ts';
import { fileTooLarge } from '../text/parse.ts';
import type { SnapshotFile } from '../../source/snapshot.ts';
import type { CollectedFile, CompileInput, CompileLimits, Compiled, Compiler, Detected, Load } from '../compile.ts';
import { mayBeDocument } from '../detect.ts';
import type { ParentMessage } from './sandbox-messages.ts';

export interface CompilerOptions {
  /** How many sandboxes work at once. Each is started when it is first needed and then kept warm. */
  children?: number;
}

const batchBytes = 8 * 1024 * 1024;
const batchFiles = 500;

/** The compiler behind a pool of sandboxed processes (design §6). */
export function openCompiler({ children = 2 }: CompilerOptions = {}): Compiler {
  const queue = createFairQueue(children);
  const idle: Child[] = [];
  const closing = new AbortController();
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };

  async function run(
    owner: string,
    job: ParentMessage,
    limits: CompileLimits,
    options: Omit<JobOptions, 'seconds'>,
  ): Promise<Outcome> {
    const signal = AbortSignal.any([closing.signal, ...(options.signal ? [options.signal] : [])]);
    const task = async (): Promise<Outcome> => {
      const child = takeChild(limits.memoryMegabytes);
      try {
        return await child.run(job, { ...options, signal, seconds: limits.seconds });
      } finally {
        if (child.isUsable()) idle.push(child);
        else child.kill();
      }
    };
    return queue.add(owner, task, signal);
  }

  function takeChild(memoryMegabytes: number): Child {
    for (let child = idle.pop(); child !== undefined; child = idle.pop()) {
      if (child.isUsable() && child.memoryMegabytes === memoryMegabytes) return child;
      child.kill();
    }
    return startChild(memoryMegabytes);
  }

  /** A batch whose sandbox died is taken apart: only the files that kill it are left out. */
  async function detectBatch(
    files: { path: string; bytes: Uint8Array }[],
    limits: CompileLimits,
    signal: AbortSignal | undefined,
    owner: string,
  ): Promise<Detected[]> {
    const outcome = await run(owner, { type: 'detect', files, limits }, limits, { load: noFiles, signal });
    if ('answer' in outcome) return outcome.answer.type === 'detected' ? outcome.answer.detected : [];
    if (files.length === 1) return [];
    const middle = Math.ceil(files.length / 2);
    const halves = [files.slice(0, middle), files.slice(middle)];
    return (await Promise.all(halves.map((half) => detectBatch(half, limits, signal, owner)))).flat();
  }

  return {
    id: `stele/${version} node/${process.versions.node}`,
    renderer: rendererName(),

    async compile(input, load, signal, owner = '') {
      const read = new Map<string, CollectedFile>();
      const outcome = await run(owner, { type: 'compile', input }, input.limits, {
        load: createLoad(input, load, read),
        signal,
      });
      const files = [...read.values()].sort((a, b) => rank(a, input) - rank(b, input) || (a.path < b.path ? -1 : 1));
      if ('answer' in outcome && outcome.answer.type === 'compiled')
        return { artifact: outcome.answer.artifact, report: outcome.answer.report, files };
      return { artifact: null, report: createReport([diedProblem(outcome, input)]), files } satisfies Compiled;
    },

    async detect(files, limits, signal, owner = '') {
      const candidates = files.filter(
        ({ path, bytes }) => bytes.length <= limits.fileBytes && mayBeDocument(path, bytes),
      );
      const batches = splitBatches(candidates);
      const found = await Promise.all(batches.map((batch) => detectBatch(batch, limits, signal, owner)));
      const asked = new Set(candidates.map(({ path }) => path));
      return found.flat().filter(({ path }) => asked.delete(path));
    },

    async readSettings(file, limits, signal, owner = '') {
      const outcome = await run(owner, { type: 'settings', file, limits }, limits, { load: noFiles, signal });
      if ('answer' in outcome && outcome.answer.type === 'settings') {
        const { settings, report } = outcome.answer;
        return { settings, report };
      }
      return { settings: null, report: createReport([diedProblem(outcome, { entry: file.path, limits })]) };
    },

    async readVersion(file, limits, signal, owner = '') {
      const outcome = await run(owner, { type: 'version', file, limits }, limits, { load: noFiles, signal });
      if (!('answer' in outcome) || outcome.answer.type !== 'version')
        return { problem: diedProblem(outcome, { entry: file.path, limits }) };
      const { answer } = outcome;
      return 'version' in answer ? { version: answer.version } : { problem: answer.problem };
    },

    async outline(document, limits, signal, owner = '') {
      const outcome = await run(owner, { type: 'outline', document, limits }, limits, { load: noFiles, signal });
      return 'answer' in outcome && outcome.answer.type === 'outlined' ? outcome.answer.outline : null;
    },

    async render(document, limits, signal, owner = '') {
      const outcome = await run(owner, { type: 'render', document, limits }, limits, { load: noFiles, signal });
      return 'answer' in outcome && outcome.answer.type === 'rendered' ? outcome.answer.rendered : null;
    },

    async close() {
      closing.abort(new RegistryError('unavailable', 'The compiler is shutting down.'));
      await queue.onIdle();
      for (const child of idle.splice(0)) child.kill();
    },
  };
}

/** A digest over the code that renders, so that what older code made is never shown as if newer had. */
function rendererName(): string {
  const folder = new URL('../../render/', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name))
    .sort();
  return hexOf(digestOf(names.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n'))).slice(0, 16);
}

async function noFiles(): Promise<LoadedFile[]> {
  return [];
}

function rank({ path }: CollectedFile, { entry }: CompileInput): number {
  return path === entry ? 0 : 1;
}

/** Answers a sandbox that asks for files, and remembers them for the caller. What is over a wall stays on this side of it. */
function createLoad(input: CompileInput, load: Load, read: Map<string, CollectedFile>): JobOptions['load'] {
  const { limits } = input;
  let total = 0;

  function take(file: SnapshotFile): LoadedFile {
    const { path } = file;
    read.set(path, { path, blob: null, bytes: null });
    if (!file.found) return { path, problem: file.problem };
    const { bytes, blob } = file;
    if (bytes.length > limits.fileBytes) return { path, problem: fileTooLarge(path, bytes.length, limits) };
    total += bytes.length;
    if (total > limits.bundleBytes) return { path, problem: filesTooLarge(input.entry, limits) };
    read.set(path, { path, blob, bytes });
    return { path, bytes };
  }

  return async (paths) => {
    const wanted = [...new Set(paths)].filter((path) => !read.has(path));
    if (read.size + wanted.length > limits.files)
      return wanted.map((path) => ({ path, problem: tooManyFiles(input.entry, limits) }));
    return (await load(wanted)).map(take);
  };
}

function diedProblem(
  outcome: Outcome,
  { entry, limits }: Pick<CompileInput, 'entry' | 'limits'>,
): ReturnType<typeof problemAtFile> {
  const rule = 'died' in outcome ? outcome.died : 'sandbox-crash';
  const messages = {
    'sandbox-timeout': `Compiling the document took longer than ${limits.seconds} seconds and was stopped.`,
    'sandbox-memory': `Compiling the document needed more than ${limits.memoryMegabytes} MB of memory and was stopped.`,
    'sandbox-crash': 'The process that compiled the document broke down over it.',
  };
  return problemAtFile(rule, entry, messages[rule]);
}

function splitBatches(files: readonly { path: string; bytes: Uint8Array }[]): { path: string; bytes: Uint8Array }[][] {
  const batches: { path: string; bytes: Uint8Array }[][] = [];
  let bytes = 0;
  for (const { path, bytes: content } of files) {
    const last = batches.at(-1);
    if (last === undefined || last.length >= batchFiles || bytes + content.length > batchBytes) {
      batches.push([{ path, bytes: content }]);
      bytes = content.length;
    } else {
      last.push({ path, bytes: content });
      bytes += content.length;
    }
  }
  return batches;
}
