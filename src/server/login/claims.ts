/**
 * Values of the configured claim, which is a string or a list of strings. Ignores other types. Null
 * if the claim is missing.
 */
export function readGroups(claims: Readonly<Record<string, unknown>>, claim: string): string[] | null {
  if (!Object.hasOwn(claims, claim)) return null;
  const value = claims[claim];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return [...new Set(values.filter((group) => typeof group === 'string'))];
}
