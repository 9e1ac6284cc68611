import { isObject, type JsonObject } from '../../model/json.ts';
import { detectSpec, lintDocument, regexFromString } from '@redocly/openapi-core';
import type { Problem } from '../../model/problem.ts';
import { collectProblems, isParsed, type CollectedCode, type Note } from '../kind.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import { unplaced } from '../text/parse.ts';
import { joinPointer } from '../../model/pointer.ts';
import {
  builtIn,
  configOf,
  ruleBlocks,
  assertionNames,
  flattenRedocly,
  nodeTypes,
  otherMembers,
} from './redocly-config.ts';
import { takePluginRules, withPlugins, type Names, type Plugin } from './redocly-plugins.ts';
import { createTree } from '../openapi/redocly.ts';
import { modulesMember, pluginsMember } from '../compile.ts';
import type { RulesetFile, RulesetForm } from './form.ts';
import { lintWithRedocly } from './redocly-lint.ts';
import { cannotExtend, isRulesetCoordinate } from './ruleset-files.ts';
import { closest, messageThrown } from '../../model/errors.ts';

/** Documents with a node of every common type, so that every rule applies to something. */
const samples: readonly object[] = [
  { swagger: '2.0', info: { title: 'a', version: '1' }, paths: { '/a': { get: { responses: {} } } } },
  ...['3.0.3', '3.1.0', '3.2.0'].map((openapi) => ({
    openapi,
    info: { title: 'a', version: '1' },
    servers: [{ url: 'https://a.example' }],
    tags: [{ name: 'a' }],
    paths: {
      '/a/{b}': {
        post: {
          tags: ['a'],
          parameters: [{ name: 'b', in: 'path', required: true, schema: { type: 'string' } }],
          requestBody: { content: { 'application/json': { schema: { type: 'object', properties: { c: {} } } } } },
          responses: { '200': { description: 'a', content: { 'application/json': { schema: { enum: ['d'] } } } } },
        },
      },
    },
  })),
];

/**
 * Runs the rules on small documents of each version, because undeclared options and unsuitable
 * assertions fail only when used. Reports the first rules that fail.
 */
async function tryRules(note: Note, ruleset: Readonly<JsonObject>, names: Names): Promise<void> {
  if ((await failureOf(atRoot(ruleset), names)) === null) return;
  const rules = ruleBlocks.flatMap((block) =>
    Object.entries(objectOf(ruleset[block])).map(([name, setting]): Rule => [block, name, setting]),
  );
  let left = namedFailures;
  // Bisects: most halves have no failing rule.
  async function search(part: readonly Rule[]): Promise<void> {
    if (part.length === 0 || left === 0) return;
    const failure = await failureOf(atRoot(rulesetOf(part)), names);
    if (failure === null) return;
    const [block, name] = part[0]!;
    if (part.length === 1) {
      left--;
      const message = `${JSON.stringify(name)} cannot be applied: ${failure}`;
      return note('ruleset-rule', joinPointer('', block, name), message, { on: 'key' });
    }
    const middle = part.length >> 1;
    await search(part.slice(0, middle));
    await search(part.slice(middle));
  }
  await search(rules);
}

type Rule = readonly [block: string, name: string, setting: unknown];

/** The most failing rules to report. Each takes several trials. */
const namedFailures = 20;

function rulesetOf(rules: readonly Rule[]): JsonObject {
  const blocks = Map.groupBy(rules, ([block]) => block);
  return Object.fromEntries(
    [...blocks].map(([block, own]) => [block, Object.fromEntries(own.map(([, name, setting]) => [name, setting]))]),
  );
}

/** The ruleset with its assertions repeated for the root node, which every document has. */
function atRoot(ruleset: Readonly<JsonObject>): JsonObject {
  const moved = ruleBlocks
    .filter((block) => isObject(ruleset[block]))
    .map((block) => [block, Object.fromEntries(Object.entries(ruleset[block]!).flatMap((rule) => variants(...rule)))]);
  return { ...ruleset, ...Object.fromEntries(moved) };
}

function variants(name: string, setting: unknown): [string, unknown][] {
  if (!name.startsWith('rule/') || !isObject(setting)) return [[name, setting]];
  const { where, ...rule } = setting;
  const parts = [rule, ...listOf(where)].filter(isObject);
  const tried = parts.map(({ subject, assertions }, at): [string, unknown] => {
    const property = isObject(subject) && subject['property'] ? { property: subject['property'] } : {};
    return [`${name}-${at}`, { subject: { type: 'Root', ...property }, assertions }];
  });
  return [[name, setting], ...tried];
}

async function failureOf(ruleset: Readonly<JsonObject>, names: Names): Promise<string | null> {
  try {
    const config = await configOf(ruleset, names);
    for (const value of samples) {
      const file = unplaced('a.json', JSON.stringify(value), value);
      takePluginRules(config, names.plugins, detectSpec(value));
      const tree = createTree({ files: new Map([[file.path, file]]) });
      await lintDocument({ document: tree.documentOf(file.path), config, externalRefResolver: tree.resolver });
    }
    return null;
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}

/** Members that a Redocly ruleset must not have, and what to do instead. */
const refused: readonly [members: RegExp, why: string][] = [
  [
    /(?:decorators|preprocessors)$/i,
    'changes documents, but a registry publishes what was written. Make the change in the document, or in an overlay.',
  ],
  [
    /^resolve$/,
    'makes the linter fetch files, but references resolve inside the repository only. Put the files there and remove this.',
  ],
  [
    /^(?:lint|apiDefinitions|referenceDocs|features\.openapi)$/,
    'is from Redocly before 1.0. Put "extends" and "rules" at the root instead.',
  ],
  [/^(?:rule|assert)\//, 'is a rule. Put it under "rules".'],
];

/**
 * The most rules in a ruleset, each `where` counted as one more. Large organizations have some
 * hundred, and Redocly takes about a millisecond for each when they are tried.
 */
const maxRules = 2000;

const ownMembers = new Set(['title', 'description', 'version', 'extends', '$schema']);

/** The form of Redocly's rulesets. */
export const redocly: RulesetForm = {
  release: '2',
  schema: 'redocly-ruleset',
  fileName: /(?:^|\/)\.?redocly\.(?:ya?ml|json)$/i,
  isRoot: isRedocly,
  isSurely: () => false,
  isLikely: () => true,
  ease: (problem) => problem,
  passesOver: () => null,
  check: checkFile,
  lint: lintWithRedocly,
};

const redoclyPresets = new Set(['minimal', 'recommended', 'recommended-strict', 'spec', 'all']);
const redoclyRoot = new Set(
  [
    'apis decorators extends plugins preprocessors resolve rules theme openapi telemetry scorecard arazzo1Rules',
    'async2Rules async3Rules oas2Rules oas3_0Rules oas3_1Rules oas3_2Rules overlay1Rules struct apiDefinitions lint',
    'name version title description',
  ].flatMap((line) => line.split(' ')),
);
const redoclySeverities = new Set(['error', 'warn', 'off']);

/**
 * Redocly: the root has only Redocly's keys, and the ruleset extends a built-in one or has rules
 * with Redocly's severities.
 */
function isRedocly(value: JsonObject): boolean {
  if (!Object.keys(value).every((key) => redoclyRoot.has(key) || key.startsWith('x-'))) return false;
  const rules = Object.entries(objectOf(value['rules']));
  const carries = rules.some(([name, rule]) => isRedoclyRule(name, rule));
  if (rules.length > 0 && !rules.every(([, rule]) => typeof rule === 'string' || isObject(rule))) return false;
  if (carries) return true;
  return rules.length === 0 && [value['extends']].flat(2).some((name) => redoclyPresets.has(String(name)));
}

/** Redocly's rules have a severity. An assertion (`rule/…`) is also recognized by its subject. */
function isRedoclyRule(name: string, rule: unknown): boolean {
  if (/^(?:rule|assert)\//.test(name)) return isObject(rule) && ('subject' in rule || 'assertions' in rule);
  if (!redoclyRuleNames.test(name)) return false;
  return isObject(rule) || redoclySeverities.has(String(rule));
}

// Matches the names of Redocly's built-in rules and no rule of a code linter.
const redoclyRuleNames =
  /^(?:struct|spec|info-|operation-|operations?-|path-|paths?-|tags?-|no-(?:server|path|identical-paths|ambiguous-paths|unresolved-refs|invalid-|enum-|example-|unused-components|http-verbs|required-schema|schema-type|undefined-server|illogical|duplicated|mixed|query|component|empty-servers)|security-|parameter-|request-|response-|boolean-|scalar-|component-|configurable|nullable|spec-|array-|rule\/|array|discriminator|required-)/;

interface Context {
  note: Note;
  ruleset: JsonObject;
  /** Built-in ones, and those of plugins. */
  names: Names;
}

async function checkFile({ entry, ruleset, broken, find, code }: RulesetFile): Promise<Problem[]> {
  const { problems, note } = collectProblems(entry);
  const names = withPlugins(await builtIn, pluginsFor(ruleset, code));
  const context = { note, ruleset, names };
  const count = ruleBlocks.reduce((sum, block) => sum + countRules(objectOf(ruleset[block])), 0);
  if (count > maxRules) {
    note('limit-rules', '', `The ruleset has ${count} rules; the limit is ${maxRules}. Split the ruleset.`);
    return problems;
  }
  for (const key of Object.keys(ruleset)) checkMember(note, key, code !== null);
  for (const plugin of names.plugins) checkPlugin(context, plugin);
  checkApis(note, objectOf(ruleset['apis']));
  for (const [at, name] of listOf(ruleset['extends']).entries())
    if (typeof name === 'string' && !names.presets.has(name) && !isRulesetCoordinate(name) && find(name) === null)
      note('ruleset-extends', joinPointer('/extends', at), cannotExtend(name, names.presets));
  for (const block of ruleBlocks)
    for (const [name, setting] of Object.entries(objectOf(ruleset[block])))
      checkRule(context, joinPointer('', block, name), name, setting);
  const isRefused = problems.some(({ severity }) => severity === 'error');
  if (!isRefused && !('extends' in ruleset) && !ruleBlocks.some((block) => isObject(ruleset[block])))
    note('ruleset-empty', '', 'The ruleset has no rules. Add "rules" or "extends".');
  const isWhole = broken.size === 0 && problems.every(({ severity }) => severity !== 'error');
  if (isWhole) await tryRules(note, ruleset, names);
  return problems;
}

function countRules(rules: JsonObject): number {
  return Object.values(rules).reduce<number>((sum, rule) => sum + 1 + listOf(objectOf(rule)['where']).length, 0);
}

function pluginsFor(ruleset: JsonObject, code: CollectedCode | null): Plugin[] {
  if (code === null) return [];
  const values = [...code.files.values()].filter(isParsed).map(({ value }) => value);
  const all = [ruleset, ...values.filter(isObject)].flatMap((value) => flattenRedocly(value, () => null).plugins);
  return all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at);
}

function checkPlugin({ note, ruleset }: Context, { id, others, path }: Plugin): void {
  if (others.length === 0 || !('plugins' in ruleset)) return;
  const message = `The plugin ${JSON.stringify(id)} (${path}) also has ${others.join(', ')}, which have no effect: a ruleset only checks documents.`;
  note('ruleset-ignored', '/plugins', message, { severity: 'info', on: 'key' });
}

const codeMembers: readonly string[] = ['plugins', pluginsMember, modulesMember];

function checkMember(note: Note, key: string, runsCode: boolean): void {
  const at = joinPointer('', key);
  const name = JSON.stringify(key);
  const isCode = codeMembers.includes(key);
  const why = isCode ? codeIsOff : refused.find(([members]) => members.test(key))?.[1];
  if (isCode && runsCode) return;
  if (why !== undefined) return note('ruleset-refused', at, `${name} ${why}`, { on: 'key' });
  if (ownMembers.has(key) || key.startsWith('x-') || ruleBlocks.includes(key)) return;
  const ignore = (says: string, severity: 'info' | 'warning') =>
    note('ruleset-ignored', at, `${name} is not ${says}`, { severity, on: 'key' });
  if (otherMembers.has(key)) return ignore('about rules and is ignored.', 'info');
  const hint = closest(key, [...ruleBlocks, 'extends', 'title', 'description', 'version']);
  ignore(`a member of a Redocly configuration and is ignored.${hint}`, 'warning');
}

const codeIsOff =
  'loads code, which is not run here. Write the checks as assertions: a rule "rule/<name>" with "subject" and "assertions".';

/** Reports rules for single documents: a published ruleset applies to every document it is attached to. */
function checkApis(note: Note, apis: JsonObject): void {
  for (const [name, api] of Object.entries(apis))
    for (const key of Object.keys(objectOf(api))) {
      if (key !== 'extends' && !ruleBlocks.includes(key)) continue;
      const message = `"${key}" of a single API is ignored, because a published ruleset applies to every document. Move it to the root.`;
      note('ruleset-ignored', joinPointer('/apis', name, key), message, { severity: 'warning', on: 'key' });
    }
}

function checkRule(context: Context, pointer: string, name: string, setting: unknown): void {
  const { note, names } = context;
  const about = (rule: string, message: string) => note(rule, pointer, message, { on: 'key' });
  const quoted = JSON.stringify(name);
  if (name.startsWith('rule/')) {
    if (!isObject(setting)) return;
    checkAssertions(context, pointer, setting);
    for (const [at, part] of listOf(setting['where']).entries())
      if (isObject(part)) checkAssertions(context, joinPointer(pointer, 'where', at), part);
  } else if (names.rules.has(name)) return;
  else if (name.startsWith('assert/'))
    about('ruleset-rule', `${quoted} is from Redocly before 1.0. Rename it to "rule/<name>".`);
  else if (name.includes('/'))
    about(
      'ruleset-refused',
      `${quoted} is a rule of ${sayPlugin(name, names)} Write its checks as assertions: a rule "rule/<name>".`,
    );
  else {
    const hint = name === 'spec' ? ' Did you mean "struct"?' : closest(name, names.rules);
    about('ruleset-rule', `Redocly has no rule ${quoted} and would silently ignore it.${hint}`);
  }
}

/** Whose a name with a slash is, as the end of a sentence. */
function sayPlugin(name: string, { plugins }: Names): string {
  const id = name.split('/')[0]!;
  if (plugins.some((plugin) => plugin.id === id)) return `the plugin ${JSON.stringify(id)}, which does not have it.`;
  return plugins.length > 0
    ? 'a plugin that is not among "plugins".'
    : 'a plugin, and plugins are not run here unless "plugins" names their files and the operator allows it.';
}

function checkAssertions({ note, names }: Context, pointer: string, part: JsonObject): void {
  const [subject, assertions] = [objectOf(part['subject']), objectOf(part['assertions'])];
  const { type } = subject;
  if (typeof type === 'string' && !nodeTypes.has(type)) {
    const message = `${JSON.stringify(type)} is not a node type, so the rule would never apply.${closest(type, nodeTypes)}`;
    note('ruleset-rule', joinPointer(pointer, 'subject', 'type'), message);
  }
  for (const name of Object.keys(assertions)) {
    if (assertionNames.has(name) || !name.includes('/') || names.assertions.has(name)) continue;
    const message = `${JSON.stringify(name)} is an assertion of ${sayPlugin(name, names)} Use one of ${[...assertionNames].join(', ')}.`;
    note('ruleset-refused', joinPointer(pointer, 'assertions', name), message, { on: 'key' });
  }
  checkPattern(note, joinPointer(pointer, 'subject', 'matchParentKeys'), subject['matchParentKeys']);
  for (const name of ['pattern', 'notPattern', 'ref'])
    checkPattern(note, joinPointer(pointer, 'assertions', name), assertions[name]);
}

function checkPattern(note: Note, at: string, pattern: unknown): void {
  if (typeof pattern !== 'string') return;
  const failure = messageThrown(() => regexFromString(pattern), SyntaxError);
  if (failure !== null) note('ruleset-pattern', at, `This pattern is not a valid regular expression: ${failure}.`);
}
