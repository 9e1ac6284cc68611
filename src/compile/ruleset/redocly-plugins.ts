import { isObject, type JsonObject } from '../../model/json.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import type { Config, detectSpec } from '@redocly/openapi-core';
import { pluginsMember } from '../compile.ts';
import { changeRule } from '../openapi/redocly.ts';

/** A plugin of a ruleset in Redocly's form, as it is when it was loaded. */
export interface Plugin {
  id: string;
  /** Its file, among `modules`. */
  path: string;
  /** Names of its rules, without its id. */
  rules: Readonly<Record<'oas2' | 'oas3', readonly string[]>>;
  assertions: readonly string[];
  configs: Readonly<Record<string, Readonly<JsonObject>>>;
  /** What else it has, which is not used here. */
  others: readonly string[];
  /** The code of the ruleset that it belongs to. */
  modules: unknown;
}

/** Reads the plugins that a ruleset names. Authors can write the member too. */
export function pluginsOf(ruleset: Readonly<JsonObject>, modules: unknown): Plugin[] {
  return listOf(ruleset[pluginsMember]).flatMap((one) => {
    const plugin = isObject(one) ? toPlugin(one, String(one['path'])) : null;
    return plugin === null ? [] : [{ ...plugin, modules }];
  });
}

/** Reads what an interpreter says of a plugin. Null: its id cannot be one. */
export function toPlugin(value: JsonObject, path: string): Omit<Plugin, 'modules'> | null {
  const { id, rules, assertions, configs, others } = value;
  if (typeof id !== 'string' || !/^[^/\s]{1,100}$/.test(id)) return null;
  const { oas2, oas3 } = objectOf(rules);
  const parts = Object.entries(objectOf(configs)).filter((one): one is [string, JsonObject] => isObject(one[1]));
  return {
    id,
    path,
    rules: { oas2: texts(oas2), oas3: texts(oas3) },
    assertions: texts(assertions),
    configs: Object.fromEntries(parts),
    others: texts(others),
  };
}

function texts(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === 'string');
}

/** What rulesets can name: presets in `extends`, rules, and assertions that Redocly does not have. */
export interface Names {
  presets: ReadonlySet<string>;
  rules: ReadonlySet<string>;
  assertions: ReadonlySet<string>;
  /** Whose some of them are. */
  plugins: readonly Plugin[];
}

/** These names, and those of plugins. */
export function withPlugins(names: Omit<Names, 'plugins'>, plugins: readonly Plugin[]): Names {
  const more = (known: Iterable<string>, namesIn: (plugin: Plugin) => readonly string[]) =>
    new Set([...known, ...plugins.flatMap((plugin) => namesIn(plugin).map((name) => `${plugin.id}/${name}`))]);
  return {
    presets: more(names.presets, ({ configs }) => Object.keys(configs)),
    rules: more(names.rules, ({ rules }) => [...rules.oas2, ...rules.oas3]),
    assertions: more(names.assertions, ({ assertions }) => assertions),
    plugins,
  };
}

/** The assertions of plugins that a rule makes, also in its `where`. */
export function customAssertions(rule: unknown): string[] {
  if (!isObject(rule)) return [];
  return [rule, ...listOf(rule['where'])].flatMap((part) =>
    Object.keys(objectOf(objectOf(part)['assertions'])).filter((name) => name.includes('/')),
  );
}

type Version = ReturnType<typeof detectSpec>;

/** What plugins check for a version of OpenAPI: their rules, and rules with assertions of theirs. */
export interface PluginRules {
  rules: { plugin: string; name: string; settings: JsonObject }[];
  assertions: JsonObject[];
}

/** Takes from a configuration what plugins check. The rest is for Redocly itself. */
export function takePluginRules(config: Config, plugins: readonly Plugin[], version: Version): PluginRules {
  const written: JsonObject = config.rules[version];
  const assertions = listOf(written['assertions']) as JsonObject[];
  const isOwn = (rule: JsonObject) => customAssertions(rule).length === 0;
  const custom = assertions.filter((rule) => !isOwn(rule));
  if (custom.length > 0) written['assertions'] = assertions.filter(isOwn);
  const rules = plugins.flatMap(({ id, rules: names }) =>
    names[version === 'oas2' ? 'oas2' : 'oas3'].flatMap((name) => {
      const settings = config.getRuleSettings(`${id}/${name}`, version) as unknown as JsonObject;
      return settings['severity'] === 'off' ? [] : [{ plugin: id, name, settings }];
    }),
  );
  return { rules, assertions: custom };
}

interface AnyContext {
  location: { absolutePointer: string; pointer: string };
  ignoreNextVisitorsOnNode(): void;
}
type AnyVisitor = (node: unknown, context: AnyContext) => void;
type StructRule = (options: object) => { any: AnyVisitor };

/**
 * Notes the nodes that Redocly's rule `struct` takes from the rules after it: those of plugins too,
 * which run in a walk of their own. They are noted when the configuration is used.
 */
export function noteIgnored(config: Config): ReadonlySet<string> {
  const ignored = new Set<string>();
  changeRule<StructRule>(config, 'struct', (struct) => (options) => {
    const { any } = struct(options);
    return {
      any: (node, context) => {
        const ignoreNextVisitorsOnNode = () => {
          ignored.add(`${context.location.absolutePointer}${context.location.pointer}`);
          context.ignoreNextVisitorsOnNode();
        };
        any(node, { ...context, ignoreNextVisitorsOnNode });
      },
    };
  });
  return ignored;
}
