import { isObject } from '../../model/json.ts';
import { httpsUrl } from '../../model/escape.ts';
import { valueText } from '../schema/example.ts';
import { entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import type { Rule } from './rules.ts';

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
