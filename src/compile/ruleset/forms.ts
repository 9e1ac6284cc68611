import { isObject } from '../../model/json.ts';
import type { RulesetKind } from '../../model/kinds.ts';
import type { RulesetForm } from './form.ts';
import { isRulesetCoordinate, maxLevels, type FindRuleset } from './ruleset-files.ts';
import { redocly } from './ruleset-redocly.ts';
import { spectral } from './ruleset-spectral.ts';

/** The forms of rulesets, in the order in which they are asked. The last one is that of a ruleset that does not tell. */
export const forms: Readonly<Record<RulesetKind, RulesetForm>> = {
  'spectral-ruleset': spectral,
  'redocly-ruleset': redocly,
};

const all = Object.keys(forms) as RulesetKind[];
const usual = all.at(-1)!;

/** The kind of a ruleset by its form: its content or file name says it, or else what it extends. */
export function formOf(value: unknown, path = '', find: FindRuleset = () => null, depth = 0): RulesetKind {
  if (!isObject(value)) return usual;
  const sure = all.find((kind) => forms[kind].isSurely(value, path));
  if (sure !== undefined) return sure;
  // Of a ruleset that only extends others, they decide. Until the registry resolves them, checks of names wait.
  const names = [value['extends']].flat(2);
  const bases = names.map((name: unknown) =>
    typeof name === 'string' ? (depth < maxLevels ? find(name) : null) : isObject(name) ? name : null,
  );
  const known = bases.flatMap((base) => (base === null ? [] : [formOf(base, '', find, depth + 1)]));
  const isOpen = known.length === 0 && names.some(isRulesetCoordinate);
  return known.find((kind) => kind !== usual) ?? all.find((kind) => forms[kind].isLikely(value, isOpen)) ?? usual;
}
