import { isObject } from '../../model/json.ts';
import { leftOutMember } from '../../render/ruleset/left-out.ts';
import type { Problem } from '../../model/problem.ts';
import { parsePointer } from '../text/pointer.ts';

/** With this member a ruleset is published without what is not supported. */
export const partialMember = 'x-stele-partial';

/** The problems of a partial ruleset, and the ruleset without the parts that have them. */
export interface Partial {
  problems: Problem[];
  ruleset: Record<string, unknown>;
}

/**
 * Leaves out the rules, members and bases of a ruleset that have an error, if the ruleset is
 * partial. The errors become warnings.
 */
export function leaveOut(path: string, ruleset: Record<string, unknown>, problems: readonly Problem[]): Partial {
  const leftOut = new Set<string>();
  const dropped = new Set<string>();
  const eased = problems.map((problem): Problem => {
    if (problem.severity !== 'error' || problem.file !== path || !problem.rule.startsWith('ruleset-')) return problem;
    const keys = parsePointer(problem.pointer);
    const [member = '', name] = keys;
    const isNamed = /rules$/i.test(member) || member === 'extends';
    if (member === '' || (isNamed && name === undefined && member !== 'extends')) return problem;
    const isListed = isNamed && name !== undefined;
    leftOut.add(isListed && member !== 'extends' ? name : nameOf(ruleset, member, isListed ? name : undefined));
    dropped.add(isListed ? `${member}/${name}` : member);
    return { ...problem, severity: 'warning', message: `Left out: ${problem.message}` };
  });
  if (dropped.size === 0) return { problems: eased, ruleset };
  const members = Object.entries(ruleset).flatMap(([member, value]): [string, unknown][] => {
    if (dropped.has(member)) return [];
    const isKept = (key: string | number) => !dropped.has(`${member}/${key}`);
    if (Array.isArray(value)) return [[member, value.filter((_, at) => isKept(at))]];
    if (!isObject(value)) return [[member, value]];
    return [[member, Object.fromEntries(Object.entries(value).filter(([key]) => isKept(key)))]];
  });
  return { problems: eased, ruleset: { ...Object.fromEntries(members), [leftOutMember]: [...leftOut].sort() } };
}

/** Names a part other than a rule that is left out: a member, or one ruleset of `extends`. */
function nameOf(ruleset: Record<string, unknown>, member: string, at: string | undefined): string {
  const value = ruleset[member];
  const item: unknown = at !== undefined && Array.isArray(value) ? value[Number(at)] : value;
  const target: unknown = Array.isArray(item) ? item[0] : item;
  return member === 'extends' && typeof target === 'string' ? `extends ${target}` : member;
}
