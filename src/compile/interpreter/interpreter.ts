import { readFileSync, readdirSync } from 'node:fs';
import { join, posix, dirname } from 'node:path';
import { parse } from 'es-module-lexer/minimal/js';
import { fileURLToPath } from 'node:url';
import variant from '@jitl/quickjs-singlefile-mjs-release-sync';
import { QuickJSWASMModule, type QuickJSHandle } from 'quickjs-emscripten-core';
import { isObject, parseJson } from '../../model/json.ts';
import { listOf } from '../../render/json-value.ts';
import { failed, isFailure, toFailure, type Failure, type Outcome } from './failure.ts';
import { toScript, type Erase, type Modules } from './modules.ts';

const redoclyFolder = 'stele:redocly/';

/** What stands for the package `@redocly/openapi-core`, inside. */
const corePath = `${redoclyFolder}core.js`;
/** What runs plugins, inside. */
const pluginsPath = `${redoclyFolder}plugins.js`;

const outside = `${redoclyFolder}outside.js`;

/** The imports of Redocly's files that lead out of what is needed: `outside.js` stands for them. */
const others: ReadonlySet<string> = new Set(
  ['resolve.js', 'logger.js', 'rules/ajv.js'].map((path) => `${redoclyFolder}lib/${path}`),
);

function redoclyPath(base: string, name: string): string {
  if (!name.startsWith('.')) return outside;
  const path = posix.join(posix.dirname(base), name);
  return others.has(path) ? outside : path;
}

/**
 * The files that plugins of Redocly run in, by their paths inside: those of Stele, and of the package
 * those that they import, so that its walk, its node types and its assertions are its own.
 */
function readRedocly(own: string, lib: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  const read = (path: string): void => {
    if (files.has(path)) return;
    const name = path.slice(redoclyFolder.length);
    const text = readFileSync(name.startsWith('lib/') ? join(lib, name.slice(4)) : join(own, name), 'utf8');
    files.set(path, text);
    for (const { n } of parse(text)[0]) if (n !== undefined) read(redoclyPath(path, n));
  };
  read(corePath);
  read(pluginsPath);
  return files;
}

/** Node has it; the types of this project, which have none of a browser, do not. */
declare const WebAssembly: {
  Memory: new (pages: { initial: number; maximum: number }) => object;
  RuntimeError: ErrorConstructor;
};

/** The code of one ruleset, for one document. Nothing outlives it. */
export interface Program {
  /** Makes the default export of a module a function, whose name is the path. */
  takeFunction(path: string): Outcome;
  /** Reads a ruleset that is a module: `{ ruleset, functions }`. Its functions get the names `path#function`. */
  takeRuleset(path: string, taken: Iterable<string>): Outcome;
  /** Loads the Redocly plugins of a module: a list of what each has (`dataOf` in `content/interpreter/redocly/plugins.js`). */
  takePlugins(path: string): Outcome;
  /** Calls a function inside with JSON. Those for plugins are there once some were taken. */
  call(name: 'setDocument' | 'run' | 'setTree' | 'walk' | 'atWork', input: unknown): Outcome;
  /** What the last `run` found, after its promises: `{ findings, failure, waiting }`. */
  finish(): Outcome;
}

/** Opens programs. Only sandboxes of the kind `functions` have one. */
export interface Interpreter {
  open(modules: Modules, date: number): Promise<Program>;
  erase: Erase;
}

/**
 * All memory of an interpreter, reserved at once: growing copies. Real rulesets with the largest
 * documents need less than half of it.
 */
const pages = 2048;
/** Some thousand calls. Node's own stack has to hold them too (`fork-sandbox.ts`). */
const stackBytes = 256 * 1024;
/**
 * The most steps of one call, and of all calls for one document. A step is a fixed count of jumps and
 * calls, of steps of a regular expression, or of jobs of promises, so that the limit is the same on every
 * machine. Most code takes less than a second for a call, the dearest that we know, an exception in each
 * turn of a loop, eleven. A walk through a document for all rules of its plugins is one call: with the
 * largest documents it takes 2700.
 */
const usualSteps = { call: 1500, walk: 4000, inAll: 6000 };
const jobsInStep = 1000;

const here = dirname(fileURLToPath(import.meta.url));
const content = join(here, '../../../content/interpreter');

/** What modules can import besides files, by name: the files here, which stand for packages of Spectral and Redocly. */
const parts: Readonly<Record<string, string>> = {
  '@stoplight/spectral-core': 'stele:spectral-core',
  '@stoplight/spectral-functions': 'stele:spectral-functions',
  '@stoplight/spectral-formats': 'stele:spectral-formats',
  '@stoplight/spectral-rulesets': 'stele:spectral-rulesets',
  '@stoplight/spectral-owasp-ruleset': 'stele:spectral-owasp',
  '@redocly/openapi-core': corePath,
};

type CreateWasm = (options: object) => Promise<ConstructorParameters<Awaited<ReturnType<typeof variant.importFFI>>>[0]>;

/** Loads the interpreter. It needs WebAssembly, and files until the process is closed. */
export async function loadInterpreter(erase: Erase, steps = usualSteps): Promise<Interpreter> {
  // Everything now: a closed sandbox loads nothing more.
  const QuickJSFFI = await variant.importFFI();
  const imported = await variant.importModuleLoader();
  const createWasm = ('default' in imported ? imported.default : imported) as CreateWasm;
  const prelude = readFileSync(join(content, 'prelude.js'), 'utf8');
  const files = new Map<string, string>();
  for (const name of readdirSync(content))
    if (name.endsWith('.js') && name !== 'prelude.js')
      files.set(`stele:${name.replace(/\.js$/, '')}`, readFileSync(join(content, name), 'utf8'));
  const redocly = readRedocly(join(content, 'redocly'), join(packageFolder('@redocly/openapi-core'), 'lib'));
  const schema = join(packageFolder('@cfworker/json-schema'), 'dist/commonjs');
  for (const name of readdirSync(schema))
    if (name.endsWith('.js'))
      files.set(`stele:@cfworker/json-schema/${name}`, readFileSync(join(schema, name), 'utf8'));
  // These name each other by their paths.
  const all = { ...parts, ...Object.fromEntries(files.keys().map((path) => [path, path])) };

  return {
    erase,
    async open(modules, date) {
      const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
      const wasm = await createWasm({ wasmMemory: memory });
      wasm.type = 'sync';
      const quick = new QuickJSWASMModule(wasm, new QuickJSFFI(wasm));
      const runtime = quick.newRuntime({ memoryLimitBytes: pages * 65_536, maxStackSizeBytes: stackBytes });
      const context = runtime.newContext();
      let left = 0;
      let inAll = steps.inAll;
      let isInterrupted = false;
      let broken: Failure | null = null;
      /** What an import did not find. The interpreter itself would not say which. */
      let missing: Failure | null = null;
      function takeStep(): boolean {
        left--;
        inAll--;
        isInterrupted = left < 0 || inAll < 0;
        return isInterrupted;
      }
      runtime.setInterruptHandler(takeStep);

      function attempt<T>(work: () => T | Failure, max = steps.call): T | Failure {
        if (broken !== null) return broken;
        left = max;
        isInterrupted = false;
        try {
          const result = work();
          // Also where only a job of a promise was ended, and the next one rejected.
          return isInterrupted ? { kind: 'steps', message: '', frames: [] } : result;
        } catch (error) {
          // The interpreter itself gave up, or the stack of this process was full: it is not used again.
          const kind =
            error instanceof RangeError ? 'stack' : error instanceof WebAssembly.RuntimeError ? 'memory' : null;
          if (kind === null) throw error;
          return (broken = { kind, message: '', frames: [] });
        }
      }
      function outcomeOf(work: () => Outcome | Failure, max?: number): Outcome {
        const outcome = attempt(work, max);
        return isFailure(outcome) ? { failure: outcome } : outcome;
      }
      const failureOf = (handle: QuickJSHandle): Failure => toFailure(context.dump(handle) as unknown, modules);
      const evaluate = (code: string, path: string, type: 'global' | 'module'): QuickJSHandle | Failure => {
        const result = context.evalCode(code, path, { type });
        return result.error ? failureOf(result.error) : result.value;
      };
      const begun = attempt(() => evaluate(prelude, 'stele:prelude', 'global'));
      if (isFailure(begun)) throw new Error(`The interpreter does not start: ${begun.message}`);
      const api = context.unwrapResult(context.callFunction(begun, context.undefined, context.newNumber(date)));

      function ask(name: string, ...given: QuickJSHandle[]): Outcome {
        const result = context.callFunction(context.getProp(api, name), context.undefined, ...given);
        if (result.error) return { failure: failureOf(result.error) };
        const answer = parseJson(context.getString(result.value));
        result.value.dispose();
        // A module may change what all objects have, and so harm its own answers.
        if (!isObject(answer)) return { failure: failed('Its answer cannot be read.') };
        return 'failure' in answer ? { failure: toFailure(answer['failure'], modules) } : { value: answer['value'] };
      }
      const text = (value: string) => context.newString(value);

      const paths = Object.keys(modules);
      const scripts = new Map(paths.map((path) => [path, toScript(path, modules[path]!, erase)]));
      // Only what is imported is read.
      const isUsing = paths.some((path) => modules[path]!.includes('@stoplight/'));
      for (const [path, code] of isUsing ? files : []) define(path, code);
      const faults = [...scripts].flatMap(([path, { isModule, code }]) => (isModule ? [] : (define(path, code) ?? [])));
      ask('begin', text(JSON.stringify({ paths, parts: all })));

      function define(path: string, code: string): Failure | null {
        // On the first line, so that lines are the author's.
        const fn = attempt(() =>
          evaluate(`(function(exports,require,module,__filename,__dirname){${code}\n})`, path, 'global'),
        );
        if (isFailure(fn)) return fn;
        context.callFunction(context.getProp(api, 'define'), context.undefined, text(path), fn);
        return null;
      }

      runtime.setModuleLoader(
        (path) => {
          const script = scripts.get(path);
          if (script?.isModule) return script.code;
          const inner = redocly.get(path);
          if (inner !== undefined) return inner;
          const names = ask('namesOf', text(path));
          if ('failure' in names) missing ??= names.failure;
          if ('failure' in names) return '';
          return bridgeTo(path, listOf(names.value).map(String));
        },
        (base, name) => {
          if (scripts.has(name) || files.has(name) || redocly.has(name)) return name;
          if (redocly.has(base)) return redoclyPath(base, name);
          const resolved = ask('resolve', text(base), text(name));
          if (!('failure' in resolved)) return String(resolved.value);
          const frames = [{ path: base, line: lineOf(modules[base] ?? '', name) }];
          missing ??= { ...resolved.failure, frames };
          return 'stele:missing';
        },
      );
      context.setProp(context.global, 'require', context.getProp(api, 'require'));

      /** The namespace of a module of any kind. */
      function load(path: string): QuickJSHandle | Failure {
        const code = `import * as loaded from ${JSON.stringify(path)}; export { loaded };`;
        const result = evaluate(code, 'stele:load', 'module');
        if (isFailure(result)) return result;
        const state = context.getPromiseState(result);
        if (state.type === 'fulfilled') return context.getProp(state.value, 'loaded');
        const failure = settle();
        if (failure !== null) return failure;
        const after = context.getPromiseState(result);
        if (after.type === 'fulfilled') return context.getProp(after.value, 'loaded');
        if (after.type === 'rejected') return failureOf(after.error);
        return failed('It waits for a promise that never settles.', [{ path, line: 1 }]);
      }
      const withModule = (path: string, work: (module: QuickJSHandle) => Outcome): Outcome =>
        outcomeOf(() => {
          if (faults[0] !== undefined) return faults[0];
          const module = load(path);
          if (missing !== null) return missing;
          return isFailure(module) ? module : work(module);
        });

      function settle(): Failure | null {
        while (runtime.hasPendingJob() && !isInterrupted) {
          const jobs = runtime.executePendingJobs(jobsInStep);
          if (jobs.error) return failureOf(jobs.error);
          takeStep();
        }
        return null;
      }
      let hasRedocly = false;
      function loadRedocly(): Failure | null {
        if (hasRedocly) return null;
        hasRedocly = true;
        const core = load(corePath);
        if (isFailure(core)) return core;
        const runner = load(pluginsPath);
        if (isFailure(runner)) return runner;
        const extended = ask('extend', text(corePath), core, runner);
        return 'failure' in extended ? extended.failure : null;
      }

      return {
        takePlugins(path) {
          const failure = attempt(loadRedocly);
          if (failure !== null) return { failure };
          return withModule(path, (module) => {
            const made = ask('instantiate', text(path), module);
            if ('failure' in made) return made;
            const jobs = settle();
            return jobs === null ? ask('pluginsOf', text(path)) : { failure: jobs };
          });
        },
        takeFunction: (path) => withModule(path, (module) => ask('take', text(path), module)),
        takeRuleset: (path, taken) =>
          withModule(path, (module) => ask('ruleset', text(path), text(JSON.stringify([...taken])), module)),
        call: (name, input) =>
          outcomeOf(() => ask(name, text(JSON.stringify(input))), name === 'walk' ? steps.walk : steps.call),
        finish: () => outcomeOf(() => settle() ?? ask('finish')),
      };
    },
  };
}

/** A CommonJS file, for those that import it. */
function bridgeTo(path: string, names: readonly string[]): string {
  const exported = names.filter(
    (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default' && name !== '__esModule',
  );
  return [
    `const all = require(${JSON.stringify(path)});`,
    'export default all?.__esModule && "default" in all ? all.default : all;',
    ...exported.map((name, at) => `const v${at} = all[${JSON.stringify(name)}]; export { v${at} as ${name} };`),
  ].join('\n');
}

function lineOf(text: string, part: string): number {
  const at = text.search(new RegExp(`['"\`]${part.replace(/[^\w]/g, String.raw`\$&`)}['"\`]`));
  return at < 0 ? 1 : text.slice(0, at).split('\n').length;
}

/** The folder of an installed package. */
function packageFolder(name: string): string {
  // Not imported: a startup snapshot cannot hold this module.
  const { findPackageJSON } = process.getBuiltinModule('node:module');
  return dirname(findPackageJSON(name, import.meta.url)!);
}
