import { digestOf } from '../../model/digest.ts';
import type { CompileInput } from '../compile.ts';
import { runCompile } from '../run.ts';
import { startupSnapshot } from 'node:v8';
import type { LoadedFile, LoadFiles } from '../collect.ts';
import { detectFiles } from '../detect.ts';
import { readVersion } from '../identity.ts';
import { findIgnored } from '../ignored.ts';
import { closeProcess, listen, usedMemory } from './close-process.ts';
import type { Interpreter } from '../interpreter/interpreter.ts';
import { functionsArgument } from './functions-argument.ts';
import { inPieces } from './pieces.ts';
import type { Answer, ChildMessage, Gives, JobMessage, JobType, ParentMessage } from './sandbox-messages.ts';
import { excerptOf } from '../../render/excerpt.ts';
import { compareDocuments } from '../../diff/compare-documents.ts';
import { placeChanges } from '../place-changes.ts';
import { outlineDocument, renderDocument } from '../../render/render.ts';
import { renderPages } from '../../sites/render/render-pages.ts';
import { limitRounds } from '../openapi/redocly-rounds.ts';
import { clearRule, sayRules } from '../ruleset/rule-at-work.ts';
import { checkSettingsFile } from '../repository-settings.ts';

const small: CompileInput['limits'] = {
  fileBytes: 10_000,
  bundleBytes: 10_000,
  files: 10,
  depth: 100,
  aliases: 10,
  nodes: 1000,
  seconds: 10,
  memoryMegabytes: 1000,
};

const rules = '{"extends":["recommended"]}';
const ruleset = { digest: digestOf(rules), name: 'rules', json: rules };
const versions = ['swagger: "2.0"', 'openapi: 3.0.4', 'openapi: 3.1.2', 'openapi: 3.2.0'];

/** One valid and one invalid document of each version of OpenAPI, a JSON Schema and a ruleset. */
const documents = [
  ...versions.map((version) => `${version}\ninfo: {title: Pets, version: "1"}\npaths: {}\n`),
  ...versions.map((version) => `${version}\ninfo: {title: 1}\npaths: {/pets: {get: {responses: 1}}}\n`),
  '$schema: https://json-schema.org/draft/2020-12/schema\ntype: object\n',
  'extends: [recommended]\n',
];

/**
 * Compiles small documents and forgets the results. A snapshot of the process then holds what the
 * libraries prepare for the first document of a kind, such as compiled schemas.
 */
async function warmUp(): Promise<void> {
  for (const document of documents) {
    const bytes = Buffer.from(document);
    const give = (paths: string[]) => Promise.resolve(paths.map((path) => ({ path, bytes })));
    const input = { type: null, entry: 'document.yaml', validation: 'strict', limits: small } as const;
    for (const given of [null, ruleset]) await runCompile({ ...input, ruleset: given }, give);
  }
}

// The process inside the sandbox. It knows only what its parent sends, and asks it for every file.

const beginRounds = limitRounds();
sayRules((title) => void (process.title = title));

/** Does the parent's jobs, one at a time. `send`: the only way to it. */
function createWorker(send: (message: ChildMessage) => void, interpreter: Interpreter | null) {
  /** Requests for files without an answer. */
  const waiting: ((files: LoadedFile[]) => void)[] = [];

  /** The first files are there. Others are asked for. */
  function startingWith(files: LoadedFile[]): LoadFiles {
    let first: LoadedFile[] | null = files;
    return async (paths) => {
      const loaded = first ?? (await load(paths));
      first = null;
      return loaded;
    };
  }

  function load(paths: string[]): Promise<LoadedFile[]> {
    return new Promise((resolve) => {
      waiting.push(resolve);
      send({ type: 'load', paths });
    });
  }

  function compile(input: CompileInput, files: LoadedFile[]): Promise<Gives<'compile'>> {
    beginRounds();
    clearRule();
    return runCompile(input, startingWith(files), interpreter);
  }

  const work: Work = {
    ...plainWork,
    compile: ({ input, files }) => compile(input, files),
    check: async ({ input, files }) => ({ report: (await compile(input, files)).report }),
  };
  return async (message: ParentMessage): Promise<void> => {
    if (message.type === 'files') return waiting.shift()?.(message.files);
    const answer = await (work[message.type] as (job: JobMessage) => object | Promise<object>)(message);
    send({ type: message.type, ...answer, rss: usedMemory() } as Answer);
  };
}

type Work = { readonly [T in JobType]: (job: JobMessage<T>) => Gives<T> | Promise<Gives<T>> };

const plainWork: Omit<Work, 'compile' | 'check'> = {
  detect: ({ files, limits }) => ({ detected: detectFiles(files, limits) }),
  ignored: ({ patterns, paths }) => ({ by: findIgnored(patterns, paths) }),
  settings: ({ file, limits }) => checkSettingsFile(file, limits),
  version: ({ file, limits }) => readVersion(file, limits),
  outline: ({ document }) => ({ outline: outlineDocument(document) }),
  excerpt: ({ document, part }) => ({ excerpt: excerptOf(document, part) }),
  render: ({ document }) => ({ rendered: renderDocument(document) }),
  pages: ({ pages }) => ({ pages: renderPages(pages, null) }),
  compare: ({ before, after, limits, rules: ofChanges }) => ({
    comparison: placeChanges(compareDocuments(before, after, ofChanges), after, limits),
  }),
};

/** A bug ends this process. The parent starts another one, and reports the bug if it happens again. */
function endByBug(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

/** Closes the process, and waits for jobs. */
async function begin(): Promise<void> {
  // Nothing can be added, so that one document cannot leave anything for the next.
  for (const shared of [
    Object.prototype,
    Array.prototype,
    Function.prototype,
    String.prototype,
    Map.prototype,
    Set.prototype,
  ])
    Object.preventExtensions(shared);
  let interpreter: Interpreter | null = null;
  if (process.argv[2] === functionsArgument) {
    const { loadInterpreter } = await import('../interpreter/interpreter.ts');
    // Not imported: a startup snapshot cannot hold this module.
    const { stripTypeScriptTypes } = process.getBuiltinModule('node:module');
    // At its first call it loads what cannot be loaded later.
    stripTypeScriptTypes('');
    interpreter = await loadInterpreter((text) => stripTypeScriptTypes(text));
  }
  const sendPart = closeProcess({ keepsWebAssembly: interpreter !== null });
  const receive = createWorker((message) => inPieces(message).forEach(sendPart), interpreter);
  // The interpreter asks which program it is in, and would load modules of Node.
  if (interpreter !== null) Object.defineProperty(process, 'versions', { value: {} });
  listen(sendPart, (message) => {
    receive(message).catch(endByBug);
  });
}

// In a build, sandboxes start from a snapshot of what is loaded until here (`make-snapshot.ts`).
if (startupSnapshot.isBuildingSnapshot()) {
  startupSnapshot.setDeserializeMainFunction(() => void begin().catch(endByBug));
  warmUp().catch(endByBug);
} else begin().catch(endByBug);
