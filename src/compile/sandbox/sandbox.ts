import { readdirSync, readFileSync } from 'node:fs';
import { mayBeDocument } from '../../model/kinds.ts';
import { notCompared } from '../../model/comparison.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { createReport, problemAtFile, type Problem } from '../../model/problem.ts';
import { hintAt, type Job, type JobOptions } from './child.ts';
import { besideOwnCode } from './start-snapshot.ts';
import { findIsolation, type Isolation } from './isolation.ts';
import { inBatches, renderAll } from './render-batches.ts';
import { createPool, type Ended, type PoolOptions } from './pool.ts';
import type { Gives, JobType } from './sandbox-messages.ts';
import { filesTooLarge, tooManyFiles, type LoadedFile } from '../collect.ts';
import { fileTooLarge } from '../text/parse.ts';
import type { SnapshotFile } from '../../source/snapshot.ts';
import {
  hasCode,
  modulesMember,
  type CollectedFile,
  type CompileInput,
  type CompileLimits,
  type FileBytes,
  type Load,
  type Turn,
} from '../compile.ts';
import { isCode } from '../interpreter/modules.ts';
import type { Sandboxes } from '../sandboxes.ts';

/** Default: two sandboxes without a spare one, in bwrap if it works. */
export type CompilerOptions = Partial<PoolOptions>;

/** A compiler that reports its isolation. */
export interface SandboxCompiler extends Sandboxes {
  /** Rejects with `unavailable` if the configured isolation does not work. */
  isolation(): Promise<Isolation>;
  /** Starts a sandbox now, so that the first job finds it ready. Says nothing if that fails. */
  prepare(limits: Pick<CompileLimits, 'memoryMegabytes'>): void;
  /** The same for readers: resolves when a sandbox has made a small page, or cannot. The first page takes longest. */
  prepareForReaders(limits: CompileLimits): Promise<void>;
}

/** Of the package of the interpreter. Another one may find something else. */
const interpreterVersion = '0.32.0';

const smallDocument =
  '{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{"post":{"description":"*a* `b`","parameters":[{"name":"a","in":"query","schema":{"type":"string"}}],"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},"responses":{"200":{"description":"A","content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{"A":{"properties":{"a":{"type":"string"},"b":{"items":{"type":"integer"}}}}}}}';

const maxBatch = { items: 500, bytes: 8 * 1024 * 1024 };

/** The compiler behind a pool of sandboxed processes (design §6). */
export function openCompiler(options: CompilerOptions = {}): SandboxCompiler {
  const given = { children: 2, mode: 'auto', codeFolder: besideOwnCode(), ...options } as const;
  const { run, prepare, prepareWith, close } = createPool(given);
  let renderer: string | undefined;

  /** The answer to a job. Null: its document exceeds the limits. */
  async function answerTo<T extends JobType>(
    job: Job<T>,
    limits: CompileLimits,
    turn?: Turn,
  ): Promise<Gives<T> | null> {
    const outcome = await run(job, limits, turn);
    return 'answer' in outcome ? outcome.answer : null;
  }

  // Started when the first page with code comes.
  const code = createPool({ ...given, hasSpare: false, trade: 'code' });
  // Started with the first ruleset that has code. They load the interpreter after the snapshot, which cannot hold it.
  const functions = createPool({ ...given, hasSpare: false, trade: 'functions' });
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };

  return {
    id: `stele/${version} node/${process.versions.node} quickjs/${interpreterVersion}`,
    get renderer() {
      return (renderer ??= rendererName());
    },
    isolation: () => findIsolation(given.mode),
    prepare: ({ memoryMegabytes }) => prepare(memoryMegabytes),
    prepareForReaders(limits) {
      const document = { kind: 'openapi', json: Buffer.from(smallDocument) } as const;
      return prepareWith({ type: 'render', document }, limits);
    },

    async compile(input, load, turn) {
      let read = new Map<string, CollectedFile>();
      const loadAgain = () => createLoad(input, load, (read = new Map()));
      const runIn = (await needsFunctions(input, load)) ? functions.run : run;
      const job = { type: input.reportOnly ? 'check' : 'compile', input } as const;
      const outcome = await runIn(job, input.limits, turn, loadAgain);
      const rank = ({ path }: CollectedFile) => Number(path !== input.entry);
      const files = [...read.values()].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
      if ('answer' in outcome) return { artifact: null, ...outcome.answer, files };
      return { artifact: null, report: createReport([diedProblem(outcome, input)]), files };
    },

    async detect(files, limits, turn) {
      const candidates = files.filter(
        ({ path, bytes }) => bytes.length <= limits.fileBytes && mayBeDocument(path, bytes),
      );
      const detect = async (batch: readonly FileBytes[]) =>
        (await answerTo({ type: 'detect', files: batch, limits }, limits, turn))?.detected ?? null;
      const detected = await inBatches(candidates, maxBatch, detect, () => []);
      const asked = new Set(candidates.map(({ path }) => path));
      return detected.filter(({ path }) => asked.delete(path));
    },

    async ignored(patterns, paths, limits, turn) {
      const by = (await answerTo({ type: 'ignored', patterns, paths }, limits, turn))?.by;
      return by?.length === paths.length && by.every((index) => index < patterns.length) ? by : null;
    },

    async readSettings(file, limits, turn) {
      const outcome = await run({ type: 'settings', file, limits }, limits, turn);
      if ('answer' in outcome) {
        const { written, report } = outcome.answer;
        // Loads a validator, which most commands do without.
        const { settingsFrom } = await import('../repository-settings.ts');
        return { settings: written && settingsFrom(file.path, written), report };
      }
      return { settings: null, report: createReport([diedProblem(outcome, { entry: file.path, limits })]) };
    },

    async readVersion(file, limits, turn) {
      const outcome = await run({ type: 'version', file, limits }, limits, turn);
      return 'answer' in outcome ? outcome.answer : { problem: diedProblem(outcome, { entry: file.path, limits }) };
    },

    outline: async (document, limits, turn) =>
      (await answerTo({ type: 'outline', document }, limits, turn))?.outline ?? null,

    excerpt: async (document, part, limits, turn) =>
      (await answerTo({ type: 'excerpt', document, part }, limits, turn))?.excerpt ?? null,

    render: async (document, limits, turn) =>
      (await answerTo({ type: 'render', document }, limits, turn))?.rendered ?? null,

    renderPages: (pages, limits, turn) => renderAll({ plain: run, code: code.run }, pages, limits, turn),

    async compare(before, after, limits, rules, turn) {
      const answer = await answerTo({ type: 'compare', before, after, limits, rules }, limits, turn);
      return answer?.comparison ?? notCompared('Comparing the documents took more memory than the limit.');
    },

    async close() {
      await Promise.all([close(), code.close(), functions.close()]);
    },
  };
}

/** A digest of the code that makes derived values, so that cached output of older code is not used. */
function rendererName(): string {
  const folder = new URL('../../', import.meta.url);
  const names = ['render', 'diff'].flatMap((room) =>
    readdirSync(new URL(`${room}/`, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[jt]s$/.test(name))
      .map((name) => `${room}/${name}`)
      .sort(),
  );
  return hexOf(digestOf(names.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n'))).slice(0, 16);
}

/** What a ruleset with functions of its own has in its text. */
const functionMarks = ['functions', 'plugins', 'extends', modulesMember].map((mark) => Buffer.from(mark));

/** Whether a document is compiled where functions run: it is or has a ruleset whose functions may run. */
async function needsFunctions({ code, ruleset, type, entry }: CompileInput, load: Load): Promise<boolean> {
  if (code === undefined) return false;
  if (type === 'rulesets' || isCode(entry) || (ruleset !== null && hasCode(ruleset))) return true;
  if (type !== null) return false;
  const [file] = await load([entry]);
  const bytes = file?.found ? Buffer.from(file.bytes) : null;
  return bytes !== null && functionMarks.some((mark) => bytes.includes(mark));
}

/** Loads files for a sandbox and records them for the caller. Files over a limit are not sent. */
function createLoad(input: CompileInput, load: Load, read: Map<string, CollectedFile>): JobOptions['load'] {
  const { limits } = input;
  let total = 0;

  function take(file: SnapshotFile): LoadedFile {
    const { path } = file;
    read.set(path, { path, blob: null, bytes: null });
    if (!file.found) return { path, problem: file.problem };
    const { bytes, blob } = file;
    if (bytes.length > limits.fileBytes) return { path, problem: fileTooLarge(path, bytes.length, limits) };
    if (total + bytes.length > limits.bundleBytes) return { path, problem: filesTooLarge(input.entry, limits) };
    total += bytes.length;
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
  outcome: Exclude<Ended, { answer: unknown }>,
  { entry, limits }: Pick<CompileInput, 'entry' | 'limits'>,
): Problem {
  const message = `Compiling the document needed more than ${limits.memoryMegabytes} MB of memory and was stopped.`;
  return problemAtFile(outcome.died, entry, message + hintAt(outcome.title));
}
