import { modulesMember } from '../compile/compile.ts';
import type { JsonObject } from '../model/json.ts';
import type { RulesetKind } from '../model/kinds.ts';
import { digestOfValue, textOf } from '../render/json-value.ts';
import { extendedBy, holdsRules, rulesOf } from '../render/ruleset.ts';
import { createTell } from './api/report-part.ts';
import { quote } from './report.ts';
import { createUnit, type Unit } from './walk.ts';

/** Compares two rulesets rule by rule. A stricter check breaks documents that passed. */
export function compareRulesets(before: JsonObject, after: JsonObject, kind: RulesetKind): Unit {
  const root = createUnit();
  const at = { before: null, after: null };
  const tellOf = (name: string) =>
    createTell(root, { code: 'rule', subject: `The rule ${quote(JSON.stringify(name))}`, at });
  const read = (ruleset: JsonObject) => new Map(rulesOf(ruleset, kind).rules.map((rule) => [rule.name, rule]));
  const [old, current] = [read(before), read(after)];
  for (const [name, { severity, definition }] of old) {
    const other = current.get(name);
    const tell = tellOf(name);
    if (other === undefined) tell('safe', 'removed', `was removed; its severity was ${severity}`, severity);
    else if (other.severity !== severity) {
      const isStricter = rank(other.severity) > rank(severity);
      const verdict = isStricter ? (other.severity === 'error' ? 'breaking' : 'risky') : 'safe';
      const says = `has severity ${other.severity} instead of ${severity}`;
      tell(verdict, 'severity-changed', says, severity, other.severity);
    } else if (digestOfValue(other.definition) !== digestOfValue(definition))
      tell('unknown', 'changed', 'is defined in another way; what that means cannot be judged');
  }
  for (const [name, { severity }] of current) {
    if (old.has(name)) continue;
    const verdict = severity === 'error' ? 'breaking' : severity === 'off' ? 'safe' : 'risky';
    tellOf(name)(verdict, 'added', `was added with severity ${severity}`, null, severity);
  }
  for (const key of Object.keys({ ...before, ...after })) {
    if (key === 'version' || key === 'x-version' || holdsRules(key)) continue;
    // Rules of a ruleset that is contained are compared as rules.
    const valueIn = (ruleset: JsonObject) =>
      key === 'extends' ? extendedBy(ruleset).join(', ') || undefined : ruleset[key];
    if (digestOfValue(valueIn(before) ?? null) === digestOfValue(valueIn(after) ?? null)) continue;
    if (key === modulesMember) {
      const tell = createTell(root, { code: 'code', subject: 'The code of its functions', at });
      tell('unknown', 'changed', 'is another; what that means cannot be judged');
      continue;
    }
    const isText = /^(?:x-)?(?:title|description|documentationUrl)$/.test(key) || key.startsWith('x-');
    const [from, to] = [short(valueIn(before)), short(valueIn(after))];
    const tell = createTell(root, { code: isText ? 'text' : 'setting', subject: quote(key), at });
    tell(isText ? 'docs' : 'unknown', 'changed', `is ${to} instead of ${from}`, from, to);
  }
  return root;
}

function rank(severity: string): number {
  return ['off', 'hint', 'info', 'warn', 'error'].indexOf(severity);
}

function short(value: unknown): string {
  return value === undefined ? 'absent' : quote(textOf(value) || JSON.stringify(value));
}
