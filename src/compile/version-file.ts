import { labelFromVersion } from '../model/label.ts';
import type { Problem } from '../model/problem.ts';
import type { CompileLimits, VersionFile } from './compile.ts';
import { problemAt } from './kind.ts';
import { parseFile, type ParsedFile } from './text/parse.ts';
import { followPointer } from './text/pointer.ts';
import { decodeText } from './text/text.ts';
import { problemAtFile } from '../model/problem.ts';

/** The version that a file holds, for `version: {file, pointer}` of a `stele.yaml`, or why it holds none. Runs in the sandbox. */
export function readVersion(
  { path, bytes, pointer }: VersionFile,
  limits: CompileLimits,
): { version: string } | { problem: Problem } {
  if (pointer === null) {
    const { text, issue } = decodeText(bytes.subarray(0, limits.fileBytes));
    if (issue !== null) return { problem: problemAtFile('version-file', path, issue.message) };
    const version = text.trim();
    if (isVersion(version)) return { version };
    return { problem: problemAtFile('version-file', path, 'The file is to hold one version and nothing else.') };
  }
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) return { problem: parsed.problems[0]! };
  const found = followPointer(parsed.file.value, pointer);
  if (!found.found) return refuse(parsed.file, pointer, `There is nothing at ${pointer}.`);
  if (typeof found.value !== 'string')
    return refuse(parsed.file, pointer, `${pointer} is no string: write it in quotes.`);
  const version = found.value.trim();
  return isVersion(version) ? { version } : refuse(parsed.file, pointer, `${pointer} cannot be a version.`);
}

function isVersion(text: string): boolean {
  return /^\S{1,200}$/.test(text) && labelFromVersion(text) !== null;
}

function refuse(file: ParsedFile, pointer: string, message: string): { problem: Problem } {
  return { problem: problemAt(file, pointer, 'version-file', message) };
}
