import { digestOf } from '../../model/digest.ts';
import type { CompileInput } from '../compile.ts';
import { runCompile } from '../run.ts';
import { startupSnapshot } from 'node:v8';
import type { LoadedFile } from '../collect.ts';
import { detectFiles } from '../detect.ts';
import { readVersion } from '../identity.ts';
import { findIgnored } from '../ignored.ts';
import { closeProcess } from './close-process.ts';
import type { Interpreter } from '../interpreter/interpreter.ts';
import { functionsArgument } from './functions-argument.ts';
import { inPieces, receiveWhole } from './pieces.ts';
import type { ChildMessage, ParentMessage } from './sandbox-messages.ts';
import { excerptOf } from '../../render/excerpt.ts';
import { outlineDocument } from '../../render/outline-document.ts';
import { compareDocuments } from '../../diff/compare-documents.ts';
import { placeChanges } from '../place-changes.ts';
import { renderDocument } from '../../render/render.ts';
import { renderPages } from '../../sites/render/render-pages.ts';
import { limitRounds } from '../openapi/redocly-rounds.ts';
import { clearRule, sayRules } from '../ruleset/rule-at-work.ts';
import { readSettings } from '../repository-settings.ts';

const limits: CompileInput['limits'] = {
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
    const input = { type: null, entry: 'document.yaml', validation: 'strict', limits } as const;
    for (const given of [null, ruleset]) await runCompile({ ...input, ruleset: given }, give);
  }
}

// The process inside the sandbox. It knows only what its parent sends, and asks it for every file.

/** The argument of a process that only writes its compiled code (`code-cache.ts`). */
const writeCode = 'write-code';

let interpreter: Interpreter | null = null;
const beginRounds = limitRounds();
sayRules((title) => void (process.title = title));
let send: (message: ChildMessage) => void;
const waiting: ((files: LoadedFile[]) => void)[] = [];

function load(paths: string[]): Promise<LoadedFile[]> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    send({ type: 'load', paths });
  });
}

/** The first files are there. Others are asked for. */
function startingWith(files: LoadedFile[]): typeof load {
  let first: LoadedFile[] | null = files;
  return async (paths) => {
    const loaded = first ?? (await load(paths));
    first = null;
    return loaded;
  };
}

async function receive(message: ParentMessage): Promise<void> {
  if (message.type === 'files') return waiting.shift()?.(message.files);
  // From the kernel, because a sandbox without /proc has no other source.
  const rss = () => process.resourceUsage().maxRSS * 1024;
  if (message.type === 'detect')
    return send({ type: 'detected', detected: detectFiles(message.files, message.limits), rss: rss() });
  if (message.type === 'ignored')
    return send({ type: 'ignored', by: findIgnored(message.patterns, message.paths), rss: rss() });
  if (message.type === 'settings')
    return send({ type: 'settings', ...readSettings(message.file, message.limits), rss: rss() });
  if (message.type === 'version')
    return send({ type: 'version', ...readVersion(message.file, message.limits), rss: rss() });
  if (message.type === 'outline')
    return send({ type: 'outlined', outline: outlineDocument(message.document), rss: rss() });
  if (message.type === 'excerpt')
    return send({ type: 'excerpted', excerpt: excerptOf(message.document, message.part), rss: rss() });
  if (message.type === 'render')
    return send({ type: 'rendered', rendered: renderDocument(message.document), rss: rss() });
  if (message.type === 'pages') return send({ type: 'paged', pages: renderPages(message.pages, null), rss: rss() });
  if (message.type === 'compare') {
    const comparison = compareDocuments(message.before, message.after, message.rules);
    return send({ type: 'compared', comparison: placeChanges(comparison, message.after, message.limits), rss: rss() });
  }
  beginRounds();
  clearRule();
  const result = await runCompile(message.input, startingWith(message.files), interpreter);
  if (message.input.reportOnly) return send({ type: 'checked', report: result.report, rss: rss() });
  send({ type: 'compiled', ...result, rss: rss() });
}

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
  if (process.argv[2] === writeCode) {
    process.umask(0o077);
    // Not imported: a startup snapshot cannot hold this module.
    process.getBuiltinModule('node:module').flushCompileCache();
    process.exit();
  }
  if (process.argv[2] === functionsArgument) {
    const { loadInterpreter } = await import('../interpreter/interpreter.ts');
    const { stripTypeScriptTypes } = process.getBuiltinModule('node:module');
    // At its first call it loads what cannot be loaded later.
    stripTypeScriptTypes('');
    interpreter = await loadInterpreter((text) => stripTypeScriptTypes(text));
  }
  const sendPart = closeProcess({ keepsWebAssembly: interpreter !== null });
  send = (message) => inPieces(message).forEach(sendPart);
  // The interpreter asks which program it is in, and would load modules of Node.
  if (interpreter !== null) Object.defineProperty(process, 'versions', { value: {} });
  // A shutdown signals every process of a service. Only the parent decides when this one ends, so
  // that no document is rejected because of a shutdown.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.on(
    'message',
    receiveWhole<ParentMessage>((message) => {
      receive(message).catch(endByBug);
    }),
  );
  send({ type: 'ready' });
}

// In a build, sandboxes start from a snapshot of what is loaded until here (`make-snapshot.ts`).
if (startupSnapshot.isBuildingSnapshot()) {
  startupSnapshot.setDeserializeMainFunction(() => void begin().catch(endByBug));
  warmUp().catch(endByBug);
} else begin().catch(endByBug);
