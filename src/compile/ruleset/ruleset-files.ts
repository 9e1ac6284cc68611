import { isObject, type JsonObject } from '../../model/json.ts';
import { isUrlPath, parseCoordinate, parseDocumentUrl } from '../../model/address.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import { isParsed, type Files } from '../kind.ts';
import { resolveReference } from '../reference.ts';
import type { ParsedFile } from '../text/parse.ts';

export type Ruleset = Readonly<JsonObject>;

/** What a ruleset extends: `null` if the name is not known. */
export type FindRuleset = (name: string) => Ruleset | null;

/** How deeply rulesets may extend each other. */
export const maxLevels = 10;

/** Which of the rules of what it extends are on. */
export type Which = 'recommended' | 'all' | 'off';

/** The rulesets that one extends, each with the part that is on, or null if it does not say, and its pointer. */
export function extendsOf(ruleset: Ruleset): [target: string | Ruleset, which: Which | null, pointer: string][] {
  const written = ruleset['extends'];
  return [written].flat().flatMap((item: unknown, at): [string | Ruleset, Which | null, string][] => {
    const [target, which] = Array.isArray(item) ? (item as unknown[]) : [item, null];
    if (typeof target !== 'string' && !isObject(target)) return [];
    const pointer = `/extends${Array.isArray(written) ? `/${at}` : ''}${Array.isArray(item) ? '/0' : ''}`;
    return [[target, which === 'all' || which === 'off' || which === 'recommended' ? which : null, pointer]];
  });
}

/** Whether a name in `extends` is the coordinate of a ruleset. The registry resolves it. */
export function isRulesetCoordinate(name: unknown): name is string {
  return typeof name === 'string' && parseCoordinate(name)?.coordinate.type === 'rulesets';
}

/** The path of a neighbouring file, or the URL of a published ruleset, that `extends` names, or null if it names something else. */
function fileOf(from: string, name: unknown): string | null {
  if (typeof name === 'string' && parseDocumentUrl(name)?.coordinate.type === 'rulesets') return name;
  if (typeof name !== 'string' || !/\.(?:json|ya?ml|[cm]?[jt]s)$/i.test(name) || isRulesetCoordinate(name)) return null;
  const target = resolveReference(from, name);
  return target.ok && target.fragment === null ? target.path : null;
}

/** Returns the paths in the tree that a ruleset extends. */
export function rulesetReferencePaths(file: ParsedFile): string[] {
  return extendedBy(file).filter((path) => !isUrlPath(path));
}

/** Returns the URLs of published rulesets that a ruleset extends. */
export function rulesetAddresses(file: ParsedFile): Map<string, readonly string[]> {
  return new Map(extendedBy(file).flatMap((path) => (isUrlPath(path) ? [[path, []]] : [])));
}

function extendedBy(file: ParsedFile): string[] {
  if (!isObject(file.value)) return [];
  const overrides = listOf(file.value['overrides']).filter(isObject);
  const names = [file.value, ...overrides].flatMap((part) => extendsOf(part).map(([target]) => target));
  return [...new Set(names.flatMap((name) => fileOf(file.path, name) ?? []))];
}

/** The files that a ruleset extends, as part of it. */
export interface Inlined {
  /** The ruleset with the files that it extends, and with all digits of its integers. */
  ruleset: JsonObject;
  /** All files that it extends, also through others. */
  used: ReadonlySet<ParsedFile>;
  /** Finds the rulesets that a file of the ruleset extends by path. */
  findFor(file: ParsedFile): FindRuleset;
}

/** The member of an inlined ruleset that names its file. */
const fileMember = 'x-stele-file';

/**
 * Puts the files that a ruleset extends in the place of their names. A file that leads back to
 * itself, or is missing, stays a name, and so is an error.
 */
export function inlineFiles(entry: ParsedFile, files: Files): Inlined {
  const used = new Set<ParsedFile>();

  function inline(from: ParsedFile, value: Ruleset, within: readonly string[], form: 'value' | 'exact'): Ruleset {
    if (!extendsOf(value).some(([target]) => fileOf(from.path, target) !== null) && !Array.isArray(value['overrides']))
      return value;
    const replace = (item: unknown): unknown => {
      if (Array.isArray(item)) return [replace(item[0]), ...(item.slice(1) as unknown[])];
      return load(from, item, within, form) ?? item;
    };
    const written = value['extends'];
    const overrides = value['overrides'];
    return {
      ...value,
      ...(written !== undefined && { extends: Array.isArray(written) ? written.map(replace) : replace(written) }),
      ...(Array.isArray(overrides) && {
        overrides: overrides.map((part: unknown) => (isObject(part) ? inline(from, part, within, form) : part)),
      }),
    };
  }

  function load(from: ParsedFile, name: unknown, within: readonly string[], form: 'value' | 'exact'): Ruleset | null {
    const path = fileOf(from.path, name);
    const file = path === null ? undefined : files.get(path);
    if (path === null || !isParsed(file) || !isObject(file[form])) return null;
    if (within.includes(path) || within.length > maxLevels) return null;
    used.add(file);
    return { [fileMember]: path, ...inline(file, file[form], [...within, path], form) };
  }

  return {
    ruleset: inline(entry, entry.exact as Ruleset, [entry.path], 'exact') as JsonObject,
    used,
    findFor: (file) => (name) => load(file, name, [entry.path, file.path], 'value'),
  };
}

/**
 * Finds the rulesets that a file contains in the place of names in `extends`, as one does that was published with its
 * files. Each is read as a file of its own. `pointer`: where it is in the file that contains it.
 */
export function* containedRulesets(file: ParsedFile, pointer = ''): Generator<{ file: ParsedFile; pointer: string }> {
  if (!isObject(file.value)) return;
  for (const [index, part] of [file.value, ...listOf(file.value['overrides'])].entries()) {
    for (const [value, , place] of extendsOf(objectOf(part))) {
      if (typeof value === 'string') continue;
      const basePointer = `${index === 0 ? '' : `/overrides/${index - 1}`}${place}`;
      const inner: ParsedFile = {
        ...file,
        value,
        exact: value,
        locate: (below, on) => file.locate(basePointer + below, on),
      };
      yield { file: inner, pointer: pointer + basePointer };
      yield* containedRulesets(inner, pointer + basePointer);
    }
  }
}

/** The message for a name in `extends` that leads to nothing. */
export function cannotExtend(name: string, presets: Iterable<string>): string {
  const shown = JSON.stringify(name.slice(0, 200));
  if (parseDocumentUrl(name) !== null)
    return `${shown} is not a ruleset that may be read here. Publish it, or check its address.`;
  if (/^https?:/.test(name))
    return `${shown} is a URL, and URLs are not fetched. Publish that ruleset and extend its coordinate, such as "@acme/rulesets/style", or copy its rules into this one.`;
  if (/\.[cm]?[jt]s$/.test(name)) return `${shown} is code, which is not run here. Copy its rules into this ruleset.`;
  if (/\.(?:json|ya?ml)$/i.test(name))
    return `The file ${shown} is not there, or it extends this one. Put it at that path of the same repository. A ruleset that is uploaded has no files beside it: extend a coordinate such as "@acme/rulesets/style".`;
  return `${shown} is not known. Extend a built-in ruleset (${[...presets].join(', ')}), a coordinate such as "@acme/rulesets/style", or a file of the same repository.`;
}
