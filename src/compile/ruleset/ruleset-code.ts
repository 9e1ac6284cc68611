import { isObject } from '../../model/json.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import type { LoadFiles } from '../collect.ts';
import { functionsMember, modulesMember, pluginsMember } from '../compile.ts';
import type { Failure, Outcome } from '../interpreter/failure.ts';
import type { Interpreter, Program } from '../interpreter/interpreter.ts';
import { importedPaths, isCode, toScript, type Modules } from '../interpreter/modules.ts';
import { isParsed, problemAt, type CollectedCode, type UnparsedFile, type Files } from '../kind.ts';
import { resolveReference } from '../reference.ts';
import { unplaced, type ParsedFile } from '../text/parse.ts';
import { decodeText } from '../text/text.ts';
import { joinPointer } from '../../model/pointer.ts';
import { toPlugin } from './redocly-plugins.ts';
import { containedRulesets } from './ruleset-files.ts';
import { coreFunctions } from './spectral/functions.ts';

const maxModules = 500;

/**
 * Reads the code of a ruleset: the functions that its files name, modules that it extends, and
 * everything that these import. Runs each file once, so that its faults are those of the ruleset.
 */
export async function readCode(
  entry: string,
  files: Files,
  interpreter: Interpreter,
  load: LoadFiles,
): Promise<CollectedCode> {
  const problems: Problem[] = [];
  const modules = new Map<string, string>();
  const texts = new Map<string, string>();
  for (const file of files.values()) {
    if (isCode(file.path) && file.text !== null) texts.set(file.path, file.text);
    if (file.path === entry && isParsed(file))
      for (const [path, text] of writtenModules(file.value)) modules.set(path, text);
  }
  const parsed = [...files.values()].filter(isParsed);
  const references = parsed.flatMap(functionsOf);
  const plugins = parsed.flatMap(pluginReferences);
  const wanted = new Set([...references.flatMap(({ paths }) => paths), ...plugins.flatMap(({ path }) => path ?? [])]);
  const asked = new Set<string>();
  let round = [...texts.keys(), ...wanted];
  while (round.length > 0 && modules.size <= maxModules) {
    const unread = round.filter((path) => !texts.has(path) && !asked.has(path) && !modules.has(path));
    for (const path of round) asked.add(path);
    for (const loaded of unread.length === 0 ? [] : await load(unread))
      if ('bytes' in loaded) {
        const { text, issue } = decodeText(loaded.bytes);
        if (issue) problems.push(problemAtFile(issue.rule, loaded.path, issue.message));
        else texts.set(loaded.path, text);
      } else if (loaded.problem.rule.startsWith('limit-')) problems.push(loaded.problem);
    const next = new Set<string>();
    for (const path of round) {
      const text = texts.get(path);
      if (text === undefined || modules.has(path)) continue;
      modules.set(path, text);
      for (const target of importedPaths(path, toScript(path, text, interpreter.erase).code))
        if (!modules.has(target) && !asked.has(target)) next.add(target);
    }
    round = [...next].sort();
  }
  const all = Object.fromEntries([...modules].sort(([a], [b]) => (a < b ? -1 : 1)));
  const made = new Map<string, ParsedFile | UnparsedFile>();
  const isUsed =
    modules.size + references.length + plugins.length > 0 || parsed.some((file) => namedIn(file).length > 0);
  const program = isUsed ? await interpreter.open(all, 0) : null;
  for (const file of files.values()) {
    made.set(file.path, file);
    if (program === null) continue;
    if (isParsed(file)) {
      const named: Record<string, string> = {};
      for (const { name, pointer, paths } of references.filter((one) => one.file === file)) {
        const path = paths.find((one) => modules.has(one));
        if (path === undefined) {
          const message = `The function ${JSON.stringify(name)} is not there: ${paths[0] ?? 'its name is not one of a file'}. Put it at that path of the same repository.`;
          problems.push(problemAt(file, pointer, 'ruleset-function', message));
        } else named[name] = path;
      }
      const listed = Object.entries(named).map(([name, reference]) => ({ name, reference, pointer: '/functions' }));
      for (const { name, reference, pointer } of [...namedIn(file), ...listed]) {
        const taken = takeFunction(program, reference);
        if ('failure' in taken)
          problems.push(failureAt(file, pointer, `The function ${JSON.stringify(name)}`, taken.failure, modules));
      }
      const more: Record<string, unknown> = {};
      if (Object.keys(named).length > 0)
        more[functionsMember] = { ...objectOf(objectOf(file.value)[functionsMember]), ...named };
      const own = plugins.filter((one) => one.file === file);
      if (own.length > 0) more[pluginsMember] = takePlugins(program, own);
      if (Object.keys(more).length === 0) continue;
      const withMore = (form: unknown) => ({ ...objectOf(form), ...more });
      made.set(file.path, { ...file, value: withMore(file.value), exact: withMore(file.exact) });
    } else if (isCode(file.path) && file.text !== null) {
      const taken = program.takeRuleset(file.path, Object.keys(coreFunctions));
      const atStart = unplaced(file.path, file.text, {});
      if ('failure' in taken) problems.push(failureAt(atStart, '', 'The ruleset', taken.failure, modules));
      const { ruleset, functions } = objectOf('value' in taken ? taken.value : null);
      const named = Object.fromEntries(listOf(functions).map((name) => [String(name), `${file.path}#${String(name)}`]));
      if (isObject(ruleset))
        made.set(file.path, unplaced(file.path, file.text, { ...ruleset, [functionsMember]: named }));
    }
  }
  return { modules: all, problems, files: made };

  function takePlugins(running: Program, named: readonly PluginReference[]): object[] {
    const ids = new Set<string>();
    return named.flatMap(({ file, name, pointer, path }) => {
      const report = (message: string) => {
        problems.push(problemAt(file, pointer, 'ruleset-function', message));
        return [];
      };
      const quoted = JSON.stringify(name.slice(0, 200));
      if (path === null || !(modules.has(path) || /^\.{0,2}\//.test(name) || isCode(name)))
        return report(
          `The plugin ${quoted} is a package, and only files of the same repository are read. Bundle it into one, and name that: npx esbuild ${name} --bundle --format=esm --platform=neutral --external:@redocly/openapi-core --outfile=plugin.mjs`,
        );
      if (!modules.has(path))
        return report(`The plugin ${quoted} is not there: ${path}. Put it at that path of the same repository.`);
      const taken = running.takePlugins(path);
      if ('failure' in taken) {
        problems.push(failureAt(file, pointer, `The plugin ${quoted}`, taken.failure, modules));
        return [];
      }
      return listOf(taken.value).flatMap((one) => {
        const plugin = isObject(one) ? toPlugin(one, path) : null;
        if (plugin === null) return report(`The plugin ${quoted} has an id that is empty, or has a slash or spaces.`);
        if (ids.has(plugin.id)) return report(`Two plugins have the id ${JSON.stringify(plugin.id)}. Rename one.`);
        ids.add(plugin.id);
        return [plugin];
      });
    });
  }
}

interface PluginReference {
  file: ParsedFile;
  name: string;
  pointer: string;
  path: string | null;
}

function pluginReferences(file: ParsedFile): PluginReference[] {
  const { plugins } = objectOf(file.value);
  const named = objectOf(file.value)[pluginsMember];
  // A ruleset that was published names the paths.
  if (Array.isArray(named))
    return [...new Set(named.map((one: unknown) => String(objectOf(one)['path'])))].map((path) => {
      return { file, name: path, pointer: joinPointer('', pluginsMember), path };
    });
  return listOf(plugins).flatMap((name, at) => {
    if (typeof name !== 'string') return [];
    const target = /^https?:/i.test(name) ? null : resolveReference(file.path, name);
    const path = target?.ok && target.fragment === null ? target.path : null;
    return [{ file, name, pointer: joinPointer('/plugins', at), path }];
  });
}

/** Prepares a function, whose name is its reference. */
export function takeFunction(program: Program, reference: string): Outcome {
  const at = reference.indexOf('#');
  if (at < 0) return program.takeFunction(reference);
  return program.takeRuleset(reference.slice(0, at), Object.keys(coreFunctions));
}

function writtenModules(value: unknown): [path: string, text: string][] {
  const written = Object.entries(objectOf(objectOf(value)[modulesMember]));
  return written.filter((one): one is [string, string] => typeof one[1] === 'string');
}

/** The functions of rulesets that were published with their code, in a file. */
function namedIn(file: ParsedFile): { name: string; reference: string; pointer: string }[] {
  const parts = [{ file, pointer: '' }, ...containedRulesets(file)];
  return parts.flatMap(({ file: { value }, pointer }) =>
    Object.entries(objectOf(objectOf(value)[functionsMember])).map(([name, reference]) => ({
      name,
      reference: String(reference),
      pointer: joinPointer(pointer, functionsMember, name),
    })),
  );
}

function functionsOf(file: ParsedFile): { file: ParsedFile; name: string; pointer: string; paths: string[] }[] {
  const { functions, functionsDir = 'functions' } = objectOf(file.value);
  const named = objectOf(objectOf(file.value)[functionsMember]);
  if (!Array.isArray(functions) || typeof functionsDir !== 'string') return [];
  return functions.flatMap((item: unknown, at) => {
    const name: unknown = Array.isArray(item) ? item[0] : item;
    // A ruleset that was published names them all.
    if (typeof name !== 'string' || Object.hasOwn(named, name)) return [];
    const paths = ['.js', '.mjs', '.cjs', '.ts'].flatMap((ending) => {
      const target = resolveReference(file.path, `${functionsDir.replace(/\/$/, '')}/${name}${ending}`);
      return target.ok && target.fragment === null ? [target.path] : [];
    });
    return [{ file, name, pointer: joinPointer('/functions', at), paths }];
  });
}

function failureAt(
  file: ParsedFile,
  pointer: string,
  what: string,
  failure: Failure,
  modules: ReadonlyMap<string, string>,
): Problem {
  const message = `${what} ${sayFailure(failure)}`;
  const [frame] = failure.frames;
  if (frame === undefined || !modules.has(frame.path)) return problemAt(file, pointer, ruleOf(failure), message);
  return { ...problemAtFile(ruleOf(failure), frame.path, message), line: frame.line, column: 1 };
}

/** The problem rule of a failure. */
export function ruleOf({ kind }: Failure): string {
  return kinds[kind].rule;
}

/** What happened, as the rest of a sentence, with the lines of the author. */
export function sayFailure({ kind, message, frames }: Failure): string {
  const places = frames.slice(0, maxFrames).map(({ path, line }) => `${path}:${line}`);
  const said = kinds[kind].said ?? `failed: ${message.replace(/\.$/, '')}.`;
  return places.length === 0 ? said : `${said} At ${places.join(', ')}.`;
}

const kinds: Readonly<Record<Failure['kind'], { rule: string; said: string | null }>> = {
  exception: { rule: 'ruleset-function', said: null },
  steps: {
    rule: 'function-steps',
    said: 'took too many steps and was stopped. Make it simpler, or have it look at less of the document.',
  },
  memory: { rule: 'function-memory', said: 'needed too much memory and was stopped.' },
  stack: { rule: 'function-stack', said: 'called itself too deeply and was stopped.' },
};

const maxFrames = 5;

/** The files of a published ruleset's code, and of each that it contains. Null if it has none. */
export function modulesOf(ruleset: unknown): Modules | null {
  return isObject(objectOf(ruleset)[modulesMember]) ? Object.fromEntries(writtenModules(ruleset)) : null;
}
