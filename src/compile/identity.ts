import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../model/json.ts';
import { objectOf } from '../render/json-value.ts';
import { labelFromVersion } from '../model/label.ts';
import { problemAtFile } from '../model/problem.ts';
import type { CompileLimits } from './compile.ts';
import { problemAt } from './kind.ts';
import type { Identity, ReadVersion, VersionFile } from './sandboxes.ts';
import { type ParsedFile, parseFile } from './text/parse.ts';
import { followPointer } from '../model/pointer.ts';
import { decodeText } from './text/text.ts';

/** How many of a document's paths are compared with those of others. */
const maxPaths = 32;

/** A placeholder of Jinja, Handlebars, Helm, Go, Liquid, ERB or a shell. */
const placeholder = /\{\{|\{%|<%|\$\{/;

/** Returns the identity of a parsed document. */
export function identityOf(value: unknown): Identity {
  const root = objectOf(value);
  const info = objectOf(root['info']);
  const written = root['openapi'] === undefined && root['swagger'] === undefined ? root['version'] : info['version'];
  const version = written ?? root['x-version'];
  const paths = ['paths', 'webhooks'].flatMap((key) => Object.keys(objectOf(root[key])));
  const marks = paths.map((path) => createHash('sha256').update(path).digest('hex').slice(0, 16)).sort();
  return {
    version: typeof version === 'string' || typeof version === 'number' ? `${version}`.slice(0, 100) : null,
    paths: marks.slice(0, maxPaths),
    shape: marks.length === 0 ? null : createHash('sha256').update(marks.join()).digest('hex').slice(0, 32),
    isTemplate: isTemplate(root, info),
  };
}

/** Returns the same for a file that does not parse, judged by its text. */
export function identityOfText(bytes: Uint8Array): Identity {
  const hasPlaceholder = placeholder.test(Buffer.from(bytes).toString('latin1'));
  return { version: null, paths: [], shape: null, isTemplate: hasPlaceholder };
}

/**
 * Whether a document's name or version is a placeholder, so that only a generator can make a
 * document of it. YAML reads `{{ name }}` without quotes as an object. Placeholders elsewhere are
 * usual in descriptions and examples.
 */
function isTemplate(root: JsonObject, info: JsonObject): boolean {
  const names = [root['openapi'], root['swagger'], root['title'], root['$id'], root['host'], root['basePath']];
  return [...names, info['title'], info['version']].some((name) =>
    typeof name === 'string' ? placeholder.test(name) : isObject(name) && isDoubled(name),
  );
}

/** Whether an object is what YAML makes of `{{ name }}`: one key, which is itself an object. */
function isDoubled(value: JsonObject): boolean {
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 && /^\{.*\}$/s.test(key.trim());
}

/**
 * Reads the version from a file, for `version: {file, pointer}` in `stele.yaml`. Returns the
 * problem if there is none. Runs in the sandbox.
 */
export function readVersion({ path, bytes, pointer }: VersionFile, limits: CompileLimits): ReadVersion {
  if (pointer === null) {
    const { text, issue } = decodeText(bytes.subarray(0, limits.fileBytes));
    const version = text.trim();
    if (issue === null && isOneVersion(version)) return { version };
    return { problem: problemAtFile('version-file', path, issue?.message ?? oneVersion) };
  }
  const parsed = parseFile(path, bytes, limits);
  if (!parsed.ok) return { problem: parsed.problems[0]! };
  const value = followPointer(parsed.file.value, pointer);
  if (value === undefined) return refuse(parsed.file, pointer, `The file has no value at ${pointer}.`);
  if (typeof value !== 'string')
    return refuse(parsed.file, pointer, `The version at ${pointer} must be a string. Put it in quotes.`);
  const version = value.trim();
  return isOneVersion(version)
    ? { version }
    : refuse(parsed.file, pointer, `The value at ${pointer} is not a valid version.`);
}

const oneVersion =
  'The file must contain one version and nothing else. To read the version from a key, set version.pointer in stele.yaml.';

function isOneVersion(text: string): boolean {
  return /^\S{1,200}$/.test(text) && labelFromVersion(text) !== null;
}

function refuse(file: ParsedFile, pointer: string, message: string): ReadVersion {
  return { problem: problemAt(file, pointer, 'version-file', message) };
}
