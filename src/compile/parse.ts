import type { Problem } from '../model/problem.ts';
import type { Format } from '../model/address.ts';

/** A 1-based place in a text. Columns count UTF-16 code units. */
export interface Place {
  line: number;
  column: number;
}

/** A file that was read as one JSON or YAML document. */
export interface ParsedFile {
  /** Path in the snapshot. */
  path: string;
  /** The file's text without its byte order mark. */
  text: string;
  format: Format;
  /** Plain data: objects without shared or cyclic nodes, arrays, strings, numbers, booleans, null. */
  value: unknown;
  /**
   * Where the node of this JSON Pointer (RFC 6901) stands: its key (`key`) or its value (`value`, the default). A pointer into nothing
   * gives the deepest node on its way that exists.
   */
  locate(pointer: string, on?: 'key' | 'value'): Place;
}

export type Parsed = { ok: true; file: ParsedFile; problems: Problem[] } | { ok: false; problems: Problem[] };
