import { posix } from 'node:path';
import type { Settings } from '../compile/compile.ts';

/** Whether a file name has the extension of a document. */
export const documentName = /\.(?:json|ya?ml)$/i;

const passedOver =
  /(?:^|\/)(?:node_modules|\.git)\/|(?:^|\/)(?:package(?:-lock)?|composer|tsconfig[^/]*)\.json$|(?:^|\/)(?:pnpm-lock|stele)\.yaml$/;

/**
 * Creates a filter for the paths that patterns and discovery search: documents by name, not
 * excluded by default or by `ignore`.
 */
export function createSearched(folder: string, settings: Settings | null): (path: string) => boolean {
  const ignored = new Set((settings?.ignore ?? []).map((path) => posix.join(folder, path).replace(/\/$/, '')));
  const isIgnored = (path: string): boolean =>
    path !== '.' && path !== '/' && (ignored.has(path) || isIgnored(posix.dirname(path)));
  return (path) => documentName.test(path) && !passedOver.test(path) && (ignored.size === 0 || !isIgnored(path));
}

/** Whether a path is in the followed folder. */
export function isWithin(path: string, folder: string): boolean {
  return folder === '' ? path !== '..' && !path.startsWith('../') : path.startsWith(`${folder}/`);
}
