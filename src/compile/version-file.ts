import { labelFromVersion } from '../model/label.ts';
import type { Problem } from '../model/problem.ts';
import type { CompileLimits } from './compile.ts';
import type { VersionFile } from './repository-reader.ts';
import { problemAt } from './kind.ts';
import { parseFile, type ParsedFile } from './text/parse.ts';
import { followPointer } from './text/pointer.ts';
import { decodeText } from './text/text.ts';
import { problemAtFile } from '../model/problem.ts';

/**
 * Reads the version from a file, for `version: {file, pointer}` in `stele.yaml`. Returns the
 * problem if there is none. Runs in the sandbox.
 */
export function readVersion(
  { path, bytes, pointer }: VersionFile,
  limits: CompileLimits,
): { version: string } | { problem: Problem } {
  if (pointer === null) {
    const { text, issue } = decodeText(bytes.subarray(0, limits.fileBytes));
    if (issue !== null) return { problem: problemAtFile('version-file', path, issue.message) };
    const version = text.trim();
    if (isVersion(version)) return { version };
    return {
      problem: problemAtFile(
        'version-file',
        path,
        'The file must contain one version and nothing else. To read the version from a key, set version.pointer in stele.yaml.',
      ),
    };
  }
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) return { problem: parsed.problems[0]! };
  const target = followPointer(parsed.file.value, pointer);
  if (!target.found) return refuse(parsed.file, pointer, `The file has no value at ${pointer}.`);
  if (typeof target.value !== 'string')
    return refuse(parsed.file, pointer, `The version at ${pointer} must be a string. Put it in quotes.`);
  const version = target.value.trim();
  return isVersion(version)
    ? { version }
    : refuse(parsed.file, pointer, `The value at ${pointer} is not a valid version.`);
}

function isVersion(text: string): boolean {
  return /^\S{1,200}$/.test(text) && labelFromVersion(text) !== null;
}

function refuse(file: ParsedFile, pointer: string, message: string): { problem: Problem } {
  return { problem: problemAt(file, pointer, 'version-file', message) };
}
