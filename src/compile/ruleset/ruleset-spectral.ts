import { isObject, type JsonObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { closest } from '../../model/errors.ts';
import { functionsMember, modulesMember } from '../compile.ts';
import { collectProblems, problemAt, type Note } from '../kind.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import type { RulesetFile, RulesetForm } from './form.ts';
import { joinPointer } from '../../model/pointer.ts';
import { cannotExtend, extendsOf, isRulesetCoordinate, type FindRuleset } from './ruleset-files.ts';
import {
  baseOf,
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
function isSpectral(root: JsonObject): boolean {
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

const ownMembers = [
  functionsMember,
  ...'functions functionsDir aliases overrides formats parserOptions except'.split(' '),
];

function hasRedoclyRules(ruleset: JsonObject): boolean {
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
  const message = problem.message.replace(/ is not expected here\./, ' is not known to Spectral and is ignored.');
  if (!inRule || message === problem.message) return problem;
  return { ...problem, rule: 'ruleset-ignored', severity: 'warning', message };
}

async function checkFile({ entry, ruleset, broken, find, code }: RulesetFile): Promise<Problem[]> {
  const { problems, note } = collectProblems(entry);
  const runsCode = code !== null;
  for (const key of Object.keys(ruleset)) checkMember(note, key, runsCode);
  checkParserOptions(note, objectOf(ruleset['parserOptions']));
  const parts = listOf(ruleset['overrides']).filter(isObject);
  for (const member of ['rules', 'aliases']) {
    const count = [ruleset, ...parts].reduce((sum, part) => sum + Object.keys(objectOf(part[member])).length, 0);
    if (count <= maxRules) continue;
    const message = `The ruleset has ${count} ${member}; the limit is ${maxRules}. Split the ruleset.`;
    return [problemAt(entry, '', 'limit-rules', message)];
  }
  const all = [...extendsOf(ruleset).map(([base]) => baseOf(base, find) ?? {}), ruleset, ...parts];
  const checkPath = createPathCheck(note, new Map(all.flatMap((part) => Object.entries(objectOf(part['aliases'])))));
  const functions = new Set(runsCode ? Object.keys(objectOf(ruleset[functionsMember])) : []);
  const context = { note, checkPath, options: createOptionsCheck(note), find, functions };
  const names = rulesIn(ruleset, find);
  checkPart({ ...context, names }, '', ruleset);
  parts.forEach((part, at) => {
    const more = rulesIn(part, find);
    const base = joinPointer('/overrides', at);
    checkPart({ ...context, names: names && more && new Set([...names, ...more]) }, base, part);
    for (const [index, pattern] of listOf(part['files']).entries()) {
      const why = typeof pattern === 'string' ? filesProblem(pattern) : null;
      if (why === null) continue;
      note('ruleset-files', joinPointer(base, 'files', index), `The pattern ${JSON.stringify(pattern)} ${why}.`);
    }
  });
  return problems.filter(({ pointer }) => !broken.has(pointer));
}

/** The most rules in a ruleset, as many as in Redocly's dialect, and the most aliases. */
const maxRules = 2000;

/** The most characters of path expressions that are read. Real rulesets have a few thousand. */
const maxPathText = 1_000_000;

interface Context {
  note: Note;
  checkPath: PathCheck;
  options: OptionsCheck;
  /** The names of all rules that are defined. Null if something that is extended is not known. */
  names: ReadonlySet<string> | null;
  find: FindRuleset;
  /** The ruleset's own functions, where they may run. */
  functions: ReadonlySet<string>;
}

function rulesIn(ruleset: JsonObject, find: FindRuleset): Set<string> | null {
  if (extendsOf(ruleset).some(([base]) => baseOf(base, find) === null)) return null;
  return new Set(effectiveRules({ extends: ruleset['extends'], rules: ruleset['rules'] }, find).rules.keys());
}

function checkMember(note: Note, key: string, runsCode: boolean): void {
  const at = joinPointer('', key);
  const refuse = (why: string) => note('ruleset-refused', at, `"${key}" ${why}`, { on: 'key' });
  const isCode = ['functions', 'functionsDir', functionsMember, modulesMember].includes(key);
  if (isCode && runsCode) return;
  if (isCode) return refuse(`loads code, which is not run here. Use the core functions: ${list(functionNames)}.`);
  if (key === 'except')
    return refuse('is from Spectral before 6. Use "overrides" with "files: [file#/pointer]" and the rules off.');
  if (members.includes(key) || key.startsWith('x-')) return;
  const message = `${JSON.stringify(key)} is not a member of a Spectral ruleset and is ignored.${closest(key, members)}`;
  note('ruleset-ignored', at, message, { severity: 'warning', on: 'key' });
}

/** Stele always reads documents strictly: what these options would allow is an error of the document. */
function checkParserOptions(note: Note, options: JsonObject): void {
  for (const [name, level] of Object.entries(options)) {
    if (level === 'error' || level === 0) continue;
    const message = `${JSON.stringify(name)} has no effect: what it is about is always an error here.`;
    note('ruleset-ignored', joinPointer('/parserOptions', name), message, { severity: 'warning', on: 'key' });
  }
}

function checkPart(context: Context, base: string, part: JsonObject): void {
  const { note, names, find } = context;
  for (const [name, , pointer] of extendsOf(part)) {
    if (typeof name !== 'string' || isRulesetCoordinate(name) || baseOf(name, find) !== null) continue;
    note('ruleset-extends', base + pointer, cannotExtend(name, builtInRulesets.keys()));
  }
  checkFormats(note, joinPointer(base, 'formats'), part['formats']);
  for (const [name, alias] of Object.entries(objectOf(part['aliases']))) {
    const at = joinPointer(base, 'aliases', name);
    if (!isObject(alias)) checkPaths(context, at, alias);
    for (const [index, target] of listOf(objectOf(alias)['targets']).entries())
      if (isObject(target)) checkGiven(context, joinPointer(at, 'targets', index), target);
  }
  for (const [name, rule] of Object.entries(objectOf(part['rules']))) {
    const at = joinPointer(base, 'rules', name);
    if (isObject(rule)) {
      checkGiven(context, at, rule);
      for (const [step, pointer] of itemsOf(rule['then'], joinPointer(at, 'then')))
        if (isObject(step)) checkThen(context, pointer, step);
    } else if (names !== null && !names.has(name)) {
      const message = `${JSON.stringify(name)} is not a rule of this ruleset or of what it extends.${closest(name, names)} Define the rule or remove it.`;
      note('ruleset-rule', at, message, { on: 'key' });
    }
  }
}

/** The items of a list with their pointers. Any other value stands for itself. */
function itemsOf(value: unknown, at: string): [item: unknown, pointer: string][] {
  if (!Array.isArray(value)) return [[value, at]];
  return value.map((item: unknown, index) => [item, joinPointer(at, index)]);
}

function checkFormats(note: Note, at: string, value: unknown): void {
  for (const [index, name] of listOf(value).entries()) {
    if (typeof name !== 'string' || formats.has(name)) continue;
    const message = `${JSON.stringify(name)} is not a known format. Use one of ${list(formats)}.`;
    note('ruleset-format', joinPointer(at, index), message);
  }
}

function checkGiven(context: Context, at: string, { given, formats: named }: JsonObject): void {
  checkPaths(context, joinPointer(at, 'given'), given);
  checkFormats(context.note, joinPointer(at, 'formats'), named);
}

function checkPaths({ checkPath }: Context, at: string, value: unknown): void {
  for (const [path, pointer] of itemsOf(value, at)) if (typeof path === 'string') checkPath(path, pointer);
}

function checkThen(context: Context, at: string, step: JsonObject): void {
  const { field, function: name } = step;
  if (typeof name !== 'string') return;
  if (typeof field === 'string' && field.startsWith('$')) checkPaths(context, joinPointer(at, 'field'), field);
  const isOwn = name.startsWith('oas') && builtInFunctions.has(name);
  if (context.functions.has(name)) return;
  if (functionNames.has(name) || isOwn)
    return context.options(name, objectOf(step['functionOptions']), joinPointer(at, 'functionOptions'));
  const message = `${JSON.stringify(name)} is not a core function, and other functions are not run here. Use one of ${list(functionNames)}.`;
  context.note('ruleset-refused', joinPointer(at, 'function'), message);
}

/** Checks a path expression. Where there is too much to read, the rest is not checked. */
type PathCheck = (path: string, pointer: string) => void;

function createPathCheck(note: Note, aliases: Aliases): PathCheck {
  let left = maxPathText;
  const failures = new Map<string, string | null>();

  function read(path: string): void {
    for (const expanded of expandAliases(path, aliases, null)) {
      left -= expanded.length;
      if (left < 0) return;
      parsePath(expanded);
    }
  }

  function failureIn(path: string): string | null {
    left -= leastPathText;
    const failure = failureOf(() => read(path));
    const message = `The path expressions of this ruleset, with their aliases replaced, have more than ${maxPathText} characters. Split the ruleset.`;
    if (left < 0) note('limit-rules', '', message);
    return failure;
  }

  return (path, pointer) => {
    const failure = left < 0 ? null : failures.getOrInsertComputed(path, failureIn);
    if (failure === null) return;
    const shown = JSON.stringify(path.slice(0, 200));
    note('ruleset-path', pointer, `${shown} is not a path expression that can be evaluated: ${failure}.`);
  };
}

/** What each expression counts at least. */
const leastPathText = 50;
