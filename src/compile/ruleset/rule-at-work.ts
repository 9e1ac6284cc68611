/**
 * Which rule a sandbox applies. Some calls can be neither counted nor interrupted: regular
 * expressions of Redocly's assertions, and JSON Schemas of rulesets. The parent that kills the
 * sandbox in such a call reads the rule's name from the title of the process.
 */
let setTitle: ((title: string) => void) | null = null;
let calls = 0;

const beginning = 'rule ';
const many = 'rules ';
const longestName = 60;
const often = 256;

/** Lets this process report the current rule. For a sandbox, which does one job at a time. */
export function sayRules(set: (title: string) => void): void {
  setTitle = set;
}

/** Says that a rule begins a call that may be long. It takes two microseconds. `clearRule` says its end. */
export function sayRule(rule: string): void {
  setTitle?.(beginning + rule.slice(0, longestName));
}

/** Reports only some of the calls, for short ones: if there are too many, any rule that makes many will do. */
export function sayRuleSometimes(rule: string): void {
  if (++calls % often === 0) setTitle?.(many + rule.slice(0, longestName));
}

/** Says that code of a ruleset begins to run, whose steps are counted. */
export function sayCode(rule: string): void {
  setTitle?.(many + rule.slice(0, longestName));
}

/** Says that no rule is at work. */
export function clearRule(): void {
  setTitle?.('stele');
}

/** The rule that the title of a process names, or null. */
export function ruleIn(title: string): string | null {
  const prefix = [beginning, many].find((start) => title.startsWith(start));
  if (prefix === undefined) return null;
  // A sandbox is not trusted.
  const name = title
    .slice(prefix.length)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim();
  return name === '' ? null : name;
}

/** Whether the title of a process says that it is inside a call that may be long. */
export function isInCall(title: string): boolean {
  return title.startsWith(beginning);
}
