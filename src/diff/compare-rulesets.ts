import { modulesMember } from '../compile/compile.ts';
import type { JsonObject } from '../model/json.ts';
import type { RulesetKind } from '../model/kinds.ts';
import { digestOfValue, textOf } from '../render/json-value.ts';
import { extendedBy, holdsRules, rulesOf } from '../render/rules.ts';
import type { Verdict } from '../model/comparison.ts';
import { addFact, quote } from './report.ts';
import { createUnit, type Unit } from './walk.ts';

/** Compares two rulesets rule by rule. A stricter check breaks documents that passed. */
export function compareRulesets(before: JsonObject, after: JsonObject, kind: RulesetKind): Unit {
  const root = createUnit();
  const add = (
    verdict: Verdict,
    code: string,
    message: string,
    values: [string | null, string | null] = [null, null],
  ) =>
    addFact(root, {
      verdict,
      code,
      message,
      before: values[0],
      after: values[1],
      pointers: { before: null, after: null },
      direction: null,
    });
  const read = (ruleset: JsonObject) => new Map(rulesOf(ruleset, kind).rules.map((rule) => [rule.name, rule]));
  const [old, current] = [read(before), read(after)];
  for (const [name, rule] of old) {
    const other = current.get(name);
    const named = `The rule ${quote(JSON.stringify(name))}`;
    if (other === undefined)
      add('safe', 'rule-removed', `${named} was removed; its severity was ${rule.severity}.`, [rule.severity, null]);
    else if (other.severity !== rule.severity) {
      const isStricter = rank(other.severity) > rank(rule.severity);
      const message = `${named} has severity ${other.severity} instead of ${rule.severity}.`;
      add(isStricter ? (other.severity === 'error' ? 'breaking' : 'risky') : 'safe', 'rule-severity-changed', message, [
        rule.severity,
        other.severity,
      ]);
    } else if (digestOfValue(other.definition) !== digestOfValue(rule.definition))
      add('unknown', 'rule-changed', `${named} is defined in another way; what that means cannot be judged.`);
  }
  for (const [name, { severity }] of current) {
    if (old.has(name)) continue;
    const verdict = severity === 'error' ? 'breaking' : severity === 'off' ? 'safe' : 'risky';
    add(verdict, 'rule-added', `The rule ${quote(JSON.stringify(name))} was added with severity ${severity}.`, [
      null,
      severity,
    ]);
  }
  for (const key of Object.keys({ ...before, ...after })) {
    if (key === 'version' || key === 'x-version' || holdsRules(kind, key)) continue;
    // Rules of a ruleset that is contained are compared as rules.
    const valueIn = (ruleset: JsonObject) =>
      key === 'extends' ? extendedBy(ruleset).join(', ') || undefined : ruleset[key];
    if (digestOfValue(valueIn(before) ?? null) === digestOfValue(valueIn(after) ?? null)) continue;
    const isText = /^(?:x-)?(?:title|description|documentationUrl)$/.test(key) || key.startsWith('x-');
    if (key === modulesMember) {
      add('unknown', 'code-changed', 'The code of its functions is another; what that means cannot be judged.');
      continue;
    }
    const [from, to] = [short(valueIn(before)), short(valueIn(after))];
    add(
      isText ? 'docs' : 'unknown',
      isText ? 'text-changed' : 'setting-changed',
      `${quote(key)} is ${to} instead of ${from}.`,
      [from, to],
    );
  }
  return root;
}

function rank(severity: string): number {
  return ['off', 'hint', 'info', 'warn', 'error'].indexOf(severity);
}

function short(value: unknown): string {
  return value === undefined ? 'absent' : quote(textOf(value) || JSON.stringify(value));
}
