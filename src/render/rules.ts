import { type JsonObject, isObject } from '../model/json.ts';
import { kinds, type RulesetKind } from '../model/kinds.ts';
import { entriesOf, listOf, objectOf, textOf } from './json-value.ts';
import { listLimit } from './openapi/list-operations.ts';
import { httpsUrl } from '../model/escape.ts';
import { valueText } from './schema/example.ts';

/** One rule of a Redocly or Spectral ruleset. */
export interface Rule {
  /** Its name, with a prefix if it applies only to some documents: `oas3_1: no-empty-servers`. */
  name: string;
  severity: 'error' | 'warn' | 'info' | 'hint' | 'off';
  /** Markdown. Empty for a built-in rule. */
  description: string;
  /** As written in the ruleset. */
  definition: unknown;
}

const numbers = ['error', 'warn', 'info', 'hint'] as const;

/**
 * All rules of a ruleset and of those that it contains, in order. `more`: how many were left out.
 */
export function rulesOf(ruleset: JsonObject, kind: RulesetKind): { rules: Rule[]; more: number } {
  const rules = [...collectRules(ruleset, kinds[kind].rules.severity).values()];
  return { rules: rules.slice(0, listLimit), more: Math.max(0, rules.length - listLimit) };
}

/** Whether a member of a ruleset holds rules. */
export function holdsRules(member: string): boolean {
  return /^(?:rules|overrides)$|Rules$/.test(member);
}

function collectRules(ruleset: JsonObject, usual: Rule['severity']): Map<string, Rule> {
  const rules = new Map<string, Rule>();
  for (const [base, which] of basesOf(ruleset)) {
    if (!isObject(base)) continue;
    for (const [name, rule] of collectRules(base, usual))
      rules.set(name, which === 'off' ? { ...rule, severity: 'off' } : rule);
  }
  for (const [scope, map] of mapsOf(ruleset))
    for (const [short, written] of entriesOf(map)) {
      const name = scope === '' ? short : `${scope}: ${short}`;
      const inherited = rules.get(name);
      const definition = inherited === undefined ? written : mergeDefinitions(inherited.definition, written);
      const severity = written === true && inherited !== undefined ? inherited.severity : severityOf(written, usual);
      rules.set(name, { name, severity, description: descriptionOf(definition), definition });
    }
  return rules;
}

/** What a rule that a contained ruleset defines is when another configures it. */
function mergeDefinitions(inherited: unknown, written: unknown): unknown {
  if (!isObject(inherited)) return written;
  if (isObject(written)) return { ...inherited, ...written };
  return typeof written === 'boolean' ? inherited : { ...inherited, severity: written };
}

/** What a ruleset extends: names, and rulesets that it contains, each with the part that is on. */
function basesOf(ruleset: JsonObject): [base: unknown, which: string][] {
  return [ruleset['extends']].flat().map((one: unknown) => {
    // Spectral: `[name, 'all']` says which of its rules are on.
    const [base, which] = Array.isArray(one) ? (one as unknown[]) : [one];
    return [base, textOf(which)];
  });
}

/** The names of what a ruleset extends: of one that it contains, that of its file. */
export function extendedBy(ruleset: JsonObject): string[] {
  return basesOf(ruleset).flatMap(([base, which]) => {
    const name = isObject(base) ? textOf(base['x-stele-file']) : textOf(base);
    return name === '' ? [] : [which === '' ? name : `${name} (${which})`];
  });
}

/** The rules of a ruleset as written, by the documents that they are for; empty for all. */
function mapsOf(ruleset: JsonObject): [scope: string, rules: unknown][] {
  // Redocly: `oas3_1Rules`. Spectral: `overrides`.
  const scoped = Object.keys(ruleset).filter((key) => /^[a-z]+[\d_]*Rules$/.test(key));
  return [
    ['', ruleset['rules']],
    ...scoped.map((key): [string, unknown] => [key.slice(0, -'Rules'.length), ruleset[key]]),
    ...listOf(ruleset['overrides']).map((part): [string, unknown] => {
      const { files, rules } = objectOf(part);
      return [listOf(files).map(textOf).join(', ') || 'override', rules];
    }),
  ];
}

function severityOf(definition: unknown, usual: Rule['severity']): Rule['severity'] {
  const written = isObject(definition) ? definition['severity'] : definition;
  if (typeof written === 'number') return numbers[written] ?? 'off';
  if (written === false) return 'off';
  const severity = ([...numbers, 'off'] as const).find((name) => name === written);
  return severity ?? usual;
}

function descriptionOf(definition: unknown): string {
  const { description, message } = objectOf(definition);
  return textOf(description) || textOf(message);
}

/** The member of a published ruleset that lists what was left out of it, because it was partial. */
export const leftOutMember = 'x-stele-left-out';

/** What was left out of a published ruleset: names of rules and of other members. */
export function leftOutOf(ruleset: Readonly<Record<string, unknown>>): string[] {
  const names = ruleset[leftOutMember];
  return Array.isArray(names) ? names.map(String) : [];
}

/** What a rule applies to and requires, according to the ruleset. */
export interface RuleView {
  /** Markdown; empty if the ruleset has none. */
  description: string;
  /** Whether the ruleset only configures a built-in rule. */
  isBuiltIn: boolean;
  /** Path expressions, or the node types of an assertion. */
  given: string[];
  /** The requirements: a field and a demand on it. */
  asked: { field: string; demand: string }[];
  /** Where the rule is explained: a URL with https, or null. */
  url: string | null;
}

/** Reads a rule of Redocly or Spectral. */
export function viewRule({ name, description, definition }: Rule): RuleView {
  const rule = objectOf(definition);
  const { given, then, subject, assertions, where } = rule;
  const type = objectOf(subject)['type'];
  const properties = [objectOf(subject)['property']].flat().map(textOf).filter(Boolean);
  const conditions = listOf(where).map((one) => textOf(objectOf(objectOf(one)['subject'])['type']));
  return {
    description,
    isBuiltIn:
      !isObject(definition) || (given === undefined && subject === undefined && !/^(?:rule|assert)\//.test(name)),
    given: [...[given].flat().map(textOf), ...conditions, textOf(type)].filter(Boolean).slice(0, 50),
    asked: [
      ...[then].flat().filter(isObject).slice(0, 50).map(demandOf),
      ...entriesOf(assertions).map(([assertion, value]) => ({
        field: properties.join(', '),
        demand: `${assertion}: ${valueText(value)}`,
      })),
    ],
    url: httpsUrl(rule['documentationUrl']),
  };
}

function demandOf(then: Record<string, unknown>): { field: string; demand: string } {
  const options = then['functionOptions'];
  const name = textOf(then['function']);
  return { field: textOf(then['field']), demand: options === undefined ? name : `${name}: ${valueText(options)}` };
}
