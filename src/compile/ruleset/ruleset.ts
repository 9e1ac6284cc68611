import { isObject, type JsonObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { readValidator } from '../schema/ajv.ts';
import { rowsOf, type RulesetKind } from '../../model/kinds.ts';
import {
  firstText,
  isParsed,
  problemAt,
  type CollectedCode,
  type CompileKind,
  type DocumentKind,
  type Files,
} from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { eachNode, joinPointer, parsePointer, pointerOf } from '../../model/pointer.ts';
import { schemaProblems } from '../schema/schema-check.ts';
import type { RulesetForm } from './form.ts';
import { formOf, forms } from './forms.ts';
import {
  containedRulesets,
  inlineFiles,
  maxLevels,
  rulesetAddresses,
  rulesetReferencePaths,
  type FindRuleset,
} from './ruleset-files.ts';
import { modulesMember } from '../compile.ts';
import { leftOutMember } from '../../render/ruleset.ts';

/** With this member a ruleset is published without what is not supported. */
const partialMember = 'x-stele-partial';

interface Cut {
  ruleset: JsonObject;
  /** The errors, as warnings. */
  problems: Problem[];
  names: string[];
}

function leaveOut(path: string, ruleset: JsonObject, problems: readonly Problem[]): Cut {
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
function nameOf(ruleset: JsonObject, member: string, at: string | undefined): string {
  const value = ruleset[member];
  const item: unknown = at !== undefined && Array.isArray(value) ? value[Number(at)] : value;
  const target: unknown = Array.isArray(item) ? item[0] : item;
  return member === 'extends' && typeof target === 'string' ? `extends ${target}` : member;
}

const validators = rowsOf('rulesets', (kind) => readValidator(forms[kind].schema));

/** Real rulesets have some ten. Each that is unknown becomes a problem. */
const maxMembers = 2000;

const maxBases = 200;

/**
 * Compiles a ruleset. It is valid if it matches the schema of its linter, every rule name, node
 * type, function, format and pattern is known or well-formed, and nothing in it loads code, files
 * or URLs. The author's bytes are kept. `title`, `description` and `version` may have the prefix
 * `x-`, because Redocly warns about the plain names.
 */
export const compileRuleset: CompileKind = async ({ entry, files, input, code = null }) => {
  const { value } = entry;
  const isPartial = isObject(value) && value[partialMember] === true;
  const { kind, problems, used, ...read } = await (isPartial ? readPartially : readRuleset)(entry, files, code);
  const { modules = {} } = code ?? {};
  const bundle =
    read.bundle !== null && Object.keys(modules).length > 0
      ? { ...read.bundle, [modulesMember]: modules }
      : read.bundle;
  const text = (key: string) => (isObject(value) && typeof value[key] === 'string' ? value[key] : null);
  return {
    problems: input.validation === 'lenient' ? problems.map(asLenient) : problems,
    bundle,
    kind,
    specification: forms[kind].release,
    title: text('title') ?? text('x-title') ?? '',
    description: text('description') ?? text('x-description') ?? '',
    version: text('version') ?? text('x-version'),
    used: new Set([entry, ...used].map(({ path }) => path)),
  };
};

/** Rulesets of all forms. */
export const rulesets = rowsOf('rulesets', (kind): DocumentKind => ({
  isRoot: (root) => typeof root['$schema'] !== 'string' && forms[kind].isRoot(root),
  isNamed: (file) => forms[kind].fileName.test(file.path) && rulesetReferencePaths(file).length > 0,
  titleIn: (root) => firstText(root, 'title', 'x-title'),
  paths: { references: rulesetReferencePaths, addresses: rulesetAddresses, examples: () => [] },
  compile: compileRuleset,
}));

interface Read {
  kind: RulesetKind;
  bundle: JsonObject | null;
  problems: Problem[];
  used: ReadonlySet<ParsedFile>;
}

type Code = CollectedCode | null;

async function readRuleset(entry: ParsedFile, files: Files, code: Code): Promise<Read> {
  const { value } = entry;
  const inlined = isObject(value) ? inlineFiles(entry, files) : null;
  const kind = formOf(value, entry.path, inlined?.findFor(entry));
  const problems: Problem[] = [];
  for (const file of [entry, ...(inlined?.used ?? [])]) {
    const checked = await checkFile(file, kind, inlined?.findFor(file) ?? (() => null), code);
    problems.push(...(file === entry ? checked : checked.map((one) => asExtended(one))));
  }
  const contained = [...containedRulesets(entry).take(maxBases + 1)];
  if (contained.length > maxBases)
    problems.push(
      problemAt(entry, '/extends', 'limit-rules', `The ruleset contains more than ${maxBases} others. Split it.`),
    );
  for (const { file, pointer } of contained.slice(0, maxBases))
    for (const problem of await checkFile(file, kind, () => null, code))
      problems.push(asExtended({ ...problem, pointer: pointer + problem.pointer }, pointer));
  return { kind, bundle: inlined?.ruleset ?? null, problems, used: inlined?.used ?? new Set() };
}

/** Reads a partial ruleset: without what has an error, in its own files too, and without what others say of that. */
async function readPartially(entry: ParsedFile, files: Files, code: Code): Promise<Read> {
  const left = new Map(files).set(entry.path, entry);
  const names = new Set<string>();
  const problems: Problem[] = [];
  let read = await readRuleset(entry, left, code);
  for (let round = 0; round <= maxLevels; round++) {
    let isWhole = true;
    for (const { path } of [entry, ...read.used]) {
      const file = left.get(path);
      if (!isParsed(file) || !isObject(file.value)) continue;
      const cut = leaveOut(path, file.value, read.problems);
      if (cut.problems.length === 0) continue;
      isWhole = false;
      problems.push(...cut.problems);
      cut.names.forEach((name) => names.add(name));
      const exact = leaveOut(path, file.exact as JsonObject, read.problems).ruleset;
      left.set(path, { ...file, value: cut.ruleset, exact });
    }
    if (isWhole) break;
    read = await readRuleset(left.get(entry.path) as ParsedFile, left, code);
  }
  const bundle = names.size === 0 ? read.bundle : read.bundle && { ...read.bundle, [leftOutMember]: [...names].sort() };
  return { ...read, bundle, problems: [...problems, ...read.problems] };
}

async function checkFile(file: ParsedFile, kind: RulesetKind, find: FindRuleset, code: Code): Promise<Problem[]> {
  const { value } = file;
  const form = forms[kind];
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
  const faults = schemaProblems(file, '', value, validators[kind](value));
  const problems = [...faults.map(form.ease), ...findReferences(file, form)];
  const broken = new Set(problems.filter(({ severity }) => severity === 'error').map(({ pointer }) => pointer));
  return [...problems, ...(await form.check({ entry: file, ruleset: value, broken, find, code }))];
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

/**
 * Reports references to other files: a published ruleset is one document, and no linter follows them.
 */
function findReferences(entry: ParsedFile, { passesOver }: RulesetForm): Problem[] {
  const problems: Problem[] = [];
  eachNode(entry.value, ({ $ref: reference }, way) => {
    if (typeof reference !== 'string' || reference.startsWith('#')) return;
    const pointer = pointerOf(way);
    const why = passesOver(pointer, reference);
    const message = `The reference ${JSON.stringify(reference.slice(0, 200))} is not followed: ${why ?? 'a ruleset is one document'}. Copy the target here.`;
    const severity = why === null ? 'error' : 'warning';
    problems.push(problemAt(entry, joinPointer(pointer, '$ref'), 'ruleset-reference', message, { severity }));
  });
  return problems;
}

/** With lenient validation, schema errors are warnings. Anything that would load or run something stays an error. */
function asLenient(problem: Problem): Problem {
  return problem.rule === 'schema' && problem.pointer !== '' ? { ...problem, severity: 'warning' } : problem;
}
