/**
 * Which rule a sandbox applies. Some calls can be neither counted nor interrupted: regular
 * expressions of Redocly's assertions, and JSON Schemas of rulesets. Whoever ends the sandbox in
 * such a call finds the name of the rule in the title of the process.
 */
let setTitle: ((title: string) => void) | null = null;
let calls = 0;

const beginning = 'rule ';
const many = 'rules ';
const longestName = 60;
const often = 256;

/** Lets this process say which rule is at work. For a sandbox, which does one job at a time. */
export function sayRules(set: (title: string) => void): void {
  setTitle = set;
}

/** Says that a rule begins a call that may be long. It takes two microseconds. `sayNoRule` says its end. */
export function sayRule(rule: string): void {
  setTitle?.(beginning + rule.slice(0, longestName));
}

/** Says it now and then, for short calls: where they are too many, it is some rule that makes many. */
export function sayRuleSometimes(rule: string): void {
  if (++calls % often === 0) setTitle?.(many + rule.slice(0, longestName));
}

/** Says that no rule is at work. */
export function sayNoRule(): void {
  setTitle?.('stele');
}

/** The rule that the title of a process names, or null. */
export function ruleIn(title: string): string | null {
  const said = [beginning, many].find((start) => title.startsWith(start));
  if (said === undefined) return null;
  // A sandbox is not trusted.
  const name = title
    .slice(said.length)
    .replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '')
    .trim();
  return name === '' ? null : name;
}

/** Whether the title of a process says that it is inside a call that may be long. */
export function isInCall(title: string): boolean {
  return title.startsWith(beginning);
}
