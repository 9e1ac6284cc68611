import { posix } from 'node:path';
import type { Settings } from '../compile/repository-reader.ts';
import { rulesetModule } from '../model/kinds.ts';

/** Whether a file name has the extension of a document. */
export const documentName = /\.(?:json|ya?ml)$/i;

// Files of well-known tools. They are never documents, so discovery does not mention them.
const ofTools =
  /(?:^|\/)(?:node_modules|\.git)\/|(?:^|\/)(?:package(?:-lock)?|composer|tsconfig[^/]*)\.json$|(?:^|\/)(?:pnpm-lock|stele)\.yaml$/;

/** The longest path of a document, in UTF-16 code units. No file system can check out longer ones. */
const longestPath = 4096;

/**
 * Creates a filter for the paths that patterns and discovery search: documents by name, except
 * those that `ignore` in `stele.yaml` excludes.
 */
export function createSearched(folder: string, settings: Settings | null): (path: string) => boolean {
  const ignored = new Set((settings?.ignore ?? []).map((path) => posix.join(folder, path).replace(/\/$/, '')));
  const isIgnored = (path: string): boolean =>
    path !== '.' && path !== '/' && (ignored.has(path) || isIgnored(posix.dirname(path)));
  return (path) =>
    (documentName.test(path) || rulesetModule.test(path)) &&
    path.length <= longestPath &&
    !ofTools.test(path) &&
    (ignored.size === 0 || !isIgnored(path));
}

/** Whether a path is in the followed folder. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' ? path !== '..' && !path.startsWith('../') : path.startsWith(`${folder}/`);
}
