import { followPointer } from './pointer.ts';
import type { ParsedFile } from './parse.ts';

/** Messages of validators for a number or boolean in place of a text. */
const wantsText = /(?:must be string, not|Expected type `string` but got) `?(?:number|integer|boolean)\b/;

/** Adds advice to a message about a number that should be a text, such as `version: 3.10`. */
export function adviseQuotes(file: ParsedFile, pointer: string, message: string): string {
  return wantsText.test(message) ? `${message} Put it in quotes${shownAs(file, pointer)}.` : message;
}

/** A version as it is written: YAML reads `3.10` as 3.1. Empty for other members. */
function shownAs(file: ParsedFile, pointer: string): string {
  const written = /\/(?:version|openapi|swagger)$/.test(pointer) ? numberAt(file, pointer) : null;
  return written === null ? '' : `: ${JSON.stringify(written)}`;
}

/** The number at a pointer as the author wrote it. Null if it is none. */
export function numberAt(file: ParsedFile, pointer: string): string | null {
  const node = followPointer(file.value, pointer);
  if (!node.found || typeof node.value !== 'number') return null;
  const { line, column } = file.locate(pointer);
  const [, written] =
    /^(?:[&!]\S+ +)*([-+.\w]+)/.exec(file.text.split(/\r\n|\r|\n/)[line - 1]?.slice(column - 1) ?? '') ?? [];
  return written !== undefined && Number(written) === node.value ? written : null;
}
