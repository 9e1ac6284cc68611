import type { Exemption } from '../model/problem.ts';
import type { CompileLimits } from './compile.ts';
import { isObject } from './schema/schema-dialect.ts';
import { joinPointer } from './text/pointer.ts';
import { parseFile } from './text/parse.ts';

/** The file in which Redocly keeps the findings that it ignores: `{file: {rule: ['#/pointer']}}`. */
const fileName = '.redocly.lint-ignore.yaml';
const mostEntries = 10_000;

/** Where the file is looked for: at the root of the tree, and beside the document. */
export function lintIgnorePaths(entry: string): string[] {
  const folder = entry.slice(0, entry.lastIndexOf('/') + 1);
  return [...new Set([fileName, folder + fileName])];
}

/**
 * Reads exemptions from a `.redocly.lint-ignore.yaml`. Its paths start at its folder. Entries for
 * other files are left out, and so is everything that Redocly would not understand.
 */
export function readLintIgnore(
  path: string,
  bytes: Uint8Array,
  limits: CompileLimits,
  files: ReadonlySet<string>,
): Exemption[] {
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok || !isObject(parsed.file.value)) return [];
  const { value, locate } = parsed.file;
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const found: Exemption[] = [];
  for (const [name, rules] of Object.entries(value)) {
    const file = folder + name.replace(/^\.\//, '');
    if (!isObject(rules) || !files.has(file)) continue;
    for (const [rule, pointers] of Object.entries(rules))
      for (const [index, pointer] of (Array.isArray(pointers) ? pointers : []).entries()) {
        if (typeof pointer !== 'string' || found.length >= mostEntries) continue;
        const place = joinPointer('', name, rule, index);
        const at = { file: path, pointer: place, ...locate(place) };
        found.push({
          rule,
          pointer: pointer.replace(/^#\/?/, '').replace(/^(?=.)/, '/'),
          file,
          reason: `listed in ${fileName}`,
          at,
        });
      }
  }
  return found;
}
