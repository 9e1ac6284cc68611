import type { Published } from '../compile/compile.ts';
import type { Outline } from '../model/outline.ts';

/** What is in a published document, in short. Null for what is no document of its kind. */
export function outlineDocument(_document: Published): Outline | null {
  return null;
}
