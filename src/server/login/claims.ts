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

/** An address that goes into a mail as it is: nothing that a header could mean something by. */
const address = /^[A-Za-z0-9._%+'-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

/** The person's address; null if there is none, it is unusual, or the provider says that it was not verified. */
export function readEmail(claims: Readonly<Record<string, unknown>>): string | null {
  const { email, email_verified: isVerified } = claims;
  if (typeof email !== 'string' || email.length > 254 || !address.test(email)) return null;
  return isVerified === false || isVerified === 'false' ? null : email;
}
