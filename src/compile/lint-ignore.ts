import { isObject } from '../model/json.ts';
import type { Exemption, Problem } from '../model/problem.ts';
import type { CompileLimits } from './compile.ts';
import { fromFragment, joinPointer } from '../model/pointer.ts';
import { listOf, objectOf } from '../render/json-value.ts';
import { problemAt } from './kind.ts';
import { parseFile } from './text/parse.ts';

/** The file in which Redocly keeps the findings that it ignores: `{file: {rule: ['#/pointer']}}`. */
const fileName = '.redocly.lint-ignore.yaml';
const maxEntries = 10_000;

/** Where the file is looked for: at the root of the tree, and beside the document. */
export function lintIgnorePaths(entry: string): string[] {
  const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
  return [...new Set([fileName, folder + fileName])];
}

/** The contents of a `.redocly.lint-ignore.yaml`. */
export interface LintIgnore {
  exemptions: Exemption[];
  /** Warnings about entries that cannot be read and so have no effect. */
  problems: Problem[];
}

/**
 * Reads exemptions from a `.redocly.lint-ignore.yaml`. Its paths start at its folder. Entries for
 * other files are left out.
 */
export function readLintIgnore(
  path: string,
  bytes: Uint8Array,
  limits: CompileLimits,
  files: ReadonlySet<string>,
): LintIgnore {
  const read: LintIgnore = { exemptions: [], problems: [] };
  // Redocly keeps a file with only comments if nothing is ignored.
  if (isBlank(bytes)) return read;
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) {
    const [first] = parsed.problems;
    const message = `${first!.message} Nothing in this file is exempted.`;
    return { ...read, problems: [{ ...first!, severity: 'warning', message }] };
  }
  const { value, locate } = parsed.file;
  const warn = (pointer: string, message: string) => {
    if (read.problems.length >= maxWarnings) return;
    read.problems.push(problemAt(parsed.file, pointer, 'settings', message, { severity: 'warning' }));
  };
  if (!isObject(value)) warn('', 'This file must name files, their rules, and lists of pointers.');
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  for (const [name, rules] of Object.entries(objectOf(value))) {
    const file = folder + name.replace(/^\.\//, '');
    if (!files.has(file)) continue;
    if (!isObject(rules)) warn(joinPointer('', name), 'This must name rules, each with a list of pointers.');
    for (const [rule, pointers] of Object.entries(objectOf(rules))) {
      if (!Array.isArray(pointers)) warn(joinPointer('', name, rule), listExpected);
      for (const [index, pointer] of listOf(pointers).entries()) {
        if (read.exemptions.length >= maxEntries) return read;
        const place = joinPointer('', name, rule, index);
        const at = { file: path, pointer: place, ...locate(place) };
        if (typeof pointer === 'string')
          read.exemptions.push({ rule, pointer: fromFragment(pointer), file, reason: `listed in ${fileName}`, at });
        else warn(place, listExpected);
      }
    }
  }
  return read;
}

const maxWarnings = 100;
const listExpected = "A rule must have a list of pointers, such as ['#/paths/~1pets/get'].";

function isBlank(bytes: Uint8Array): boolean {
  if (bytes.length > 10_000) return false;
  const lines = Buffer.from(bytes).toString().split('\n');
  return lines.every((line) => /^\s*(#|$)/.test(line));
}
