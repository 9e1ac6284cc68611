import { digestOf, hexOf } from '../digest.ts';

/** A person as their last sign-in saw them: the value of a record that expires. */
export interface Person {
  /** As the audit trail names them: `user:{issuer}#{subject}`. */
  actor: string;
  name: string;
  /** Where to send them mail, as the identity provider says. Absent: unknown. */
  email?: string;
  /** Their user name, as the identity provider states it. Absent: it states none. */
  username?: string;
  /** Their groups, as the identity provider names them. */
  groups: string[];
  /** ISO 8601, UTC. */
  signedInAt: string;
}

/** The person's name in names of records: actors have characters that these may not have. */
export function personId(actor: string): string {
  return hexOf(digestOf(actor)).slice(0, 32);
}

/** The name of the record of a person's last sign-in. */
export function personRef(actor: string): string {
  return `people/${personId(actor)}`;
}
