import { entriesOf, isObject, listOf, objectOf, textOf, type JsonObject } from '../json-value.ts';
import { listLimit } from '../openapi/list-operations.ts';

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

/** All rules of a ruleset in order. `more`: how many were left out. */
export function rulesOf(ruleset: JsonObject, form: 'redocly' | 'spectral'): { rules: Rule[]; more: number } {
  const maps = form === 'redocly' ? redoclyMaps(ruleset) : spectralMaps(ruleset);
  const rules = maps.flatMap(([scope, map]) =>
    entriesOf(map).map(([name, definition]) => ({
      name: scope === '' ? name : `${scope}: ${name}`,
      severity: severityOf(definition, form),
      description: descriptionOf(definition),
      definition,
    })),
  );
  return { rules: rules.slice(0, listLimit), more: Math.max(0, rules.length - listLimit) };
}

function redoclyMaps(ruleset: JsonObject): [string, unknown][] {
  const scoped = Object.keys(ruleset).filter((key) => /^[a-z]+[\d_]*Rules$/.test(key));
  return [
    ['', ruleset['rules']],
    ...scoped.map((key): [string, unknown] => [key.slice(0, -'Rules'.length), ruleset[key]]),
  ];
}

function spectralMaps(ruleset: JsonObject): [string, unknown][] {
  return [
    ['', ruleset['rules']],
    ...listOf(ruleset['overrides']).map((part): [string, unknown] => {
      const { files, rules } = objectOf(part);
      return [listOf(files).map(textOf).join(', ') || 'override', rules];
    }),
  ];
}

function severityOf(definition: unknown, form: 'redocly' | 'spectral'): Rule['severity'] {
  const written = isObject(definition) ? definition['severity'] : definition;
  if (typeof written === 'number') return numbers[written] ?? 'off';
  if (written === false) return 'off';
  const known = ([...numbers, 'off'] as const).find((name) => name === written);
  return known ?? (form === 'redocly' ? 'error' : 'warn');
}

function descriptionOf(definition: unknown): string {
  const { description, message } = objectOf(definition);
  return textOf(description) || textOf(message);
}
