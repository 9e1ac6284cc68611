/** The member of a published ruleset that lists what was left out of it, because it was partial. */
export const leftOutMember = 'x-stele-left-out';

/** What was left out of a published ruleset: names of rules and of other members. */
export function leftOutOf(ruleset: Readonly<Record<string, unknown>>): string[] {
  const names = ruleset[leftOutMember];
  return Array.isArray(names) ? names.map(String) : [];
}
