import { formatOfFile, type Format } from '../../model/address.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import type { CompileLimits } from '../compile.ts';
import { scanJson } from './json-text.ts';
import { createPlaces, decodeText, type Place, type TextIssue } from './text.ts';
import { readYaml } from './yaml-text.ts';

/** A file that was parsed as one JSON or YAML document. */
export interface ParsedFile {
  /** Path in the snapshot. */
  path: string;
  /** The text of the file without its byte order mark. */
  text: string;
  format: Format;
  /**
   * Plain data: objects without shared or cyclic nodes, arrays, strings, numbers, booleans, null.
   */
  value: unknown;
  /**
   * Returns the position of the node at a JSON Pointer (RFC 6901): of its key (`key`) or its value
   * (`value`, the default). If there is no such node, returns that of its deepest existing
   * ancestor.
   */
  locate(pointer: string, on?: 'key' | 'value'): Place;
}

/** With `ok`, `problems` lists what did not prevent parsing, such as duplicate keys. */
export type Parsed = { ok: true; file: ParsedFile; problems: Problem[] } | { ok: false; problems: Problem[] };

/**
 * Parses bytes as one JSON or YAML document. A `.json` file is strict JSON (RFC 8259); any other is
 * YAML 1.2, which includes JSON. Never throws because of the content.
 */
export function parseFile(path: string, bytes: Uint8Array, limits: CompileLimits): Parsed {
  if (bytes.length > limits.fileBytes) return { ok: false, problems: [fileTooLarge(path, bytes.length, limits)] };
  const { text, issue } = decodeText(bytes);
  const place = createPlaces(text);
  const problems = (issues: readonly (TextIssue & { pointer?: string })[]): Problem[] =>
    issues.map(({ rule, severity, message, offset, pointer = '' }) => ({
      rule,
      severity,
      message,
      file: path,
      pointer,
      ...place(offset),
    }));
  if (issue) return { ok: false, problems: problems([issue]) };

  const format = formatOfFile(path);
  if (format === 'json' || /^\s*[{[]/.test(text)) {
    const json = scanJson(text, limits);
    if (json.ok) {
      const locate = (pointer: string, on: 'key' | 'value' = 'value') => place(json.find(pointer)[on]);
      return {
        ok: true,
        file: { path, text, format, value: JSON.parse(text), locate },
        problems: problems(json.issues),
      };
    }
    if (format === 'json' || json.issues.some(({ rule }) => rule.startsWith('limit-')))
      return { ok: false, problems: problems(json.issues) };
  }

  const yaml = readYaml(text, limits);
  if (!yaml.ok) return { ok: false, problems: problems(yaml.issues) };
  const locate = (pointer: string, on: 'key' | 'value' = 'value') => place(yaml.find(pointer)[on]);
  return { ok: true, file: { path, text, format, value: yaml.value, locate }, problems: problems(yaml.issues) };
}

/** Returns the problem for a file that exceeds the size limit. */
export function fileTooLarge(path: string, bytes: number, { fileBytes }: Pick<CompileLimits, 'fileBytes'>): Problem {
  return problemAtFile('limit-file-bytes', path, `The file has ${bytes} bytes; the limit is ${fileBytes}.`);
}
