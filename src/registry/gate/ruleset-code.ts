import { hasCode, type GivenRuleset, type RulesetCode } from '../../compile/compile.ts';
import { parseCoordinate, type Coordinate } from '../../model/address.ts';
import type { Registry } from '../registry.ts';

/**
 * The permission to run the code of rulesets for a document: the operator has allowed it for the organization of each
 * ruleset that has some. `date`: what the code sees as now.
 */
export function codeFor(
  { config }: Pick<Registry, 'config'>,
  { org, type }: Pick<Coordinate, 'org' | 'type'>,
  ruleset: GivenRuleset | null,
  date: string | null,
): { code?: RulesetCode } {
  const isAllowed = (owner: string | undefined) => owner !== undefined && config.rulesets.functions.includes(owner);
  const owners = ruleset === null ? [] : ownersOfCode(ruleset);
  const isNeeded = type === 'rulesets' ? isAllowed(org) || owners.length > 0 : owners.length > 0;
  return isNeeded && owners.every(isAllowed) ? { code: { date } } : {};
}

function ownersOfCode({ name, json, extended = {} }: GivenRuleset): (string | undefined)[] {
  const all = [[name, { json }] as const, ...Object.entries(extended)];
  return all.filter(([, base]) => hasCode(base)).map(([coordinate]) => parseCoordinate(coordinate)?.coordinate.org);
}
