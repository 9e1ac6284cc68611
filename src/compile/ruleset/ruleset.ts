import { isObject } from '../../model/json.ts';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Problem } from '../../model/problem.ts';
import { findTwinsByText, errorsOf } from '../schema/ajv.ts';
import { kindOf } from '../detect.ts';
import { isParsed, problemAt, type CompileKind, type KindInput } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer, parsePointer } from '../text/pointer.ts';
import { checkRedoclyRuleset } from './ruleset-redocly.ts';
import { checkSpectralRuleset } from './ruleset-spectral.ts';
import { schemaProblems } from '../schema/schema-check.ts';
import { containedRulesets, inlineFiles, isRulesetCoordinate } from './ruleset-files.ts';
import { functionsMember, modulesMember } from '../compile.ts';
import { maxLevels, type FindRuleset } from './spectral/effective-rules.ts';
import { leftOutMember } from '../../render/rules.ts';

/** With this member a ruleset is published without what is not supported. */
const partialMember = 'x-stele-partial';

/** A file of a ruleset without its rules, members and bases that have an error. */
interface Cut {
  ruleset: Record<string, unknown>;
  /** The errors, as warnings. */
  problems: Problem[];
  names: string[];
}

function leaveOut(path: string, ruleset: Record<string, unknown>, problems: readonly Problem[]): Cut {
  const names: string[] = [];
  const dropped = new Set<string>();
  const eased = problems.flatMap((problem): Problem[] => {
    if (problem.severity !== 'error' || problem.file !== path || !problem.rule.startsWith('ruleset-')) return [];
    const keys = parsePointer(problem.pointer);
    const [member = '', name] = keys;
    const isNamed = /rules$/i.test(member) || member === 'extends';
    if (member === '' || (isNamed && name === undefined && member !== 'extends')) return [];
    const isListed = isNamed && name !== undefined;
    names.push(isListed && member !== 'extends' ? name : nameOf(ruleset, member, isListed ? name : undefined));
    dropped.add(isListed ? `${member}/${name}` : member);
    return [{ ...problem, severity: 'warning', message: `Left out: ${problem.message}` }];
  });
  const members = Object.entries(ruleset).flatMap(([member, value]): [string, unknown][] => {
    if (dropped.has(member)) return [];
    const isKept = (key: string | number) => !dropped.has(`${member}/${key}`);
    if (Array.isArray(value)) return [[member, value.filter((_, at) => isKept(at))]];
    if (!isObject(value)) return [[member, value]];
    return [[member, Object.fromEntries(Object.entries(value).filter(([key]) => isKept(key)))]];
  });
  return { problems: eased, names, ruleset: Object.fromEntries(members) };
}

/** Names a part other than a rule that is left out: a member, or one ruleset of `extends`. */
function nameOf(ruleset: Record<string, unknown>, member: string, at: string | undefined): string {
  const value = ruleset[member];
  const item: unknown = at !== undefined && Array.isArray(value) ? value[Number(at)] : value;
  const target: unknown = Array.isArray(item) ? item[0] : item;
  return member === 'extends' && typeof target === 'string' ? `extends ${target}` : member;
}

findTwinsByText();
const ajv = new Ajv2020({ allErrors: true, strict: false, meta: false, validateSchema: false });
const schemas = { redocly: readSchema('redocly-ruleset'), spectral: readSchema('spectral-ruleset') };
const validators: Partial<Record<RulesetForm, ValidateFunction>> = {};

function readSchema(name: string): object {
  const url = new URL(`../../../content/schemas/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as object;
}

/** Compiles the schema at its first use: many sandboxes never see a ruleset. */
function validatorOf(form: RulesetForm): ValidateFunction {
  return (validators[form] ??= ajv.compile(schemas[form]));
}

/** Real rulesets have some ten. Each that is unknown becomes a problem. */
const maxMembers = 2000;

/** The most entries of `extends`. */
const maxBases = 200;

/** The release of each linter that a ruleset is checked for. */
const specifications = { redocly: '2', spectral: '6' } as const;

export type RulesetForm = keyof typeof schemas;

/**
 * Compiles a ruleset. It is valid if it matches the schema of its linter, every rule name, node
 * type, function, format and pattern is known or well-formed, and nothing in it loads code, files
 * or URLs. The author's bytes are kept. `title`, `description` and `version` may have the prefix
 * `x-`, because Redocly warns about the plain names.
 */
export const compileRuleset: CompileKind = async ({ entry, files, input, code = null }) => {
  const { value } = entry;
  const isPartial = isObject(value) && value[partialMember] === true;
  const { form, problems, used, ...read } = await (isPartial ? readPartially : readRuleset)(entry, files, code);
  const { modules = {} } = code ?? {};
  const bundle =
    read.bundle !== null && Object.keys(modules).length > 0
      ? { ...read.bundle, [modulesMember]: modules }
      : read.bundle;
  const text = (key: string) => (isObject(value) && typeof value[key] === 'string' ? value[key] : null);
  return {
    problems: input.validation === 'lenient' ? problems.map(asLenient) : problems,
    bundle,
    kind: `${form}-ruleset`,
    specification: specifications[form],
    title: text('title') ?? text('x-title') ?? '',
    description: text('description') ?? text('x-description') ?? '',
    version: text('version') ?? text('x-version'),
    used: new Set([entry, ...used].map(({ path }) => path)),
  };
};

/** A ruleset with the files that it extends. */
interface Read {
  form: RulesetForm;
  bundle: Record<string, unknown> | null;
  problems: Problem[];
  used: ReadonlySet<ParsedFile>;
}

type Code = NonNullable<KindInput['code']> | null;

async function readRuleset(entry: ParsedFile, files: KindInput['files'], code: Code): Promise<Read> {
  const { value } = entry;
  const inlined = isObject(value) ? inlineFiles(entry, value, files) : null;
  const form = rulesetForm(value, entry.path, inlined?.findFor(entry));
  const problems: Problem[] = [];
  for (const file of [entry, ...(inlined?.used ?? [])]) {
    const checked = await checkFile(file, form, inlined?.findFor(file) ?? (() => null), code);
    problems.push(...(file === entry ? checked : checked.map((one) => asExtended(one))));
  }
  const contained = [...containedRulesets(entry).take(maxBases + 1)];
  if (contained.length > maxBases)
    problems.push(
      problemAt(entry, '/extends', 'limit-rules', `The ruleset contains more than ${maxBases} others. Split it.`),
    );
  for (const { file, pointer } of contained.slice(0, maxBases))
    for (const problem of await checkFile(file, form, () => null, code))
      problems.push(asExtended({ ...problem, pointer: pointer + problem.pointer }, pointer));
  return { form, bundle: inlined?.ruleset ?? null, problems, used: inlined?.used ?? new Set() };
}

/** Reads a partial ruleset: without what has an error, in its own files too, and without what others say of that. */
async function readPartially(entry: ParsedFile, files: KindInput['files'], code: Code): Promise<Read> {
  const left = new Map(files).set(entry.path, entry);
  const names = new Set<string>();
  const problems: Problem[] = [];
  let read = await readRuleset(entry, left, code);
  for (let round = 0; round <= maxLevels; round++) {
    let isWhole = true;
    for (const { path } of [entry, ...read.used]) {
      const file = left.get(path);
      if (file === undefined || !isParsed(file) || !isObject(file.value)) continue;
      const cut = leaveOut(path, file.value, read.problems);
      if (cut.problems.length === 0) continue;
      isWhole = false;
      problems.push(...cut.problems);
      cut.names.forEach((name) => names.add(name));
      left.set(path, { ...file, value: cut.ruleset, exact: cut.ruleset });
    }
    if (isWhole) break;
    read = await readRuleset(left.get(entry.path) as ParsedFile, left, code);
  }
  const bundle = names.size === 0 ? read.bundle : read.bundle && { ...read.bundle, [leftOutMember]: [...names].sort() };
  return { ...read, bundle, problems: [...problems, ...read.problems] };
}

/** Checks one file of a ruleset. */
async function checkFile(
  file: ParsedFile,
  form: RulesetForm,
  find: FindRuleset,
  code: KindInput['code'] = null,
): Promise<Problem[]> {
  const { value } = file;
  if (!isObject(value))
    return [problemAt(file, '', 'schema', 'A ruleset must be an object with "rules" or "extends".')];
  const size = Object.keys(value).length;
  if (size > maxMembers) {
    const message = `The ruleset has ${size} members; the limit is ${maxMembers}. Rules belong under "rules".`;
    return [problemAt(file, '', 'limit-rules', message)];
  }
  const bases: unknown = value['extends'];
  if (Array.isArray(bases) && bases.length > maxBases) {
    const message = `The ruleset extends ${bases.length} others; the limit is ${maxBases}. Name each once.`;
    return [problemAt(file, '/extends', 'limit-rules', message)];
  }
  const faults = schemaProblems(file, '', value, errorsOf(validatorOf(form), value));
  const problems = [...(form === 'spectral' ? faults.map(asSpectralDoes) : faults), ...findReferences(file, form)];
  const broken = new Set(problems.filter(({ severity }) => severity === 'error').map(({ pointer }) => pointer));
  const checked =
    form === 'spectral'
      ? await checkSpectralRuleset(file, value, broken, find, code !== null)
      : await checkRedoclyRuleset(file, value, broken, find, code);
  return [...problems, ...checked];
}

const spectralMembers = [
  functionsMember,
  'functions',
  'functionsDir',
  'aliases',
  'overrides',
  'formats',
  'parserOptions',
  'except',
];

/**
 * The linter that a ruleset is written for: Redocly, unless its content or file name indicates
 * Spectral, or it extends a ruleset that is.
 */
export function rulesetForm(value: unknown, path = '', find: FindRuleset = () => null, depth = 0): RulesetForm {
  if (!isObject(value)) return 'redocly';
  if (kindOf(value)?.kind === 'spectral-ruleset' || spectralMembers.some((key) => Object.hasOwn(value, key)))
    return 'spectral';
  if (typeof value['extends'] === 'string' || /spectral[^/]*$/i.test(path)) return 'spectral';
  const names = [value['extends']].flat(2);
  if (names.some((name) => typeof name === 'string' && /^(?:spectral|vacuum):/.test(name))) return 'spectral';
  // Of a ruleset that only extends others, they decide. Until the registry resolves them, Spectral's
  // checks of names wait.
  const bases = names.map((name: unknown) =>
    typeof name === 'string' ? (depth < maxLevels ? find(name) : null) : isObject(name) ? name : null,
  );
  const forms = bases.flatMap((base) => (base === null ? [] : [rulesetForm(base, '', find, depth + 1)]));
  if (forms.includes('spectral')) return 'spectral';
  if (forms.length === 0 && names.some(isRulesetCoordinate) && !isRedocly(value)) return 'spectral';
  const rules = isObject(value['rules']) ? Object.values(value['rules']) : [];
  return rules.some(isSpectralRule) ? 'spectral' : 'redocly';
}

/** Whether a ruleset has what only Redocly's dialect has. */
function isRedocly(ruleset: Record<string, unknown>): boolean {
  const names = isObject(ruleset['rules']) ? Object.keys(ruleset['rules']) : [];
  return Object.keys(ruleset).some((key) => key.endsWith('Rules')) || names.some((name) => name.startsWith('rule/'));
}

/** Whether a rule is a Spectral definition or has a severity that Redocly lacks. */
function isSpectralRule(rule: unknown): boolean {
  if (isObject(rule)) return 'given' in rule || 'then' in rule;
  return typeof rule === 'boolean' || typeof rule === 'number' || rule === 'info' || rule === 'hint';
}

/** Overrides of a ruleset that is extended have no effect, as for Spectral: they may name rules of its neighbours. */
function asExtended(problem: Problem, base = ''): Problem {
  if (problem.rule !== 'ruleset-rule' || !problem.pointer.startsWith(`${base}/overrides/`)) return problem;
  return {
    ...problem,
    severity: 'info',
    message: `${problem.message} Overrides of an extended ruleset have no effect.`,
  };
}

/** Spectral ignores unknown members of a rule, and compatible linters add their own. */
function asSpectralDoes(problem: Problem): Problem {
  const inRule = /^(?:\/overrides\/\d+)?\/rules\/[^/]+\/(?:then\/(?:\d+\/)?)?[^/]+$/.test(problem.pointer);
  if (!inRule || !problem.message.endsWith(' is not expected here.')) return problem;
  const message = problem.message.replace(/ is not expected here\.$/, ' is not known to Spectral and is ignored.');
  return { ...problem, rule: 'ruleset-ignored', severity: 'warning', message };
}

/** A schema in the options of one of Spectral's functions. */
const inSchema = /\/functionOptions\/schema(?:\/|$)/;

/**
 * Reports references to other files: a published ruleset is one document. Spectral does not follow them
 * either. It accepts them in schemas, and then checks nothing against these.
 */
function findReferences(entry: ParsedFile, form: RulesetForm): Problem[] {
  const problems: Problem[] = [];
  const visit = (value: unknown, pointer: string): void => {
    if (Array.isArray(value)) return value.forEach((item, at) => visit(item, joinPointer(pointer, at)));
    if (!isObject(value)) return;
    const reference = value['$ref'];
    if (typeof reference === 'string' && !reference.startsWith('#')) {
      const isPassedOver = form === 'spectral' && inSchema.test(pointer) && !/^https?:/i.test(reference);
      const why = isPassedOver ? 'so that this schema checks nothing, as in Spectral' : 'a ruleset is one document';
      const message = `The reference ${JSON.stringify(reference.slice(0, 200))} is not followed: ${why}. Copy the target here.`;
      const severity = isPassedOver ? 'warning' : 'error';
      problems.push(problemAt(entry, joinPointer(pointer, '$ref'), 'ruleset-reference', message, { severity }));
    }
    for (const [key, child] of Object.entries(value)) visit(child, joinPointer(pointer, key));
  };
  visit(entry.value, '');
  return problems;
}

/** With lenient validation, schema errors are warnings. Anything that would load or run something stays an error. */
function asLenient(problem: Problem): Problem {
  return problem.rule === 'schema' && problem.pointer !== '' ? { ...problem, severity: 'warning' } : problem;
}
