import { readFileSync } from 'node:fs';
import { listOf, objectOf } from '../../../render/json-value.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { functionsMember, modulesMember } from '../../compile.ts';
import { createPathGlob, pathGlobProblem } from '../../../model/glob.ts';
import { extendsOf, maxLevels, type FindRuleset, type Ruleset, type Which } from '../ruleset-files.ts';

/**
 * A ruleset as Spectral publishes it: its names, places, severities and requirements. Rules for documents that are not
 * stored here (AsyncAPI, Arazzo) have only their names, so that rulesets can configure them.
 */
function read(name: string): Ruleset {
  const url = new URL(`../../../../content/rulesets/spectral-${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Ruleset;
}

const [oas, owasp] = [read('oas'), read('owasp')];

/** The name of the npm package with the OWASP set, and the URLs of it that its documentation names. */
const owaspPackage = '@stoplight/spectral-owasp-ruleset';
const owaspUrls = ['', '@2.0.1'].map((version) => `https://unpkg.com/${owaspPackage}${version}/dist/ruleset.mjs`);

/** The rulesets that can be extended by name. */
export const builtInRulesets: ReadonlyMap<string, Ruleset> = new Map([
  ['spectral:oas', oas],
  ['vacuum:oas', oas],
  ...[owaspPackage, ...owaspUrls].map((name): [string, Ruleset] => [name, owasp]),
  ['spectral:asyncapi', read('asyncapi')],
  ['spectral:arazzo', read('arazzo')],
]);

/** A ruleset that `extends` names or contains. Null: it is not found. */
export function baseOf(target: string | Ruleset, find: FindRuleset): Ruleset | null {
  return typeof target === 'string' ? (builtInRulesets.get(target) ?? find(target)) : target;
}

/** A severity of Spectral: 0 error, 1 warning, 2 information, 3 hint. */
export type Level = 0 | 1 | 2 | 3;

/** A rule as it applies, after everything that the ruleset extends and overrides. */
export interface EffectiveRule {
  name: string;
  isEnabled: boolean;
  level: Level;
  /** Everything that the rule's definition contains. */
  definition: Readonly<JsonObject>;
  isRecommended: boolean;
  /** Formats of documents that it applies to; null for all. */
  formats: ReadonlySet<string> | null;
  documentationUrl: string | null;
  /** Where its aliases are looked up. */
  aliases: Aliases;
  /** The functions of its ruleset that it can use. */
  functions: ReadonlyMap<string, OwnFunction>;
}

/** A function of a ruleset: its reference in the code, and the files of that code. */
export interface OwnFunction {
  reference: string;
  modules: unknown;
}

/** Aliases of a ruleset, and of those that it extends. */
export type Aliases = ReadonlyMap<string, unknown>;

const levels: Readonly<Record<string, Level>> = { error: 0, warn: 1, info: 2, hint: 3 };

/** Reads a severity: its name or number. Null for `off`, and for anything else. */
export function levelOf(written: unknown): Level | null {
  if (typeof written === 'string') return levels[written] ?? null;
  return written === 0 || written === 1 || written === 2 || written === 3 ? written : null;
}

/**
 * Applies what a ruleset extends, in order, and then its own rules, as Spectral does. Rulesets that
 * are not found, and those that lead back to themselves, count as empty.
 */
export function effectiveRules(ruleset: Ruleset, find: FindRuleset): Effective {
  const finding = { find, missing: new Set<string>(), unknown: new Set<string>() };
  const { rules } = collect(ruleset, finding, 'recommended', false, [], null);
  return { ...finding, rules };
}

/** The rules of a ruleset with everything that it extends. */
export interface Effective {
  rules: ReadonlyMap<string, EffectiveRule>;
  /** What it extends and is not found. */
  missing: Set<string>;
  /** Rules that it configures and that are not defined. */
  unknown: Set<string>;
}

interface Collected {
  rules: Map<string, EffectiveRule>;
  aliases: Map<string, unknown>;
  functions: Map<string, OwnFunction>;
}

function collect(
  ruleset: Ruleset,
  finding: Omit<Effective, 'rules'> & { find: FindRuleset },
  which: Which,
  isExplicit: boolean,
  path: readonly object[],
  outer: unknown,
): Collected {
  const modules = ruleset[modulesMember] ?? outer;
  const functions = new Map<string, OwnFunction>();
  const rules = new Map<string, EffectiveRule>();
  const aliases = new Map<string, unknown>();
  const within = [...path, ruleset];
  for (const [target, mode] of extendsOf(ruleset)) {
    const base = baseOf(target, finding.find);
    if (base === null) finding.missing.add(String(target));
    if (base === null || within.includes(base) || within.length > maxLevels) continue;
    const found = collect(base, finding, mode ?? 'recommended', mode !== null, within, modules);
    for (const [name, fn] of found.functions) functions.set(name, fn);
    for (const [name, alias] of found.aliases) aliases.set(name, alias);
    for (const [name, rule] of found.rules) {
      if (isExplicit) rule.isEnabled = isOn(rule, which);
      rules.set(name, rule);
    }
  }
  for (const [name, alias] of Object.entries(objectOf(ruleset['aliases']))) aliases.set(name, alias);
  for (const [name, reference] of Object.entries(objectOf(ruleset[functionsMember])))
    functions.set(name, { reference: String(reference), modules });
  for (const [name, written] of Object.entries(objectOf(ruleset['rules']))) {
    const inherited = rules.get(name);
    const rule = mergeRule(inherited, name, written, ruleset, { aliases, functions });
    if (rule === null) finding.unknown.add(name);
    if (rule === null) continue;
    if (inherited === undefined || isExplicit) rule.isEnabled = isOn(rule, which);
    rules.set(name, rule);
  }
  return { rules, aliases, functions };
}

function isOn({ isRecommended }: EffectiveRule, which: Which): boolean {
  return which === 'all' || (which === 'recommended' && isRecommended);
}

function mergeRule(
  inherited: EffectiveRule | undefined,
  name: string,
  written: unknown,
  ruleset: Ruleset,
  { aliases, functions }: Pick<EffectiveRule, 'aliases' | 'functions'>,
): EffectiveRule | null {
  if (!isObject(written)) {
    if (inherited === undefined) return null;
    const level = levelOf(written);
    const isEnabled = typeof written === 'boolean' ? written : level !== null;
    return { ...inherited, isEnabled, level: level ?? inherited.level };
  }
  const definition = { ...inherited?.definition, ...written };
  const formats = formatsIn(written) ?? inherited?.formats ?? formatsIn(ruleset);
  const level = written['severity'] === undefined ? (inherited?.level ?? 1) : levelOf(written['severity']);
  const url = written['documentationUrl'] ?? inherited?.documentationUrl ?? null;
  const shared = ruleset['documentationUrl'];
  return {
    name,
    definition,
    isRecommended: written['recommended'] !== false && level !== null && (inherited?.isRecommended ?? true),
    isEnabled: level !== null,
    level: level ?? 1,
    formats,
    documentationUrl:
      typeof url === 'string' ? url : typeof shared === 'string' && shared !== '' ? `${shared}#${name}` : null,
    aliases: inherited === undefined || written['given'] !== undefined ? aliases : inherited.aliases,
    functions: inherited === undefined || written['then'] !== undefined ? functions : inherited.functions,
  };
}

function formatsIn({ formats }: Readonly<JsonObject>): ReadonlySet<string> | null {
  return Array.isArray(formats) ? new Set(formats.map(String)) : null;
}

/**
 * Replaces the aliases in a path expression. A scoped alias has a target for each format; its last
 * target that fits counts. Throws a `SyntaxError` for unknown aliases and those that lead back to
 * themselves.
 */
export function expandAliases(
  expression: string,
  aliases: Aliases,
  formats: ReadonlySet<string> | null,
  within: readonly string[] = [],
): string[] {
  if (!expression.startsWith('#')) return [expression];
  const name = /^#([A-Za-z0-9_-]+)/.exec(expression)?.[1] ?? '';
  if (within.includes(name) || within.length > maxLevels)
    throw new SyntaxError(`the alias #${name} leads back to itself`);
  if (!aliases.has(name)) throw new SyntaxError('it uses an alias that the ruleset does not define');
  const rest = expression.slice(name.length + 1);
  const targets = aliasTargets(aliases.get(name), formats);
  const names: string[] = [];
  for (const target of targets) {
    names.push(...expandAliases(target + rest, aliases, formats, [...within, name]));
    if (names.length > maxTargets) throw new SyntaxError(`the alias #${name} stands for too many expressions`);
  }
  return names;
}

const maxTargets = 500;

function aliasTargets(alias: unknown, formats: ReadonlySet<string> | null): string[] {
  if (!isObject(alias)) return [alias].flat().filter((item) => typeof item === 'string');
  const scoped = listOf(alias['targets']).filter(isObject);
  const fitting =
    formats === null
      ? scoped
      : scoped.filter((target) => [...(formatsIn(target) ?? [])].some((format) => formats.has(format))).slice(-1);
  return fitting.flatMap(({ given }) => [given].flat().filter((item) => typeof item === 'string'));
}

/** A ruleset with what it says for one file. */
export interface Overridden {
  ruleset: Ruleset;
  /** The severity of a rule at a pointer, as written; undefined if nothing is said about it. */
  severityAt(rule: string, pointer: string): unknown;
}

/** Applies the `overrides` of a ruleset that match the path of a document. */
export function withOverrides(ruleset: Ruleset, path: string): Overridden {
  const { overrides, ...base } = ruleset;
  const places: { pointer: string; rules: JsonObject }[] = [];
  let merged: Ruleset = base;
  for (const override of listOf(overrides).filter(isObject)) {
    const { files, ...own } = override;
    let applies = false;
    for (const pattern of listOf(files)) {
      const [glob = '', pointer] = String(pattern).split('#', 2);
      if (!matchesPath(glob, path)) continue;
      if (pointer === undefined) applies = true;
      else if (isObject(own['rules'])) places.push({ pointer, rules: own['rules'] });
    }
    // As if it extended the rest: a severity of a rule that is defined there changes that rule.
    if (applies) merged = { ...own, extends: [merged, ...[own['extends'] ?? []].flat()] };
  }
  return {
    ruleset: merged,
    severityAt(rule, pointer) {
      const matches = places
        .filter((place) => Object.hasOwn(place.rules, rule))
        .filter((place) => pointer === place.pointer || pointer.startsWith(`${place.pointer}/`))
        .sort((a, b) => b.pointer.length - a.pointer.length)[0];
      return matches?.rules[rule];
    },
  };
}

/** Whether a pattern of `files` matches. One without a slash matches the name in any folder. */
function matchesPath(pattern: string, path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return expandBraces(pattern).some((one) => {
    const bare = one.replace(/^\.\//, '');
    if (pathGlobProblem(bare) !== null) return false;
    return createPathGlob(bare)(bare.includes('/') ? path : name) !== null;
  });
}

/** Why a pattern of `files` is not supported, or null. */
export function filesProblem(pattern: string): string | null {
  const [glob = ''] = pattern.split('#', 1);
  if (/[?[\]!()]/.test(glob)) return 'uses "?", "!", brackets or parentheses. Use *, ** and {a,b}';
  for (const one of expandBraces(glob)) {
    const problem = pathGlobProblem(one.replace(/^\.\//, ''));
    if (problem !== null) return problem;
  }
  return null;
}

const maxAlternatives = 50;

/** Writes out `{a,b}`, which is not nested. */
function expandBraces(pattern: string): string[] {
  let patterns = [pattern];
  for (let group = /\{([^{}]*)\}/.exec(patterns[0]!); group !== null; group = /\{([^{}]*)\}/.exec(patterns[0]!)) {
    const [whole, inside = ''] = group;
    patterns = patterns.flatMap((one) => inside.split(',').map((part) => one.replace(whole, () => part)));
    if (patterns.length > maxAlternatives) return patterns.slice(0, maxAlternatives);
  }
  return patterns;
}
