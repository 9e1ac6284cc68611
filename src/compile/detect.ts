import { isObject } from '../model/json.ts';
import type { ResourceType } from '../model/address.ts';
import { rulesetModule, type Kind } from '../model/kinds.ts';
import type { CompileLimits } from './compile.ts';
import type { Detected, Identity, VersionFile } from './sandboxes.ts';
import { rulesetReferencePaths } from './ruleset/ruleset-files.ts';
import { parseAhead, type ParsedFile, parseFile } from './text/parse.ts';
import { createHash } from 'node:crypto';
import { labelFromVersion } from '../model/label.ts';
import { type Problem, problemAtFile } from '../model/problem.ts';
import { problemAt } from './kind.ts';
import { followPointer } from './text/pointer.ts';
import { decodeText } from './text/text.ts';

// Buffers, not strings: in Node 26, searching for a `utf16le` string never returns if the bytes
// start at an odd memory offset.
const keyMarks = ['openapi', 'swagger', '$schema', 'rules', 'extends'].flatMap((mark) => [
  Buffer.from(mark),
  Buffer.from(mark, 'utf16le'),
]);

/**
 * Whether a file may be a document, judged by its extension and a byte search. Does not parse it.
 */
export function mayBeDocument(path: string, bytes: Uint8Array): boolean {
  if (rulesetModule.test(path)) return true;
  if (!/\.(?:json|ya?ml)$/i.test(path)) return false;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return keyMarks.some((mark) => view.includes(mark));
}

/**
 * Returns the files that are documents of a known kind, judged by their root. A file that does not
 * parse is classified by its text, so that its report can say what is wrong. Runs in the sandbox.
 */
export function detectFiles(files: readonly { path: string; bytes: Uint8Array }[], limits: CompileLimits): Detected[] {
  return files.flatMap(({ path, bytes }) => {
    if (rulesetModule.test(path))
      return [{ path, type: 'rulesets', kind: 'spectral-ruleset', title: null, ...identityOf(null) }];
    const parsed = parseAhead(path, bytes, limits);
    const kind = parsed.ok ? (kindOf(parsed.file.value) ?? namedRuleset(parsed.file)) : looksLike(bytes);
    if (kind === null) return [];
    return [{ path, ...kind, ...(parsed.ok ? identityOf(parsed.file.value) : identityOfText(bytes)) }];
  });
}

/** The kind of a ruleset that only extends files: its name says it. */
function namedRuleset(file: ParsedFile): ReturnType<typeof kindOf> {
  const [, linter] = /(?:^|\/)\.?(spectral|redocly)\.(?:ya?ml|json)$/i.exec(file.path) ?? [];
  if (linter === undefined || rulesetReferencePaths(file).length === 0) return null;
  const kind = linter.toLowerCase() === 'spectral' ? 'spectral-ruleset' : 'redocly-ruleset';
  return { type: 'rulesets', kind, title: null };
}

/**
 * Guesses the kind of a file that does not parse, from a key at the start of a line in any encoding
 * that leaves ASCII readable.
 */
function looksLike(bytes: Uint8Array): ReturnType<typeof kindOf> {
  const text = Buffer.from(bytes).toString('latin1').replaceAll('\0', '');
  if (
    /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(?:(?:openapi|swagger) *:| {0,8}\t?[{,]? ?"(?:openapi|swagger)" *:) *["']?\d/m.test(
      text,
    )
  )
    return { type: 'apis', kind: 'openapi', title: null };
  if (/^(?:\$schema *:| {0,8}\t?[{,]? ?"\$schema" *:) *["']?https?:\/\/json-schema\.org\//m.test(text))
    return { type: 'schemas', kind: 'json-schema', title: null };
  return null;
}

/** Returns the kind of a parsed document, judged by its root, or null if it is unknown. */
export function kindOf(value: unknown): { type: ResourceType; kind: Kind; title: string | null } | null {
  if (!isObject(value)) return null;
  if (isVersion(value['openapi']) || isVersion(value['swagger'])) {
    const info = isObject(value['info']) ? value['info'] : {};
    return { type: 'apis', kind: 'openapi', title: nonBlank(info['title']) };
  }
  if (typeof value['$schema'] === 'string')
    return dialectUri.test(value['$schema'])
      ? { type: 'schemas', kind: 'json-schema', title: nonBlank(value['title']) }
      : null;
  const title = nonBlank(value['title']) ?? nonBlank(value['x-title']);
  if (isSpectral(value)) return { type: 'rulesets', kind: 'spectral-ruleset', title };
  return isRedocly(value) ? { type: 'rulesets', kind: 'redocly-ruleset', title } : null;
}

const dialectUri = /^https?:\/\/json-schema\.org\/(?:draft-0[0-9]|draft\/20\d\d-\d\d)\/schema#?$/;

function isVersion(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+(?:\.\d+)*(?:[-+.]|$)/.test(value));
}

function nonBlank(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Spectral: a rule has both `given` and `then`, or a built-in ruleset is extended. */
function isSpectral(value: Record<string, unknown>): boolean {
  const rules = isObject(value['rules']) ? Object.values(value['rules']) : [];
  if (rules.some((rule) => isObject(rule) && 'given' in rule && 'then' in rule)) return true;
  return extended(value).some((name) =>
    /^spectral:(?:oas|asyncapi|arazzo)$|@stoplight\/spectral-owasp-ruleset\b/.test(name),
  );
}

function extended(value: Record<string, unknown>): string[] {
  const extend = value['extends'];
  return (Array.isArray(extend) ? extend.flat() : [extend]).filter((name) => typeof name === 'string');
}

const redoclyPresets = new Set(['minimal', 'recommended', 'recommended-strict', 'spec', 'all']);
const redoclyRoot = new Set(
  [
    'apis',
    'decorators',
    'extends',
    'plugins',
    'preprocessors',
    'resolve',
    'rules',
    'theme',
    'openapi',
    'telemetry',
    'scorecard',
  ]
    .concat(['arazzo1Rules', 'async2Rules', 'async3Rules', 'oas2Rules', 'oas3_0Rules', 'oas3_1Rules', 'oas3_2Rules'])
    .concat(['overlay1Rules', 'struct', 'apiDefinitions', 'lint', 'name', 'version', 'title', 'description']),
);
const redoclySeverities = new Set(['error', 'warn', 'off']);

/**
 * Redocly: the root has only Redocly's keys, and the ruleset extends a built-in one or has rules
 * with Redocly's severities.
 */
function isRedocly(value: Record<string, unknown>): boolean {
  if (!Object.keys(value).every((key) => redoclyRoot.has(key) || key.startsWith('x-'))) return false;
  const rules = isObject(value['rules']) ? Object.entries(value['rules']) : [];
  const carries = rules.some(([name, rule]) => isRedoclyRule(name, rule));
  if (rules.length > 0 && !rules.every(([, rule]) => typeof rule === 'string' || isObject(rule))) return false;
  if (carries) return true;
  return rules.length === 0 && extended(value).some((name) => redoclyPresets.has(name)) && 'extends' in value;
}

/** Redocly's rules have a severity. An assertion (`rule/…`) is also recognized by its subject. */
function isRedoclyRule(name: string, rule: unknown): boolean {
  if (/^(?:rule|assert)\//.test(name)) return isObject(rule) && ('subject' in rule || 'assertions' in rule);
  if (!redoclyRuleNames.test(name)) return false;
  return isObject(rule) ? true : redoclySeverities.has(String(rule));
}

// Matches the names of Redocly's built-in rules and no rule of a code linter.
const redoclyRuleNames =
  /^(?:struct|spec|info-|operation-|operations?-|path-|paths?-|tags?-|no-(?:server|path|identical-paths|ambiguous-paths|unresolved-refs|invalid-|enum-|example-|unused-components|http-verbs|required-schema|schema-type|undefined-server|illogical|duplicated|mixed|query|component|empty-servers)|security-|parameter-|request-|response-|boolean-|scalar-|component-|configurable|nullable|spec-|array-|rule\/|array|discriminator|required-)/;

/** How many of a document's paths are compared with those of others. */
const maxPaths = 32;

/** A placeholder of Jinja, Handlebars, Helm, Go, Liquid, ERB or a shell. */
const placeholder = /\{\{|\{%|<%|\$\{/;

/** Returns the identity of a parsed document. */
export function identityOf(value: unknown): Identity {
  const root = isObject(value) ? value : {};
  const info = isObject(root['info']) ? root['info'] : {};
  const written = root['openapi'] === undefined && root['swagger'] === undefined ? root['version'] : info['version'];
  const version = written ?? root['x-version'];
  const paths = ['paths', 'webhooks'].flatMap((key) => (isObject(root[key]) ? Object.keys(root[key]) : []));
  const marks = paths.map((path) => createHash('sha256').update(path).digest('hex').slice(0, 16)).sort();
  return {
    version: typeof version === 'string' || typeof version === 'number' ? `${version}`.slice(0, 100) : null,
    paths: marks.slice(0, maxPaths),
    shape: marks.length === 0 ? null : createHash('sha256').update(marks.join()).digest('hex').slice(0, 32),
    isTemplate: isTemplate(root, info),
  };
}

/** Returns the same for a file that does not parse, judged by its text. */
function identityOfText(bytes: Uint8Array): Identity {
  const hasPlaceholder = placeholder.test(Buffer.from(bytes).toString('latin1'));
  return { version: null, paths: [], shape: null, isTemplate: hasPlaceholder };
}

/**
 * Whether a document's name or version is a placeholder, so that only a generator can make a
 * document of it. YAML reads `{{ name }}` without quotes as an object. Placeholders elsewhere are
 * usual in descriptions and examples.
 */
function isTemplate(root: Record<string, unknown>, info: Record<string, unknown>): boolean {
  const names = [root['openapi'], root['swagger'], root['title'], root['$id'], root['host'], root['basePath']];
  return [...names, info['title'], info['version']].some((name) =>
    typeof name === 'string' ? placeholder.test(name) : isObject(name) && isDoubled(name),
  );
}

/** Whether an object is what YAML makes of `{{ name }}`: one key, which is itself an object. */
function isDoubled(value: Record<string, unknown>): boolean {
  const [key, ...others] = Object.keys(value);
  return key !== undefined && others.length === 0 && /^\{.*\}$/s.test(key.trim());
}

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
    if (isOneVersion(version)) return { version };
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
  return isOneVersion(version)
    ? { version }
    : refuse(parsed.file, pointer, `The value at ${pointer} is not a valid version.`);
}

function isOneVersion(text: string): boolean {
  return /^\S{1,200}$/.test(text) && labelFromVersion(text) !== null;
}

function refuse(file: ParsedFile, pointer: string, message: string): { problem: Problem } {
  return { problem: problemAt(file, pointer, 'version-file', message) };
}
