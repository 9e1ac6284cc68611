import { isObject, type JsonObject } from '../../model/json.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import { fileURLToPath } from 'node:url';
import { BaseResolver, ConfigTypes, createConfig, type Config } from '@redocly/openapi-core';
import { modulesMember } from '../compile.ts';
import { changeRule } from '../openapi/redocly.ts';
import { customAssertions, pluginsOf, type Names, type Plugin } from './redocly-plugins.ts';
import { extendsOf, maxLevels, type FindRuleset } from './ruleset-files.ts';
import { clearRule, sayRule, sayRuleSometimes } from './rule-at-work.ts';

/** The members of a Redocly ruleset that contain rules: `rules`, `oas2Rules`, `oas3_1Rules`, … */
export const ruleBlocks: readonly string[] = membersOf('ConfigRoot').filter((key) => /^rules$|Rules$/.test(key));

/** Every other member of a Redocly configuration. */
export const otherMembers: ReadonlySet<string> = new Set([
  ...membersOf('ConfigRoot').filter((key) => !ruleBlocks.includes(key)),
  'theme',
]);

/**
 * The assertions that a custom rule can make. Redocly evaluates `sortOrder` without declaring it.
 */
export const assertionNames: ReadonlySet<string> = new Set([...membersOf('Assertions'), 'sortOrder']);

/** The node types that a custom rule can apply to. */
export const nodeTypes: ReadonlySet<string> = new Set(
  listOf(objectOf(objectOf(ConfigTypes['Subject']?.properties)['type'])['enum']).map(String),
);

function membersOf(type: string): string[] {
  return Object.keys(ConfigTypes[type]?.properties ?? {});
}

async function readBuiltIn(): Promise<Omit<Names, 'plugins'>> {
  const { plugins } = await createConfig({}, ownFolder);
  const presets = plugins.flatMap(({ configs }) => Object.keys(configs ?? {}));
  const rules = plugins.flatMap((plugin) => Object.values(plugin.rules ?? {}).flatMap((set) => Object.keys(set ?? {})));
  // `assertions` implements `rule/…`; authors cannot use it by name.
  return {
    presets: new Set(presets),
    rules: new Set(rules.filter((name) => name !== 'assertions')),
    assertions: new Set(),
  };
}

/**
 * Puts the rules of what a ruleset extends, other than built-in rulesets, before its own. Built-in
 * ones come first.
 */
export function flattenRedocly(
  ruleset: Readonly<JsonObject>,
  find: FindRuleset,
  within: readonly object[] = [],
  inherited: unknown = null,
): { ruleset: JsonObject; plugins: Plugin[] } {
  const presets: string[] = [];
  const modules = ruleset[modulesMember] ?? inherited;
  const plugins = pluginsOf(ruleset, modules);
  const merged: Record<string, JsonObject> = {};
  const add = (part: Readonly<JsonObject>) => {
    for (const block of ruleBlocks) if (isObject(part[block])) merged[block] = { ...merged[block], ...part[block] };
  };
  for (const [target] of extendsOf(ruleset)) {
    const base = typeof target === 'string' ? find(target) : target;
    if (base === null) presets.push(String(target));
    else if (!within.includes(base) && within.length < maxLevels) {
      const flat = flattenRedocly(base, find, [...within, ruleset], modules);
      presets.push(...(flat.ruleset['extends'] as string[]));
      add(flat.ruleset);
      plugins.push(...flat.plugins.filter(({ id }) => plugins.every((other) => other.id !== id)));
    }
  }
  add(ruleset);
  return { ruleset: { ...ruleset, ...merged, extends: presets }, plugins };
}

/**
 * Creates a Redocly configuration from a ruleset by allow-list: built-in rulesets, severities and
 * options of built-in rules, and assertions, and those of its plugins, which are among the names. Nothing
 * else is passed on, so that a ruleset cannot load code, files or URLs.
 */
export async function configOf(ruleset: Readonly<JsonObject>, names: Names): Promise<Config> {
  const stubs = names.plugins.map(({ id, assertions, configs }) => ({
    id,
    configs: Object.fromEntries(Object.entries(configs).map(([name, part]) => [name, allowed(part, names)])),
    assertions: Object.fromEntries(assertions.map((name) => [name, () => []])),
  }));
  return sayAssertions(await createConfig(allowed(ruleset, names), { ...ownFolder, plugins: stubs }));
}

function allowed(
  part: Readonly<JsonObject>,
  { presets, rules, assertions }: Names,
): { extends: string[] } & Record<string, never> {
  const blocks = ruleBlocks.flatMap((block) => {
    const written = part[block];
    if (!isObject(written)) return [];
    const kept = Object.entries(written).filter(
      ([name, setting]) =>
        (typeof setting === 'string' || isObject(setting)) &&
        (rules.has(name) || name.startsWith('rule/')) &&
        !holdsReference(setting) &&
        customAssertions(setting).every((assertion) => assertions.has(assertion)),
    );
    return [[block, Object.fromEntries(kept)] as const];
  });
  return {
    extends: listOf(part['extends']).filter((name): name is string => typeof name === 'string' && presets.has(name)),
    ...(Object.fromEntries(blocks) as Record<string, never>),
  } as { extends: string[] } & Record<string, never>;
}

function holdsReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsReference);
  if (!isObject(value)) return false;
  return typeof value['$ref'] === 'string' || Object.values(value).some(holdsReference);
}

class RefusingResolver extends BaseResolver {
  override loadExternalRef(reference: string): never {
    throw new Error(`A ruleset references ${reference}, which is not read.`);
  }
}

/**
 * Redocly looks for a plugin beside its configuration. Our own folder has none and is readable in a
 * sandbox.
 */
const ownFolder = {
  configPath: fileURLToPath(new URL('redocly.yaml', import.meta.url)),
  externalRefResolver: new RefusingResolver(),
};

/** The built-in rulesets of Redocly, and its rules for all specifications. */
export const builtIn = readBuiltIn();

type Assertions = (options: JsonObject) => unknown[];
type Call = (...given: unknown[]) => unknown;

/**
 * Lets Redocly's assertions report which of them runs. They match texts with JavaScript's regular
 * expressions, of which one call may take longer than a sandbox lives.
 */
export function sayAssertions(config: Config): Config {
  return changeRule<Assertions>(config, 'assertions', (assertions) => (options) => {
    const each = Object.values(options).filter(isObject);
    return assertions(options).map((visitor, at) => {
      const name = String(each[at]?.['assertionId'] ?? '');
      return mayBacktrack(each[at])
        ? wrap(visitor, () => sayRule(name), clearRule)
        : wrap(visitor, () => sayRuleSometimes(name));
    });
  });
}

function wrap(visitor: unknown, before: () => void, after?: () => void): unknown {
  if (typeof visitor === 'function')
    return (...given: unknown[]) => {
      before();
      const result = (visitor as Call)(...given);
      after?.();
      return result;
    };
  if (!isObject(visitor)) return visitor;
  return Object.fromEntries(Object.entries(visitor).map(([key, inner]) => [key, wrap(inner, before, after)]));
}

/** Whether a rule has a text with two quantifiers, as every slow regular expression has. */
function mayBacktrack(rule: unknown): boolean {
  if (typeof rule === 'string') return /[*+{].*[*+{]/s.test(rule);
  return typeof rule === 'object' && rule !== null && Object.values(rule).some(mayBacktrack);
}
