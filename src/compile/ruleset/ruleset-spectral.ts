import type { Problem } from '../../model/problem.ts';
import { closest } from '../../model/closest.ts';
import { problemAt } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { checkPath } from './ruleset-path.ts';
import { isObject } from '../schema/schema-dialect.ts';

/** The core functions of Spectral 6. */
const coreFunctions: ReadonlySet<string> = new Set(
  'alphabetical casing defined enumeration falsy length or pattern schema truthy typedEnum undefined unreferencedReusableObject xor'.split(' '), // prettier-ignore
);

/** The document formats of Spectral 6, with the spellings of earlier releases. */
const formats: ReadonlySet<string> = new Set(
  [
    'oas2 oas3 oas3.0 oas3.1 oas3.2 oas3_0 oas3_1 oas3_2 arazzo1 arazzo1.0 arazzo1_0 asyncapi2 asyncapi3',
    'aas2 aas2_0 aas2_1 aas2_2 aas2_3 aas2_4 aas2_5 aas2_6 aas3 aas3_0',
    'json-schema json-schema-loose json-schema-draft4 json-schema-draft6 json-schema-draft7',
    'json-schema-draft-2019-09 json-schema-2019-09 json-schema-draft-2020-12 json-schema-2020-12',
  ].flatMap((line) => line.split(' ')),
);

const presets = new Set(['spectral:oas', 'spectral:asyncapi', 'spectral:arazzo']);
const members = 'title description version x-version documentationUrl formats extends rules aliases parserOptions except overrides'.split(' '); // prettier-ignore
const list = (names: Iterable<string>) => [...names].join(', ');

/**
 * Checks a Spectral ruleset beyond its schema. `broken`: pointers that already have a schema error.
 */
export async function checkSpectralRuleset(
  entry: ParsedFile,
  ruleset: Record<string, unknown>,
  broken: ReadonlySet<string>,
): Promise<Problem[]> {
  const problems = Object.keys(ruleset).flatMap((key) => checkMember(entry, key));
  const overrides = Array.isArray(ruleset['overrides']) ? ruleset['overrides'] : [];
  const aliases = new Set(
    [ruleset, ...overrides].flatMap((part: unknown) =>
      isObject(part) && isObject(part['aliases']) ? Object.keys(part['aliases']) : [],
    ),
  );
  const own = isObject(ruleset['rules']) ? ruleset['rules'] : {};
  const inherits = ruleset['extends'] !== undefined;
  problems.push(...checkPart(entry, '', ruleset, aliases, (name) => inherits || isObject(own[name])));
  overrides.forEach((part: unknown, at: number) => {
    if (!isObject(part)) return;
    const isKnown = (name: string) => inherits || part['extends'] !== undefined || Object.hasOwn(own, name);
    problems.push(...checkPart(entry, joinPointer('/overrides', at), part, aliases, isKnown));
  });
  return problems.filter(({ pointer }) => !broken.has(pointer));
}

function checkMember(entry: ParsedFile, key: string): Problem[] {
  const at = joinPointer('', key);
  if (key === 'functions' || key === 'functionsDir') {
    const message = `"${key}" loads code, which is never run. Use the core functions: ${list(coreFunctions)}.`;
    return [problemAt(entry, at, 'ruleset-refused', message, { on: 'key' })];
  }
  if (members.includes(key) || key.startsWith('x-')) return [];
  const message = `${JSON.stringify(key)} is not a member of a Spectral ruleset and is ignored.${closest(key, members)}`;
  return [problemAt(entry, at, 'ruleset-ignored', message, { severity: 'warning', on: 'key' })];
}

/** Checks the ruleset or one of its overrides. */
function checkPart(
  entry: ParsedFile,
  base: string,
  part: Record<string, unknown>,
  aliases: ReadonlySet<string>,
  isKnown: (rule: string) => boolean,
): Problem[] {
  const problems = [
    ...checkExtends(entry, joinPointer(base, 'extends'), part['extends']),
    ...checkFormats(entry, joinPointer(base, 'formats'), part['formats']),
  ];
  for (const [name, alias] of isObject(part['aliases']) ? Object.entries(part['aliases']) : []) {
    const at = joinPointer(base, 'aliases', name);
    const targets = isObject(alias) && Array.isArray(alias['targets']) ? alias['targets'] : [];
    problems.push(...checkPaths(entry, at, isObject(alias) ? null : alias, aliases));
    targets.forEach((target: unknown, index: number) => {
      if (!isObject(target)) return;
      const inside = joinPointer(at, 'targets', index);
      problems.push(...checkPaths(entry, joinPointer(inside, 'given'), target['given'], aliases));
      problems.push(...checkFormats(entry, joinPointer(inside, 'formats'), target['formats']));
    });
  }
  for (const [name, rule] of isObject(part['rules']) ? Object.entries(part['rules']) : []) {
    const at = joinPointer(base, 'rules', name);
    if (isObject(rule)) problems.push(...checkRule(entry, at, rule, aliases));
    else if (!isKnown(name)) {
      const message = `${JSON.stringify(name)} is not defined, and the ruleset extends no other. Define the rule or remove it.`;
      problems.push(problemAt(entry, at, 'ruleset-rule', message, { on: 'key' }));
    }
  }
  return problems;
}

function checkExtends(entry: ParsedFile, at: string, value: unknown): Problem[] {
  const check = (name: unknown, pointer: string): Problem[] => {
    if (typeof name !== 'string' || presets.has(name)) return [];
    const message = `${JSON.stringify(name.slice(0, 200))} is not a built-in ruleset (${list(presets)}), and others are not loaded. Copy its rules into this one.`;
    return [problemAt(entry, pointer, 'ruleset-extends', message)];
  };
  if (!Array.isArray(value)) return check(value, at);
  return value.flatMap((item: unknown, index: number) => {
    const pointer = joinPointer(at, index);
    return Array.isArray(item) ? check(item[0], joinPointer(pointer, 0)) : check(item, pointer);
  });
}

function checkFormats(entry: ParsedFile, at: string, value: unknown): Problem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((name: unknown, index) => {
    if (typeof name !== 'string' || formats.has(name)) return [];
    const message = `${JSON.stringify(name)} is not a known format. Use one of ${list(formats)}.`;
    return [problemAt(entry, joinPointer(at, index), 'ruleset-format', message)];
  });
}

function checkRule(
  entry: ParsedFile,
  at: string,
  rule: Record<string, unknown>,
  aliases: ReadonlySet<string>,
): Problem[] {
  const problems = [
    ...checkPaths(entry, joinPointer(at, 'given'), rule['given'], aliases),
    ...checkFormats(entry, joinPointer(at, 'formats'), rule['formats']),
  ];
  const { then } = rule;
  const steps: [unknown, string][] = Array.isArray(then)
    ? then.map((step: unknown, index) => [step, joinPointer(at, 'then', index)])
    : [[then, joinPointer(at, 'then')]];
  for (const [step, pointer] of steps) if (isObject(step)) problems.push(...checkThen(entry, pointer, step));
  return problems;
}

function checkThen(entry: ParsedFile, at: string, step: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [];
  const name = step['function'];
  if (typeof name === 'string' && !coreFunctions.has(name)) {
    const message = `${JSON.stringify(name)} is not a core function, and other functions are never run. Use one of ${list(coreFunctions)}.`;
    problems.push(problemAt(entry, joinPointer(at, 'function'), 'ruleset-refused', message));
  }
  const options = isObject(step['functionOptions']) ? step['functionOptions'] : {};
  for (const key of name === 'pattern' ? ['match', 'notMatch'] : []) {
    const pattern = options[key];
    if (typeof pattern !== 'string') continue;
    const failure = patternFailure(pattern);
    if (failure === null) continue;
    const pointer = joinPointer(at, 'functionOptions', key);
    const message = `This pattern is not a valid regular expression: ${failure}.`;
    problems.push(problemAt(entry, pointer, 'ruleset-pattern', message));
  }
  return problems;
}

/** Returns why a pattern, plain or as `/…/flags`, is invalid, or null. */
function patternFailure(pattern: string): string | null {
  const delimited = /^\/(.+)\/([a-z]*)$/s.exec(pattern);
  try {
    RegExp(delimited?.[1] ?? pattern, delimited?.[2] ?? '');
    return null;
  } catch (error) {
    if (error instanceof SyntaxError) return error.message;
    throw error;
  }
}

function checkPaths(entry: ParsedFile, at: string, value: unknown, aliases: ReadonlySet<string>): Problem[] {
  const check = (path: unknown, pointer: string): Problem[] => {
    const failure = typeof path === 'string' ? checkPath(path, aliases) : null;
    return failure === null ? [] : [problemAt(entry, pointer, 'ruleset-path', failure)];
  };
  if (!Array.isArray(value)) return check(value, at);
  return value.flatMap((path: unknown, index) => check(path, joinPointer(at, index)));
}
