import { isObject } from '../model/json.ts';
import { allKinds, kindOfModule, kinds, type Kind } from '../model/kinds.ts';
import type { CompileLimits, FileBytes } from './compile.ts';
import { identityOf, identityOfText } from './identity.ts';
import { documentKinds } from './kinds.ts';
import type { Detected } from './sandboxes.ts';
import { parseFile, type ParsedFile } from './text/parse.ts';

type Found = Pick<Detected, 'type' | 'kind' | 'title'>;

/**
 * Returns the files that are documents of a known kind, judged by their root. A file that does not
 * parse is classified by its text, so that its report can say what is wrong. Runs in the sandbox.
 */
export function detectFiles(files: readonly FileBytes[], limits: CompileLimits): Detected[] {
  return files.flatMap(({ path, bytes }) => {
    const module = kindOfModule(path);
    if (module !== null) return [{ path, ...found(module)!, ...identityOf(null) }];
    const parsed = parseFile(path, bytes, limits);
    const kind = parsed.ok ? (kindOf(parsed.file.value) ?? namedKind(parsed.file)) : looksLike(bytes);
    if (kind === null) return [];
    return [{ path, ...kind, ...(parsed.ok ? identityOf(parsed.file.value) : identityOfText(bytes)) }];
  });
}

function found(kind: Kind | undefined, title: string | null = null): Found | null {
  return kind === undefined ? null : { type: kinds[kind].type, kind, title };
}

/** Guesses the kind of a file that does not parse, in any encoding that leaves ASCII readable. */
function looksLike(bytes: Uint8Array): Found | null {
  const text = Buffer.from(bytes).toString('latin1').replaceAll('\0', '');
  return found(allKinds.find((each) => documentKinds[each].text?.test(text) === true));
}

function namedKind(file: ParsedFile): Found | null {
  return found(allKinds.find((each) => documentKinds[each].isNamed?.(file) === true));
}

/** Returns the kind of a parsed document, judged by its root, or null if it is unknown. */
export function kindOf(value: unknown): Found | null {
  if (!isObject(value)) return null;
  const kind = allKinds.find((each) => documentKinds[each].isRoot(value));
  return found(kind, kind && documentKinds[kind].titleIn(value));
}
