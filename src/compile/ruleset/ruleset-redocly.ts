import { regexFromString } from '@redocly/openapi-core';
import type { Problem } from '../../model/problem.ts';
import { problemAt } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { assertionNames, nodeTypes, otherMembers, readBuiltIn, ruleBlocks, type BuiltIn } from './redocly-config.ts';
import { tryRules } from './ruleset-trial.ts';
import { isObject } from '../schema/schema-dialect.ts';
import { closest } from '../../model/closest.ts';

const builtIn = readBuiltIn();

/** What a ruleset of Redocly's may not hold, and what to do instead. */
const refused: readonly [members: RegExp, why: string][] = [
  [
    /^plugins$/,
    'loads code, which is not run here. Write what the plugin checks as assertions: a rule "rule/<name>" with "subject" and "assertions".',
  ],
  [/decorators$|Decorators$/, 'changes documents; a ruleset here checks them only. Make the change in the document.'],
  [
    /preprocessors$|Preprocessors$/,
    'changes documents; a ruleset here checks them only. Make the change in the document.',
  ],
  [
    /^resolve$/,
    'makes the linter fetch files. References are resolved inside the repository only; put the files there and remove this.',
  ],
  [
    /^(?:lint|apiDefinitions|referenceDocs|features\.openapi)$/,
    'is the form of Redocly before 1.0. Put "extends" and "rules" at the root instead.',
  ],
  [/^(?:rule|assert)\//, 'is a rule, and belongs under "rules".'],
];

const own = new Set(['title', 'description', 'version', 'extends', '$schema']);

/** What is wrong with a ruleset in Redocly's form beyond its schema. `broken` are the places where the schema has spoken. */
export async function checkRedoclyRuleset(
  entry: ParsedFile,
  ruleset: Record<string, unknown>,
  broken: ReadonlySet<string>,
): Promise<Problem[]> {
  const known = await builtIn;
  const problems = Object.keys(ruleset).flatMap((key) => checkMember(entry, key));
  problems.push(...checkApis(entry, ruleset['apis']));
  problems.push(...checkExtends(entry, ruleset['extends'], known));
  for (const block of ruleBlocks) {
    const rules = ruleset[block];
    for (const [name, setting] of isObject(rules) ? Object.entries(rules) : [])
      problems.push(...checkRule(entry, joinPointer('', block, name), name, setting, known));
  }
  const isRefused = problems.some(({ severity }) => severity === 'error');
  if (!isRefused && !('extends' in ruleset) && !ruleBlocks.some((block) => isObject(ruleset[block])))
    problems.push(problemAt(entry, '', 'ruleset-empty', 'The ruleset holds no rules: no "rules" and no "extends".'));
  const isWhole = broken.size === 0 && problems.every(({ severity }) => severity !== 'error');
  return isWhole ? [...problems, ...(await tryRules(entry, ruleset, known))] : problems;
}

function checkMember(entry: ParsedFile, key: string): Problem[] {
  const at = joinPointer('', key);
  const name = JSON.stringify(key);
  const why = refused.find(([members]) => members.test(key))?.[1];
  if (why !== undefined) return [problemAt(entry, at, 'ruleset-refused', `${name} ${why}`, { on: 'key' })];
  if (own.has(key) || key.startsWith('x-') || ruleBlocks.includes(key)) return [];
  if (otherMembers.has(key))
    return [
      problemAt(entry, at, 'ruleset-ignored', `${name} is not about rules and is ignored.`, {
        severity: 'info',
        on: 'key',
      }),
    ];
  const hint = closest(key, [...ruleBlocks, 'extends', 'title', 'description', 'version']);
  const message = `${name} is no member of a Redocly configuration and is ignored.${hint}`;
  return [problemAt(entry, at, 'ruleset-ignored', message, { severity: 'warning', on: 'key' })];
}

/** Rules of single documents: a published ruleset is for every document that it is attached to. */
function checkApis(entry: ParsedFile, apis: unknown): Problem[] {
  if (!isObject(apis)) return [];
  return Object.entries(apis).flatMap(([name, api]) => {
    const members = isObject(api) ? Object.keys(api) : [];
    return members
      .filter((key) => key === 'extends' || ruleBlocks.includes(key))
      .map((key) => {
        const message = `What "${key}" says for one document is ignored; a published ruleset is for every document. Put it at the root.`;
        return problemAt(entry, joinPointer('/apis', name, key), 'ruleset-ignored', message, {
          severity: 'warning',
          on: 'key',
        });
      });
  });
}

function checkExtends(entry: ParsedFile, value: unknown, { presets }: BuiltIn): Problem[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((name: unknown, at) => {
    if (typeof name !== 'string' || presets.has(name)) return [];
    const list = [...presets].join(', ');
    const message = `${JSON.stringify(name.slice(0, 200))} is no built-in ruleset (${list}); nothing else is loaded. Copy its rules into this one.`;
    return [problemAt(entry, joinPointer('/extends', at), 'ruleset-extends', message)];
  });
}

function checkRule(entry: ParsedFile, pointer: string, name: string, setting: unknown, known: BuiltIn): Problem[] {
  const about = (rule: string, message: string) => [problemAt(entry, pointer, rule, message, { on: 'key' })];
  if (name.startsWith('rule/')) return isObject(setting) ? checkAssertionRule(entry, pointer, setting) : [];
  if (known.rules.has(name)) return [];
  const quoted = JSON.stringify(name);
  if (name.startsWith('assert/'))
    return about(
      'ruleset-rule',
      `${quoted} is the form of Redocly before 1.0; such rules are named "rule/<name>" now.`,
    );
  if (name.includes('/'))
    return about(
      'ruleset-refused',
      `${quoted} is a rule of a plugin, and plugins are not run here. Write what it checks as assertions: a rule "rule/<name>".`,
    );
  const hint = name === 'spec' ? ' Did you mean "struct"?' : closest(name, known.rules);
  return about('ruleset-rule', `${quoted} is no rule of Redocly's, which would ignore it in silence.${hint}`);
}

function checkAssertionRule(entry: ParsedFile, pointer: string, rule: Record<string, unknown>): Problem[] {
  const where = Array.isArray(rule['where']) ? rule['where'] : [];
  return [
    ...checkAssertions(entry, pointer, rule),
    ...where.flatMap((part: unknown, at) =>
      isObject(part) ? checkAssertions(entry, joinPointer(pointer, 'where', at), part) : [],
    ),
  ];
}

function checkAssertions(entry: ParsedFile, pointer: string, part: Record<string, unknown>): Problem[] {
  const problems: Problem[] = [];
  const subject = isObject(part['subject']) ? part['subject'] : {};
  const type = subject['type'];
  if (typeof type === 'string' && !nodeTypes.has(type)) {
    const message = `${JSON.stringify(type)} is no node type, so the rule would never be applied.${closest(type, nodeTypes)}`;
    problems.push(problemAt(entry, joinPointer(pointer, 'subject', 'type'), 'ruleset-rule', message));
  }
  const assertions = isObject(part['assertions']) ? part['assertions'] : {};
  for (const name of Object.keys(assertions)) {
    if (assertionNames.has(name) || !name.includes('/')) continue;
    const message = `${JSON.stringify(name)} is an assertion of a plugin, and plugins are not run here. Use one of ${[...assertionNames].join(', ')}.`;
    problems.push(
      problemAt(entry, joinPointer(pointer, 'assertions', name), 'ruleset-refused', message, { on: 'key' }),
    );
  }
  const patterns: [unknown, string][] = [
    [subject['matchParentKeys'], joinPointer(pointer, 'subject', 'matchParentKeys')],
    ...['pattern', 'notPattern', 'ref'].map((name): [unknown, string] => [
      assertions[name],
      joinPointer(pointer, 'assertions', name),
    ]),
  ];
  for (const [pattern, at] of patterns)
    if (typeof pattern === 'string') problems.push(...checkPattern(entry, at, pattern));
  return problems;
}

function checkPattern(entry: ParsedFile, at: string, pattern: string): Problem[] {
  try {
    regexFromString(pattern);
    return [];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [problemAt(entry, at, 'ruleset-pattern', `This pattern is no regular expression: ${error.message}.`)];
  }
}
