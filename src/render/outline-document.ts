import type { Published } from '../compile/compile.ts';
import type { Outline } from '../model/outline.ts';
import { parseObject } from './json-value.ts';
import { readableKinds } from './kinds.ts';

/**
 * Returns the outline of a published document, or null if it is not a document of its kind. Pure.
 */
export function outlineDocument({ kind, json }: Published): Outline | null {
  const document = parseObject(json);
  if (document === null) return null;
  return readableKinds[kind].outline(document);
}
