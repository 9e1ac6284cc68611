import { isObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { closest } from '../../model/errors.ts';
import { functionsMember, modulesMember } from '../compile.ts';
import { problemAt } from '../kind.ts';
import type { RulesetFile, RulesetForm } from './form.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { cannotExtend, extendsOf, isRulesetCoordinate, type FindRuleset } from './ruleset-files.ts';
import {
  builtInRulesets,
  filesProblem,
  effectiveRules,
  expandAliases,
  type Aliases,
} from './spectral/effective-rules.ts';
import { knownFormats as formats } from './spectral/core-function.ts';
import { createOptionsCheck, failureOf, type OptionsCheck } from './spectral/check-options.ts';
import { coreFunctions } from './spectral/functions.ts';
import { builtInFunctions } from './spectral/oas-functions.ts';
import { lintWithSpectral } from './spectral/lint.ts';
import { parsePath } from './spectral/path/json-path.ts';

const functionNames: ReadonlySet<string> = new Set(Object.keys(coreFunctions));
const members = 'title description version x-version documentationUrl formats extends rules aliases parserOptions except overrides'.split(' '); // prettier-ignore
const list = (names: Iterable<string>) => [...names].join(', ');

/** The form of Spectral's rulesets. */
export const spectral: RulesetForm = {
  release: '6',
  schema: 'spectral-ruleset',
  fileName: /(?:^|\/)\.?spectral\.(?:ya?ml|json)$/i,
  isRoot: isSpectral,
  isSurely: (ruleset, path) =>
    isSpectral(ruleset) ||
    ownMembers.some((key) => Object.hasOwn(ruleset, key)) ||
    typeof ruleset['extends'] === 'string' ||
    /spectral[^/]*$/i.test(path) ||
    namesIn(ruleset['extends']).some((name) => /^(?:spectral|vacuum):/.test(name)),
  isLikely: (ruleset, isOpen) =>
    (isOpen && !hasRedoclyRules(ruleset)) || Object.values(objectOf(ruleset['rules'])).some(isSpectralRule),
  ease: asSpectralDoes,
  passesOver: (pointer, reference) =>
    /\/functionOptions\/schema(?:\/|$)/.test(pointer) && !/^https?:/i.test(reference)
      ? 'so that this schema checks nothing, as in Spectral'
      : null,
  check: checkFile,
  lint: async (given, used) => lintWithSpectral(given, used),
};

/** Whether a rule has both `given` and `then`, or a built-in ruleset is extended. */
function isSpectral(root: Record<string, unknown>): boolean {
  const rules = Object.values(objectOf(root['rules']));
  return (
    rules.some((rule) => isObject(rule) && 'given' in rule && 'then' in rule) ||
    namesIn(root['extends']).some((name) =>
      /^spectral:(?:oas|asyncapi|arazzo)$|@stoplight\/spectral-owasp-ruleset\b/.test(name),
    )
  );
}

function namesIn(bases: unknown): string[] {
  return [bases].flat(2).filter((name) => typeof name === 'string');
}

/** Members that only Spectral's rulesets have. */
const ownMembers = [
  functionsMember,
  ...'functions functionsDir aliases overrides formats parserOptions except'.split(' '),
];

/** Whether a ruleset has what only Redocly's dialect has. */
function hasRedoclyRules(ruleset: Record<string, unknown>): boolean {
  const names = Object.keys(objectOf(ruleset['rules']));
  return Object.keys(ruleset).some((key) => key.endsWith('Rules')) || names.some((name) => name.startsWith('rule/'));
}

/** Whether a rule is a Spectral definition or has a severity that Redocly lacks. */
function isSpectralRule(rule: unknown): boolean {
  if (isObject(rule)) return 'given' in rule || 'then' in rule;
  return typeof rule === 'boolean' || typeof rule === 'number' || rule === 'info' || rule === 'hint';
}

/** Spectral ignores unknown members of a rule, and compatible linters add their own. */
function asSpectralDoes(problem: Problem): Problem {
  const inRule = /^(?:\/overrides\/\d+)?\/rules\/[^/]+\/(?:then\/(?:\d+\/)?)?[^/]+$/.test(problem.pointer);
  if (!inRule || !problem.message.endsWith(' is not expected here.')) return problem;
  const message = problem.message.replace(/ is not expected here\.$/, ' is not known to Spectral and is ignored.');
  return { ...problem, rule: 'ruleset-ignored', severity: 'warning', message };
}

async function checkFile({ entry, ruleset, broken, find, code }: RulesetFile): Promise<Problem[]> {
  const runsCode = code !== null;
  const problems = Object.keys(ruleset).flatMap((key) => checkMember(entry, key, runsCode));
  problems.push(...checkParserOptions(entry, ruleset['parserOptions']));
  const parts = overridesOf(ruleset);
  for (const member of ['rules', 'aliases']) {
    const count = [ruleset, ...parts].reduce((sum, part) => sum + Object.keys(objectOf(part[member])).length, 0);
    if (count <= maxRules) continue;
    const message = `The ruleset has ${count} ${member}; the limit is ${maxRules}. Split the ruleset.`;
    return [problemAt(entry, '', 'limit-rules', message)];
  }
  const aliases = aliasesOf([...extendsOf(ruleset).map(([base]) => baseOf(base, find)), ruleset, ...parts]);
  const names = rulesIn(ruleset, find);
  const paths = createPathCheck(aliases);
  const options = createOptionsCheck(entry);
  const functions = new Set(runsCode ? Object.keys(objectOf(ruleset[functionsMember])) : []);
  problems.push(...checkPart(entry, '', ruleset, { paths, options, names, find, functions }));
  parts.forEach((part, at) => {
    const more = rulesIn(part, find);
    const within = { paths, options, names: names && more && new Set([...names, ...more]), find, functions };
    const base = joinPointer('/overrides', at);
    problems.push(
      ...checkPart(entry, base, part, within),
      ...checkFiles(entry, joinPointer(base, 'files'), part['files']),
    );
  });
  if (paths.isFull()) {
    const message = `The path expressions of this ruleset, with their aliases replaced, have more than ${maxPathText} characters. Split the ruleset.`;
    problems.push(problemAt(entry, '', 'limit-rules', message));
  }
  return problems.filter(({ pointer }) => !broken.has(pointer));
}

/** The most rules in a ruleset, as many as in Redocly's dialect, and the most aliases. */
const maxRules = 2000;

/** The most characters of path expressions that are read. Real rulesets have a few thousand. */
const maxPathText = 1_000_000;

interface RuleContext {
  paths: PathCheck;
  options: OptionsCheck;
  /** The names of all rules that are defined. Null if something that is extended is not known. */
  names: ReadonlySet<string> | null;
  find: FindRuleset;
  /** The ruleset's own functions, where they may run. */
  functions: ReadonlySet<string>;
}

function overridesOf(ruleset: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(ruleset['overrides']) ? ruleset['overrides'].filter(isObject) : [];
}

function baseOf(
  base: string | Readonly<Record<string, unknown>>,
  find: FindRuleset,
): Readonly<Record<string, unknown>> {
  return (typeof base === 'string' ? (builtInRulesets.get(base) ?? find(base)) : base) ?? {};
}

function aliasesOf(parts: readonly Readonly<Record<string, unknown>>[]): Aliases {
  return new Map(parts.flatMap((part) => Object.entries(objectOf(part['aliases']))));
}

function rulesIn(ruleset: Record<string, unknown>, find: FindRuleset): Set<string> | null {
  const isWhole = extendsOf(ruleset).every(
    ([base]) => typeof base !== 'string' || builtInRulesets.has(base) || find(base) !== null,
  );
  if (!isWhole) return null;
  return new Set(effectiveRules({ extends: ruleset['extends'], rules: ruleset['rules'] }, find).rules.keys());
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function checkMember(entry: ParsedFile, key: string, runsCode: boolean): Problem[] {
  const at = joinPointer('', key);
  const refuse = (why: string) => [problemAt(entry, at, 'ruleset-refused', `"${key}" ${why}`, { on: 'key' })];
  const isCode = ['functions', 'functionsDir', functionsMember, modulesMember].includes(key);
  if (isCode && runsCode) return [];
  if (isCode) return refuse(`loads code, which is not run here. Use the core functions: ${list(functionNames)}.`);
  if (key === 'except')
    return refuse('is from Spectral before 6. Use "overrides" with "files: [file#/pointer]" and the rules off.');
  if (members.includes(key) || key.startsWith('x-')) return [];
  const message = `${JSON.stringify(key)} is not a member of a Spectral ruleset and is ignored.${closest(key, members)}`;
  return [problemAt(entry, at, 'ruleset-ignored', message, { severity: 'warning', on: 'key' })];
}

/** Stele always reads documents strictly: what these options would allow is an error of the document. */
function checkParserOptions(entry: ParsedFile, options: unknown): Problem[] {
  return Object.entries(objectOf(options)).flatMap(([name, level]) => {
    if (level === 'error' || level === 0) return [];
    const message = `${JSON.stringify(name)} has no effect: what it is about is always an error here.`;
    const at = joinPointer('/parserOptions', name);
    return [problemAt(entry, at, 'ruleset-ignored', message, { severity: 'warning', on: 'key' })];
  });
}

function checkFiles(entry: ParsedFile, at: string, files: unknown): Problem[] {
  return (Array.isArray(files) ? files : []).flatMap((pattern: unknown, index) => {
    const why = typeof pattern === 'string' ? filesProblem(pattern) : null;
    if (why === null) return [];
    const message = `The pattern ${JSON.stringify(pattern)} ${why}.`;
    return [problemAt(entry, joinPointer(at, index), 'ruleset-files', message)];
  });
}

/** Checks the ruleset or one of its overrides. */
function checkPart(entry: ParsedFile, base: string, part: Record<string, unknown>, given: RuleContext): Problem[] {
  const { paths, names, find } = given;
  const problems = [
    ...checkExtends(entry, joinPointer(base, 'extends'), part['extends'], find),
    ...checkFormats(entry, joinPointer(base, 'formats'), part['formats']),
  ];
  for (const [name, alias] of Object.entries(objectOf(part['aliases']))) {
    const at = joinPointer(base, 'aliases', name);
    const targets = isObject(alias) && Array.isArray(alias['targets']) ? alias['targets'] : [];
    problems.push(...checkPaths(entry, at, isObject(alias) ? null : alias, paths));
    targets.forEach((target: unknown, index: number) => {
      if (!isObject(target)) return;
      const inside = joinPointer(at, 'targets', index);
      problems.push(...checkPaths(entry, joinPointer(inside, 'given'), target['given'], paths));
      problems.push(...checkFormats(entry, joinPointer(inside, 'formats'), target['formats']));
    });
  }
  for (const [name, rule] of Object.entries(objectOf(part['rules']))) {
    const at = joinPointer(base, 'rules', name);
    if (isObject(rule)) problems.push(...checkRule(entry, at, rule, given));
    else if (names !== null && !names.has(name)) {
      const message = `${JSON.stringify(name)} is not a rule of this ruleset or of what it extends.${closest(name, names)} Define the rule or remove it.`;
      problems.push(problemAt(entry, at, 'ruleset-rule', message, { on: 'key' }));
    }
  }
  return problems;
}

function checkExtends(entry: ParsedFile, at: string, value: unknown, find: FindRuleset): Problem[] {
  const check = (name: unknown, pointer: string): Problem[] => {
    if (typeof name !== 'string' || builtInRulesets.has(name) || isRulesetCoordinate(name)) return [];
    if (find(name) !== null) return [];
    return [problemAt(entry, pointer, 'ruleset-extends', cannotExtend(name, builtInRulesets.keys()))];
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

function checkRule(entry: ParsedFile, at: string, rule: Record<string, unknown>, context: RuleContext): Problem[] {
  const problems = [
    ...checkPaths(entry, joinPointer(at, 'given'), rule['given'], context.paths),
    ...checkFormats(entry, joinPointer(at, 'formats'), rule['formats']),
  ];
  const { then } = rule;
  const steps: [unknown, string][] = Array.isArray(then)
    ? then.map((step: unknown, index) => [step, joinPointer(at, 'then', index)])
    : [[then, joinPointer(at, 'then')]];
  for (const [step, pointer] of steps) if (isObject(step)) problems.push(...checkThen(entry, pointer, step, context));
  return problems;
}

function checkThen(entry: ParsedFile, at: string, step: Record<string, unknown>, context: RuleContext): Problem[] {
  const { field, function: name } = step;
  if (typeof name !== 'string') return [];
  const problems: Problem[] = [];
  const fieldProblem = typeof field === 'string' && field.startsWith('$') ? context.paths.problemOf(field) : null;
  if (fieldProblem !== null) problems.push(problemAt(entry, joinPointer(at, 'field'), 'ruleset-path', fieldProblem));
  const isOwn = name.startsWith('oas') && builtInFunctions.has(name);
  if (context.functions.has(name)) return problems;
  if (!functionNames.has(name) && !isOwn) {
    const message = `${JSON.stringify(name)} is not a core function, and other functions are not run here. Use one of ${list(functionNames)}.`;
    return [...problems, problemAt(entry, joinPointer(at, 'function'), 'ruleset-refused', message)];
  }
  const options = objectOf(step['functionOptions']);
  return [...problems, ...context.options.problemsOf(name, options, joinPointer(at, 'functionOptions'))];
}

interface PathCheck {
  /** Why a path expression cannot be evaluated, or null. */
  problemOf(path: string): string | null;
  /** Whether there was too much to read. The rest is not checked then. */
  isFull(): boolean;
}

function createPathCheck(aliases: Aliases): PathCheck {
  let left = maxPathText;
  const patterns = new Map<string, string | null>();

  function read(path: string): void {
    for (const expanded of expandAliases(path, aliases, null)) {
      left -= expanded.length;
      if (left < 0) return;
      parsePath(expanded);
    }
  }

  function problemOf(path: string): string | null {
    if (left < 0) return null;
    const before = patterns.get(path);
    if (before !== undefined) return before;
    left -= leastPathText;
    const failure = failureOf(() => read(path));
    const shown = JSON.stringify(path.slice(0, 200));
    const problem = failure === null ? null : `${shown} is not a path expression that can be evaluated: ${failure}.`;
    patterns.set(path, problem);
    return problem;
  }

  return { problemOf, isFull: () => left < 0 };
}

/** What each expression counts at least. */
const leastPathText = 50;

function checkPaths(entry: ParsedFile, at: string, value: unknown, paths: PathCheck): Problem[] {
  const check = (path: unknown, pointer: string): Problem[] => {
    const failure = typeof path === 'string' ? paths.problemOf(path) : null;
    return failure === null ? [] : [problemAt(entry, pointer, 'ruleset-path', failure)];
  };
  if (!Array.isArray(value)) return check(value, at);
  return value.flatMap((path: unknown, index) => check(path, joinPointer(at, index)));
}
