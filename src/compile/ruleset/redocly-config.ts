import { fileURLToPath } from 'node:url';
import { BaseResolver, ConfigTypes, createConfig, type Config } from '@redocly/openapi-core';
import { isObject } from '../schema/schema-dialect.ts';

/** The blocks of a ruleset in Redocly's form that hold rules: `rules`, `oas2Rules`, `oas3_1Rules`, … */
export const ruleBlocks: readonly string[] = membersOf('ConfigRoot').filter((key) => /^rules$|Rules$/.test(key));

/** Every other member of a Redocly configuration. */
export const otherMembers: ReadonlySet<string> = new Set([
  ...membersOf('ConfigRoot').filter((key) => !ruleBlocks.includes(key)),
  'theme',
]);

/** The assertions that a rule of one's own can make. `sortOrder` is evaluated though it is not declared. */
export const assertionNames: ReadonlySet<string> = new Set([...membersOf('Assertions'), 'sortOrder']);

/** The node types that a rule of one's own can be about. */
export const nodeTypes: ReadonlySet<string> = new Set(declaredNodeTypes());

function declaredNodeTypes(): string[] {
  const properties: unknown = ConfigTypes['Subject']?.properties;
  const type = isObject(properties) ? properties['type'] : null;
  const names = isObject(type) ? type['enum'] : null;
  return Array.isArray(names) ? names.map(String) : [];
}

function membersOf(type: string): string[] {
  return Object.keys(ConfigTypes[type]?.properties ?? {});
}

/** What Redocly brings along. */
export interface BuiltIn {
  /** Names of rulesets that can be extended. */
  presets: ReadonlySet<string>;
  /** Names of rules, of all specifications. */
  rules: ReadonlySet<string>;
}

/** Asks Redocly itself for its rules and rulesets. */
export async function readBuiltIn(): Promise<BuiltIn> {
  const { plugins } = await createConfig({}, ownFolder);
  const presets = plugins.flatMap(({ configs }) => Object.keys(configs ?? {}));
  const rules = plugins.flatMap((plugin) => Object.values(plugin.rules ?? {}).flatMap((set) => Object.keys(set ?? {})));
  // `assertions` is how `rule/…` is run; `metadata-schema` and the like are no rules of documents.
  return { presets: new Set(presets), rules: new Set(rules.filter((name) => name !== 'assertions')) };
}

/**
 * Redocly's configuration made of a ruleset, by allow-list: built-in rulesets, severities and options of built-in rules, assertions. Whatever
 * else the ruleset holds is not handed over, so that nothing in it can load code, files or URLs.
 */
export async function configOf(ruleset: Readonly<Record<string, unknown>>, builtIn: BuiltIn): Promise<Config> {
  const presets = Array.isArray(ruleset['extends'])
    ? ruleset['extends'].filter((name) => builtIn.presets.has(name))
    : [];
  const blocks = ruleBlocks.flatMap((block) => {
    const rules = ruleset[block];
    return isObject(rules) ? [[block, allowedRules(rules, builtIn)] as const] : [];
  });
  return createConfig({ extends: presets, ...Object.fromEntries(blocks) }, ownFolder);
}

function allowedRules(rules: Record<string, unknown>, builtIn: BuiltIn): Record<string, never> {
  const allowed = Object.entries(rules).filter(
    ([name, setting]) =>
      (typeof setting === 'string' || isObject(setting)) &&
      (builtIn.rules.has(name) || name.startsWith('rule/')) &&
      !holdsReference(setting),
  );
  return Object.fromEntries(allowed) as Record<string, never>;
}

/** Whether a `$ref` stands in it that Redocly would follow. */
function holdsReference(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsReference);
  if (!isObject(value)) return false;
  return typeof value['$ref'] === 'string' || Object.values(value).some(holdsReference);
}

class RefusingResolver extends BaseResolver {
  override loadExternalRef(reference: string): never {
    throw new Error(`A ruleset refers to ${reference}; nothing ownFolder it is read.`);
  }
}

/** Redocly looks for a plugin beside its configuration: it is told that this lies in our own code, where none is, and which a sandbox may read. */
const ownFolder = {
  configPath: fileURLToPath(new URL('redocly.yaml', import.meta.url)),
  externalRefResolver: new RefusingResolver(),
};
