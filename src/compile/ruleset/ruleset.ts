import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Problem } from '../../model/problem.ts';
import { findTwinsByText } from '../schema/ajv-unique-items.ts';
import { errorsOf } from '../schema/ajv-errors.ts';
import { kindOf } from '../detect.ts';
import { problemAt, type CompileKind } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { checkRedoclyRuleset } from './ruleset-redocly.ts';
import { checkSpectralRuleset } from './ruleset-spectral.ts';
import { isObject } from '../schema/schema-dialect.ts';
import { schemaProblems } from '../schema/schema-rules.ts';
import { mostLevels, type FindRuleset } from './spectral/rules.ts';

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
const mostMembers = 2000;

/** The release of each linter that a ruleset is checked for. */
const specifications = { redocly: '2', spectral: '6' } as const;

export type RulesetForm = keyof typeof schemas;

/**
 * Compiles a ruleset. It is valid if it matches the schema of its linter, every rule name, node
 * type, function, format and pattern is known or well-formed, and nothing in it loads code, files
 * or URLs. The author's bytes are kept. `title`, `description` and `version` may have the prefix
 * `x-`, because Redocly warns about the plain names.
 */
export const compileRuleset: CompileKind = async ({ entry, input }) => {
  const { value } = entry;
  const form = rulesetForm(value, entry.path);
  const problems: Problem[] = [];
  const size = isObject(value) ? Object.keys(value).length : 0;
  if (size > mostMembers) {
    const message = `The ruleset has ${size} members; the limit is ${mostMembers}. Rules belong under "rules".`;
    problems.push(problemAt(entry, '', 'limit-rules', message));
  } else if (isObject(value)) {
    const found = schemaProblems(entry, '', value, errorsOf(validatorOf(form), value));
    problems.push(...(form === 'spectral' ? found.map(asSpectralDoes) : found));
    problems.push(...findReferences(entry));
    const broken = new Set(problems.filter(({ severity }) => severity === 'error').map(({ pointer }) => pointer));
    const check = form === 'spectral' ? checkSpectralRuleset : checkRedoclyRuleset;
    problems.push(...(await check(entry, value, broken)));
  } else {
    problems.push(problemAt(entry, '', 'schema', 'A ruleset must be an object with "rules" or "extends".'));
  }
  const text = (key: string) => (isObject(value) && typeof value[key] === 'string' ? value[key] : null);
  return {
    problems: input.validation === 'lenient' ? problems.map(asLenient) : problems,
    bundle: isObject(value) ? value : null,
    kind: `${form}-ruleset`,
    specification: specifications[form],
    title: text('title') ?? text('x-title') ?? '',
    description: text('description') ?? text('x-description') ?? '',
    version: text('version') ?? text('x-version'),
    used: new Set([entry.path]),
  };
};

const spectralMembers = ['functions', 'functionsDir', 'aliases', 'overrides', 'formats', 'parserOptions', 'except'];

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
  const bases = names.map((name) => (typeof name === 'string' && depth < mostLevels ? find(name) : null));
  if (bases.some((base) => base !== null && rulesetForm(base, '', find, depth + 1) === 'spectral')) return 'spectral';
  const rules = isObject(value['rules']) ? Object.values(value['rules']) : [];
  return rules.some(isSpectralRule) ? 'spectral' : 'redocly';
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

/** Reports references to other files: a published ruleset is one document. */
function findReferences(entry: ParsedFile): Problem[] {
  const problems: Problem[] = [];
  const visit = (value: unknown, pointer: string): void => {
    if (Array.isArray(value)) return value.forEach((item, at) => visit(item, joinPointer(pointer, at)));
    if (!isObject(value)) return;
    const reference = value['$ref'];
    if (typeof reference === 'string' && !reference.startsWith('#')) {
      const message = `The reference ${JSON.stringify(reference.slice(0, 200))} is not followed: a ruleset is one document. Copy the target here.`;
      problems.push(problemAt(entry, joinPointer(pointer, '$ref'), 'ruleset-reference', message));
    }
    for (const [key, child] of Object.entries(value)) visit(child, joinPointer(pointer, key));
  };
  visit(entry.value, '');
  return problems;
}

/**
 * With lenient validation, schema errors are warnings. What would load or run anything stays an
 * error.
 */
function asLenient(problem: Problem): Problem {
  return problem.rule === 'schema' && problem.pointer !== '' ? { ...problem, severity: 'warning' } : problem;
}
