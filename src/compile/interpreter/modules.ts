import { parse } from 'es-module-lexer/minimal/js';
import { resolveReference } from '../reference.ts';

/** The files of a ruleset's code by path, as written. */
export type Modules = Readonly<Record<string, string>>;

/** Erases the types of TypeScript. Throws a `SyntaxError` for what is not only types. */
export type Erase = (text: string) => string;

const endings = ['.js', '.cjs', '.mjs', '.ts', '/index.js'];

/** Whether a file is code, by its name. */
export function isCode(path: string): boolean {
  return /\.[cm]?[jt]s$/i.test(path);
}

/** The paths of files that a file of code may import. Extra paths do no harm. */
export function importedPaths(path: string, text: string): string[] {
  const names = [...text.matchAll(/\brequire\s*\(\s*(['"`])(\.[^'"`\n]*)\1\s*\)/g)].map(([, , name]) => name!);
  try {
    names.push(...parse(text)[0].flatMap(({ n }) => (n?.startsWith('.') ? [n] : [])));
  } catch {
    // The interpreter says where the fault is.
  }
  return [...new Set(names)].flatMap((name) => {
    const target = resolveReference(path, name);
    if (!target.ok) return [];
    if (/\.(?:[cm]?[jt]s|json)$/.test(target.path)) {
      const typed = target.path.replace(/\.([cm]?)js$/, '.$1ts');
      return /\.[cm]?ts$/.test(path) && typed !== target.path ? [target.path, typed] : [target.path];
    }
    return endings.map((ending) => target.path + ending);
  });
}

/** Prepares a file for the interpreter: JSON becomes a module, and TypeScript loses its types. Lines are those of the author. */
export function toScript(path: string, text: string, erase: Erase): { code: string; isModule: boolean } {
  if (path.endsWith('.json')) return { code: `module.exports = ${text};`, isModule: false };
  let code = text.replace(/^#!/, '//');
  if (/\.[cm]?ts$/.test(path)) {
    try {
      code = erase(code);
    } catch {
      // The interpreter says where the fault is.
    }
  }
  if (path.endsWith('.cjs') || path.endsWith('.cts')) return { code, isModule: false };
  if (path.endsWith('.mjs') || path.endsWith('.mts')) return { code, isModule: true };
  try {
    const [imports, exports] = parse(code);
    // Not import(), which CommonJS has too.
    return { code, isModule: exports.length > 0 || imports.some(({ d }) => d < 0) };
  } catch {
    return { code, isModule: /^\s*(?:import|export)\b/m.test(code) };
  }
}
