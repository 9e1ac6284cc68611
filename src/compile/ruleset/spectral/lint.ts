import { isObject, type JsonObject } from '../../../model/json.ts';
import type { Problem, Severity } from '../../../model/problem.ts';
import { objectOf, textOf } from '../../../render/json-value.ts';
import { isStackFull, maxFindings, problemAt, type KindInput, type CollectedDocument } from '../../kind.ts';
import { sayCode, clearRule, sayRule, sayRuleSometimes } from '../rule-at-work.ts';
import { createBudget, TooMuchWork, type Budget } from './pattern.ts';
import { type Check, type Failure, type Tools, formatsOf, type Formats } from './core-function.ts';
import { coreFunctions, createTools, printValue } from './functions.ts';
import { keysOf, linkedGraph, plainGraph, pointerOf, type Graph, type Node } from './graph.ts';
import { createMatcher, type Matcher } from './path/match-paths.ts';
import { builtInFunctions } from './oas-functions.ts';
import {
  withOverrides,
  type Overridden,
  effectiveRules,
  expandAliases,
  levelOf,
  type EffectiveRule,
  type Level,
} from './effective-rules.ts';
import { parsePath } from './path/json-path.ts';
import type { Failure as CodeFailure } from '../../interpreter/failure.ts';
import type { UsedRuleset } from '../form.ts';
import { ruleOf, sayFailure } from '../ruleset-code.ts';
import { createOwnFunctions, type Batch, type OwnFinding, targetsOf, type Target } from './own-functions.ts';

/** The work of one check, and of one finding, beside what their functions spend. */
const checkWork = 8;
const findingWork = 20;

const maxNames = 20;

const severities: Readonly<Record<Level, Severity>> = { 0: 'error', 1: 'warning', 2: 'info', 3: 'info' };

/**
 * Checks a document against a Spectral ruleset. Nothing in the ruleset is run as code. A rule that
 * cannot be applied gives one blocking problem, `ruleset-failed`, and the others still apply. `work`:
 * the most work, if not the usual limit.
 */
export function lintWithSpectral(
  { entry, files }: CollectedDocument,
  {
    ruleset,
    name,
    find,
    work,
    programs = new Map(),
  }: Omit<UsedRuleset, 'programs'> & Partial<UsedRuleset> & { work?: number },
): Problem[] {
  const formats = formatsOf(entry.value);
  const linked = linkedGraph({ entry, files });
  const graphs = { resolved: linked, unresolved: plainGraph(entry, linked) };
  const matchers = { resolved: createMatcher(), unresolved: createMatcher() };
  const problems: Problem[] = [];
  const batches: (Batch & { run: RuleRun })[] = [];
  const counts = { error: 0, warning: 0, info: 0 };
  const budget = createBudget(work);
  const tools = createTools(budget);
  const overridden = withOverrides(ruleset, entry.path);
  const { rules, missing, unknown } = effectiveRules(overridden.ruleset, find);
  for (const base of missing) {
    const message = `The ruleset ${name} extends ${base}, which is not available here.`;
    problems.push(problemAt(entry, '', 'ruleset-failed', message));
  }
  if (unknown.size > 0) {
    const message = `The ruleset ${name} configures rules that are not defined: ${[...unknown].slice(0, maxNames).join(', ')}.`;
    problems.push(problemAt(entry, '', 'ruleset-rule', message, { severity: 'warning' }));
  }
  for (const rule of rules.values()) {
    if (!rule.isEnabled || rule.formats?.isDisjointFrom(formats)) continue;
    const kind = rule.definition['resolved'] === false ? 'unresolved' : 'resolved';
    try {
      addRule(
        matchers[kind],
        { rule, graph: graphs[kind], formats, problems, counts, budget, overridden, batches },
        tools,
      );
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push(failedRule(entry, name, rule.name, error.message));
    }
  }
  try {
    for (const kind of ['resolved', 'unresolved'] as const) matchers[kind].run(graphs[kind], graphs[kind].root, budget);
  } catch (error) {
    if (!(error instanceof TooMuchWork)) throw error;
    return [failedRule(entry, name, error.rule, error.message || tooMuchWork)];
  }
  if (batches.length > 0) {
    const document = { path: entry.path, formats, resolved: linked, written: graphs.unresolved };
    const runOwn = createOwnFunctions(programs, document);
    for (const batch of batches) {
      sayCode(batch.rule.name);
      const result = runOwn(batch);
      clearRule();
      if ('failure' in result) problems.push(failedFunction(entry, name, batch, result.failure));
      else for (const finding of result.findings) reportOwn(batch.run, finding);
    }
  }
  return [...problems, ...cutFindings(entry, name, counts)];
}

const tooMuchWork = 'it takes too much work on this document. Make its "given" more specific, or its patterns simpler';
const inCircles = 'its schema follows references of this document that lead back';

/** A fault of a function is one of its ruleset, and not of the document. */
function failedFunction(
  entry: KindInput['entry'],
  ruleset: string,
  { rule, fn }: Batch,
  failure: CodeFailure,
): Problem {
  const what = `The function ${JSON.stringify(fn.reference)} of the rule ${JSON.stringify(rule.name)} of the ruleset ${ruleset}`;
  return problemAt(entry, '', ruleOf(failure), `${what} ${sayFailure(failure)}`);
}

function reportOwn(run: RuleRun, { target, message, keys }: OwnFinding): void {
  if (keys?.from !== 'root') return report(run, target, { message, ...(keys && { keys: keys.keys }) });
  report(run, { node: run.graph.root, property: target.property }, { message, keys: keys.keys });
}

function cutFindings(entry: KindInput['entry'], ruleset: string, counts: Record<Severity, number>): Problem[] {
  return (['error', 'warning', 'info'] as const)
    .filter((severity) => counts[severity] > maxFindings)
    .map((severity) => {
      const message = `The ruleset ${ruleset} has ${counts[severity]} findings of severity ${severity} in this document. Stele keeps only the first ${maxFindings}. Make its rules more specific.`;
      return problemAt(entry, '', 'ruleset-findings-cut', message, { severity });
    });
}

function failedRule(entry: KindInput['entry'], ruleset: string, rule: string, why: string): Problem {
  const message = `The rule ${JSON.stringify(rule)} of the ruleset ${ruleset} cannot be applied: ${why.replace(/\.$/, '')}.`;
  return problemAt(entry, '', 'ruleset-failed', message);
}

interface RuleRun {
  rule: EffectiveRule;
  graph: Graph;
  formats: Formats;
  problems: Problem[];
  /** The number of findings of each severity, including those not kept in `problems`. */
  counts: Record<Severity, number>;
  budget: Budget;
  overridden: Overridden;
  /** Checks that functions of the ruleset make when all nodes are found. */
  batches: (Batch & { run: RuleRun })[];
}

/** Adds the expressions of a rule to the matcher. Throws an `Error` if the rule is not valid. */
function addRule(matcher: Matcher, run: RuleRun, tools: Tools): void {
  const { rule, graph, formats, budget } = run;
  const { given, then } = rule.definition;
  const steps = [then].flat().filter(isObject);
  const checks = steps.map((step): [field: string | null, check: Check | Batch] => [
    typeof step['field'] === 'string' ? step['field'] : null,
    batchOf(step, run) ?? checkOf(step, tools),
  ]);
  const fields = checks.map(([field]) => targetsOf(field, graph, budget));
  const isLong = steps.some((step) => step['function'] === 'schema');
  const take = (node: Node): void => {
    for (const [at, [, check]] of checks.entries())
      for (const target of fields[at]!(node)) {
        budget.spend(checkWork);
        if (typeof check !== 'function') {
          check.targets.push(target);
          continue;
        }
        const mayBeLong = isLong || isLongText(target.node.value);
        if (mayBeLong) sayRule(rule.name);
        else sayRuleSometimes(rule.name);
        const subject = subjectOf(target.property);
        const failures = check(target.node.value, { graph, formats, node: target.node, subject });
        if (mayBeLong) clearRule();
        for (const failure of failures) report(run, target, failure);
      }
  };
  const takeAsRule = (node: Node): void => {
    try {
      take(node);
    } catch (error) {
      const fault = isStackFull(error) ? new TooMuchWork(inCircles) : error;
      if (fault instanceof TooMuchWork) fault.rule = rule.name;
      throw fault;
    }
  };
  for (const expression of [given].flat().filter((one) => typeof one === 'string'))
    for (const expanded of expandAliases(expression, rule.aliases, formats))
      matcher.add(parsePath(expanded), { rule: rule.name, take: takeAsRule });
}

function batchOf(step: JsonObject, run: RuleRun): Batch | null {
  const fn = run.rule.functions.get(String(step['function']));
  if (fn === undefined) return null;
  const isResolved = run.rule.definition['resolved'] !== false;
  const batch = { rule: run.rule, fn, options: step['functionOptions'], isResolved, targets: [], run };
  run.batches.push(batch);
  return batch;
}

function checkOf(step: JsonObject, tools: Tools): Check {
  const name = String(step['function']);
  const coreFunction = Object.hasOwn(coreFunctions, name) ? coreFunctions[name] : builtInFunctions.get(name);
  if (coreFunction === undefined) throw new Error(`${JSON.stringify(name)} is not a core function`);
  return coreFunction(objectOf(step['functionOptions']), tools);
}

function report(run: RuleRun, target: Target, failure: Failure): void {
  const { rule, graph, problems, counts, overridden, budget } = run;
  budget.spend(findingWork);
  const { node, missing } = walk(graph, target.node, failure.keys ?? []);
  const { file } = node.place;
  const pointer = pointerOf(node.place);
  const written = overridden.severityAt(rule.name, pointer);
  const level = written === undefined ? rule.level : levelOf(written);
  if (level === null) return;
  const severity = severities[level];
  // Each severity by itself, so that many hints do not hide an error.
  if (++counts[severity] > maxFindings) return;
  const values = {
    property: failure.keys === undefined ? target.property : (missing ?? keysOf(node.place).at(-1) ?? ''),
    error: failure.message,
    path: `#${pointer}`,
    description: textOf(rule.definition['description']),
    value: node.value,
  };
  const { message: template, description } = rule.definition;
  const message =
    typeof template === 'string'
      ? fillMessage(template, values).trim()
      : textOf(description).trim() || fillMessage(failure.message, values);
  const isScalar = node.value !== undefined && (typeof node.value !== 'object' || node.value === null);
  const problem = problemAt(file, pointer, rule.name, message, {
    severity,
    on: isScalar && target.isKey !== true ? 'value' : 'key',
  });
  problems.push(rule.documentationUrl === null ? problem : { ...problem, documentationUrl: rule.documentationUrl });
}

/** Follows keys from a node as far as they exist. `missing`: the first key that does not. */
function walk(graph: Graph, start: Node, keys: readonly (string | number)[]): { node: Node; missing: string | null } {
  let node = start;
  for (const key of keys) {
    const { value, place } = node;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      return { node, missing: String(key) };
    node = graph.child(place, key, (value as Record<string | number, unknown>)[key]);
  }
  return { node, missing: null };
}

/** A lookahead is tried at many places of a text. */
function isLongText(value: unknown): boolean {
  return typeof value === 'string' && value.length > 1000;
}

interface MessageValues {
  property: string | number;
  error: string;
  path: string;
  description: string;
  value: unknown;
}

const longestValue = 500;

/**
 * Fills the placeholders of a message: `{{property}}`, `{{error}}`, `{{path}}`, `{{description}}`
 * and `{{value}}`, and `#{{print("property")}}` as in Spectral's own messages. Others become empty.
 */
function fillMessage(template: string, values: MessageValues): string {
  return template.replace(/(#?)\{\{([^}\n]+)\}\}/g, (_, hash: string, inside: string) => {
    const name = inside.trim();
    if (hash === '') return placeholderText(name, values);
    const printed = /^print\(\s*["'](\w+)["']\s*\)$/.exec(name)?.[1];
    if (printed === 'property') return subjectOf(values.property);
    if (printed === 'value') return printValue(values.value).slice(0, longestValue);
    return placeholderText(printed ?? name, values);
  });
}

/** The beginning of a message about a value. */
function subjectOf(property: string | number): string {
  return property === '' ? 'The document ' : `"${property}" property `;
}

function placeholderText(name: string, values: MessageValues): string {
  if (!Object.hasOwn(values, name)) return '';
  const value = values[name as keyof MessageValues];
  const text = typeof value === 'object' && value !== null ? printValue(value) : String(value ?? '');
  return text.slice(0, longestValue);
}
