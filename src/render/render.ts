import type { Published, Rendered } from '../compile/compile.ts';

/** A published document made readable. Null for what is no document of its kind. */
export function renderDocument(_document: Published): Rendered | null {
  return null;
}
